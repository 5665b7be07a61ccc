"""geodp infer: mean, confidence region and variance under one promise."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click

import geodp as gd
from geodp.cli import build, grouping, options, reading
from geodp.cli.asking_inference import asked_inference
from geodp.cli.output import Output, check_writable
from geodp.cli.program import EXIT_CODES
from geodp.cli.progress import progress_option, shown
from geodp.errors import InputError
from geodp.inference.equality import Verdict


@click.command(epilog=EXIT_CODES, short_help="Release a mean with its confidence region.")
@click.argument("files", nargs=-1, required=True, metavar="[SPEC] FILE...")
@options.spec_or_space_option
@options.file_options
@options.ball_options
@options.guarantee_options
@click.option("--confidence", type=float, metavar="P", help="Default: 0.95.")
@click.option(
    "--spread", type=float, metavar="S", help="Cut tangent vectors at this public length."
)
@options.replaced_option
@click.option(
    "--by",
    metavar="FILE|COLUMN",
    help="The public label of each record, in a file or a column as for --entities: one inference "
    "for each label, in parallel, and a test of equal means.",
)
@click.option("--by-name", default="group", metavar="NAME", help="What the labels are: site, sex.")
@click.option(
    "--public-labels",
    is_flag=True,
    help="Declares that labels and group sizes may be published; needed for --by.",
)
@click.option(
    "--unit", callback=options.writable_text, metavar="TEXT", help="What one record is: person."
)
@grouping.entities_option
@click.option("--seed", type=click.IntRange(min=0), help="Simulate with this seed: NOT PRIVATE.")
@click.option("--out", metavar="PATH", help="Save the JSON document here too.")
@options.ledger_options
@click.option(
    "--request-id",
    callback=options.writable_text,
    metavar="ID",
    help="A text for this request alone: a retry with it returns the stored releases.",
)
@progress_option
@options.json_option
def infer(files: tuple[str, ...], quiet: bool, **given: Any) -> None:
    """Release the Fréchet mean of the records in FILE with its confidence region, the variance
    with its interval, and the share of records that the public rule replaced.

    The guarantee covers all of it together. The document with every receipt is printed as JSON.

    SPEC is a JSON file as for geodp release, with {"infer": {"confidence": 0.95}} in its request.
    """
    output = Output(quiet)
    ledger = build.ledger(given)
    request = asked_inference(files, given)
    given, domain = dict(request.given), request.domain
    reading.check_unit(request.files, request.given, request.unit or (ledger and ledger.unit))
    check_writable(given["out"], *request.files, given["center"], given["by"])
    found, ids, labels = grouping.read_labelled(request.files, given, request.layout)
    records = domain.accept(found)
    groups = request.entities(ids, len(records))
    with warnings.catch_warnings(), shown(quiet, given["progress"]) as hook:
        warnings.simplefilter("ignore")  # a warning could depend on a record
        inferred: Any = gd.infer(
            records,
            domain,
            request.promise,
            replaced=given["replaced"],
            **request.how,
            by=labels,
            by_name=given["by_name"],
            by_public=given["public_labels"],
            unit=request.unit,
            entities=groups,
            ledger=ledger,
            dataset=given["dataset"],
            group=given["group"],
            request_id=given["request_id"],
            rng=_generator(given["seed"]),
            progress=hook,
        )
    document = inferred.to_json()
    try:
        if given["out"] is not None:
            _save(document, given["out"])
    finally:  # what was spent is shown, come what may
        output.document(document)
        output.prose(repr(inferred))
        if document.get("equal_means") is not None:
            output.prose(repr(Verdict(**document["equal_means"])))


def _generator(seed: int | None) -> Any:
    if seed is None:
        return None
    import numpy as np

    return np.random.default_rng(seed)


def _save(document: dict[str, Any], path: str) -> None:
    try:
        text = json.dumps(document, indent=2, ensure_ascii=False)
        Path(path).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"The document could not be written to {path!r}; it is on standard output."
        ) from error
