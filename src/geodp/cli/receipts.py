"""geodp verify and geodp report: what can be done with a receipt alone."""

from __future__ import annotations

from typing import Any

import click

from geodp.cli import options
from geodp.cli.output import Output, check_writable
from geodp.cli.program import CHECK_FAILED, EXIT_CODES
from geodp.errors import InputError
from geodp.io import read_written
from geodp.io.receipts import is_inference, receipt_of
from geodp.ledger.receipt import Release
from geodp.verbs.verify_document import verify_document


@click.command(epilog=EXIT_CODES, short_help="Recompute what a receipt says.")
@click.argument("receipt")
@options.json_option
@click.pass_context
def verify(ctx: click.Context, receipt: str, quiet: bool) -> None:
    """Recompute everything on RECEIPT (- for standard input) that follows from public facts: a
    receipt, or the document that infer printed, with all its parts and their sum."""
    output = Output(quiet)
    document = read_written(receipt)
    try:
        checks = verify_document(document)
    except (AttributeError, AssertionError, LookupError, OverflowError) as error:  # of a wrong kind
        raise InputError("The receipt has a field of the wrong kind.") from error
    passed = all(check.passed for check in checks)
    output.document({"passed": passed, "checks": [vars(check) for check in checks]})
    output.prose("\n".join(map(repr, checks)))
    if not passed:
        ctx.exit(CHECK_FAILED)


@click.command(epilog=EXIT_CODES, short_help="Write a page about receipts.")
@click.argument("receipts", nargs=-1, required=True, metavar="RECEIPT...")
@click.option("--out", required=True, metavar="PAGE", help="The HTML page to write.")
@click.option(
    "--smooth",
    type=float,
    metavar="B",
    help="Planar shapes: draw the outline smoothed at this bandwidth too, a part of the outline.",
)
@click.option(
    "--scalar",
    "scalars",
    multiple=True,
    metavar="NAME",
    help="A document of infer: the interval of this function of the mean too (may be repeated): "
    "mean-diffusivity, fractional-anisotropy, angle-to:X,Y,Z.",
)
@options.json_option
def report(
    receipts: tuple[str, ...],
    out: str,
    smooth: float | None,
    scalars: tuple[str, ...],
    quiet: bool,
) -> None:
    """Write one self-contained HTML page with the picture and the text of each RECEIPT.

    Of the document that infer printed: the regions of all groups in one picture, intervals, the
    test of equal means, the differences of the groups, and every receipt.
    """
    output = Output(quiet)
    check_writable(out, *receipts)
    documents = [(name, read_written(name)) for name in receipts]
    try:
        if any(is_inference(document) for _, document in documents):
            count = _inference_page([one for _, one in documents], out, smooth, scalars)
        else:
            count = _page([receipt_of(one, name) for name, one in documents], out, smooth, scalars)
    except ImportError as error:
        raise InputError("Reports need matplotlib: pip install 'geodp[plot]'.") from error
    except OSError as error:
        raise InputError(f"The page could not be written to {out!r}.") from error
    output.document({"report": out, "receipts": count})
    output.prose(f"Wrote {out}.")


def _page(releases: list[Release], out: str, smooth: float | None, scalars: tuple[str, ...]) -> int:
    if scalars:
        raise InputError("--scalar belongs to a document of infer, which has the region it needs.")
    from geodp.report import report as write_report

    write_report(releases, out, smooth=smooth)
    return len(releases)


def _inference_page(
    documents: list[Any], out: str, smooth: float | None, scalars: tuple[str, ...]
) -> int:
    if len(documents) > 1:
        raise InputError("What infer wrote makes a page by itself: name no other RECEIPT.")
    if smooth is not None:
        raise InputError("--smooth belongs to receipts; leave it out for a document of infer.")
    from geodp.report.inference import document_report

    return document_report(documents[0], out, scalars)
