"""Coverage of confidence regions and intervals: the command. What it runs is in covering.py."""

from __future__ import annotations

if __name__ != "__main__":  # numba asks for the package of this name, which these scripts hide
    raise ImportError("This is a script; the study is in covering.py.")

from covering import main

main()
