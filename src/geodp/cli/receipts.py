"""geodp verify and geodp report: what can be done with a receipt alone."""

from __future__ import annotations

import click

from geodp.cli import options
from geodp.cli.output import Output, check_writable
from geodp.cli.program import CHECK_FAILED, EXIT_CODES
from geodp.errors import InputError
from geodp.io import read_receipt, read_written
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
@options.json_option
def report(receipts: tuple[str, ...], out: str, smooth: float | None, quiet: bool) -> None:
    """Write one self-contained HTML page with the picture and the text of each RECEIPT."""
    output = Output(quiet)
    check_writable(out, *receipts)
    releases = [read_receipt(receipt) for receipt in receipts]
    try:
        from geodp.report import report as write_report

        write_report(releases, out, smooth=smooth)
    except ImportError as error:
        raise InputError("Reports need matplotlib: pip install 'geodp[plot]'.") from error
    except OSError as error:
        raise InputError(f"The page could not be written to {out!r}.") from error
    output.document({"report": out, "receipts": len(releases)})
    output.prose(f"Wrote {out}.")
