"""The command line: the library's verbs, JSON on stdout, prose on stderr."""

from __future__ import annotations

import click

from geodp.cli.auditing import audit
from geodp.cli.completion import offer
from geodp.cli.converting import convert
from geodp.cli.inferring import infer
from geodp.cli.inspection import inspect
from geodp.cli.ledgers import ledger
from geodp.cli.planning import calibrate, plan
from geodp.cli.program import EXIT_CODES, Program
from geodp.cli.receipts import report, verify
from geodp.cli.releasing import release
from geodp.cli.serving import serve

__all__ = ["main"]


@click.group("geodp", cls=Program, epilog=EXIT_CODES)
@click.version_option(package_name="geodp", prog_name="geodp")
def main() -> None:
    """Release differentially private statistics of data on curved spaces.

    Each command prints one JSON document on stdout and prose on stderr (--json silences the prose).
    A file named - is standard input. plan and calibrate read no data; inspect is for the curator's
    eyes; release, infer and the page of serve spend privacy, and nothing else does.
    """


for command in (
    *(inspect, convert, plan, calibrate, release, infer),
    *(verify, report, audit, ledger, serve),
):
    main.add_command(command)
offer(main)
