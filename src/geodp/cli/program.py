"""The program around the commands: every ending has an exit code and no traceback."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import click

from geodp.errors import GeodpError, LedgerRefusal

DONE, CHECK_FAILED, BAD_INPUT, REFUSED = 0, 1, 2, 3
BUG, INTERRUPTED, PIPE_CLOSED = 70, 130, 141

EXIT_CODES = (
    "Exit codes: 0 done, 1 a check failed, 2 bad input or refused, 3 the ledger refuses, "
    "130 interrupted."
)


class Program(click.Group):
    """A group of commands whose errors are one sentence on stderr."""

    def main(self, *args: Any, **extra: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:  # an ASCII terminal shows é as an escape
                reconfigure(errors="backslashreplace")
        return super().main(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            super().invoke(ctx)
            code = DONE
        except LedgerRefusal as error:
            _say(str(error))
            code = REFUSED
        except GeodpError as error:
            _say(str(error))
            code = BAD_INPUT
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (KeyboardInterrupt, click.Abort):
            _say("Interrupted.")
            code = INTERRUPTED
        except BrokenPipeError:
            _close_stdout()
            code = PIPE_CLOSED
        except OSError as error:
            _say(f"Reading or writing failed: {error.strerror}.")
            code = BAD_INPUT
        except MemoryError:
            _say("There is not enough memory for this.")
            code = BAD_INPUT
        except Exception as error:
            if "GEODP_TRACEBACK" in os.environ:
                raise
            # The message may hold a record's value: it is not shown.
            _say(
                f"Unexpected {type(error).__name__}: this is a bug in geodp. Set GEODP_TRACEBACK=1 "
                "to see where; a traceback may show data."
            )
            code = BUG
        return ctx.exit(code)


def _say(sentence: str) -> None:
    with suppress(OSError):  # a stderr that cannot be written leaves the exit code to speak
        click.echo(f"Error: {sentence}", err=True)


def _close_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not fail again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # a stdout without a file
        return
