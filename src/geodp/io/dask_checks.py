"""What may go wrong on a cluster, in sentences that show no record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from geodp.errors import GeodpError, InputError

_PROBE = (
    "(__import__('geodp').__name__, __import__('importlib.metadata').metadata.version('geodp'), "
    "__import__('numpy').__version__)"
)


@contextmanager
def failures(then: str = "") -> Iterator[None]:
    """One sentence for whatever a task raises: its own message may show records."""
    try:
        yield
    except GeodpError:
        raise
    except Exception as error:
        raise InputError(
            f"A chunk of the Dask records cannot be computed ({type(error).__name__}): its file, "
            f"or what makes it, is broken, or its workers died time and again.{then}"
        ) from None


def check_workers() -> None:
    """Every worker of the client, if there is one, runs the same geodp and numpy as we do."""
    try:
        from distributed import get_client

        client = get_client()
    except (ImportError, ValueError):
        return
    try:
        found = set(client.run(eval, _PROBE).values())
    except Exception as error:
        raise InputError(
            f"A worker of the cluster cannot import geodp ({type(error).__name__}): install the "
            "same version on every worker. Nothing was spent."
        ) from None
    if found - {eval(_PROBE)}:
        raise InputError(
            "A worker of the cluster has another version of geodp or numpy than this process, and "
            "results would differ: install the same on every worker. Nothing was spent."
        )
