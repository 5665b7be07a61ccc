"""geodp serve: the page in the browser."""

from __future__ import annotations

import click

import geodp as gd
from geodp.cli.program import EXIT_CODES
from geodp.web import server

_PORT = 8617


@click.command(epilog=EXIT_CODES, short_help="The page in the browser.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    metavar="N",
    help=f"The port on 127.0.0.1 (default {_PORT}); 0 takes a free one.",
)
@click.option("--ledger", metavar="L", help="The ledger that forms start with.")
@click.option("--no-browser", "quiet", is_flag=True, help="Only print the address.")
def serve(port: int, ledger: str | None, quiet: bool) -> None:
    """Plan, release, see the ledger and check receipts in a browser on this machine.

    The first line printed is the page's address, with the token that opens it: who has it can
    spend. Nobody outside this machine is answered, and nothing is fetched from elsewhere. Ctrl-C
    ends it.
    """
    if ledger is not None:
        _ = gd.Ledger(ledger).facts  # a ledger that cannot be read is found out here

    def announce(url: str) -> None:
        click.echo(url)
        if not quiet:
            click.launch(url)

    server.serve(port, ledger or "", announce)
