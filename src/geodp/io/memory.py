"""How much memory there is, so that a file's size, or what it claims, is refused unread."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

_GROUP = Path("/sys/fs/cgroup/memory.max")  # of a container, in Linux


def memory() -> float:
    """Bytes that this process may take: what the machine and its container hold, and what is left
    of the process's own limit, the least of them; infinite where none is known."""
    known = [math.inf]
    with suppress(AttributeError, ValueError, OSError):
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ValueError, OSError):  # "max" is no number
        known.append(int(_GROUP.read_text(encoding="ascii")))
    with suppress(ImportError, ValueError, OSError):  # there is no such module in Windows
        import resource

        own, _ = resource.getrlimit(resource.RLIMIT_AS)
        if own != resource.RLIM_INFINITY:
            known.append(max(own - _taken(), 0))
    return float(min(known))


def _taken() -> int:
    """Bytes of address space in use, 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
