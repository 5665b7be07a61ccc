"""Compiled passes over many records. Imported where one is needed, since numba loads slowly.

A pass takes the logarithms of records at a point and adds them on the integer lattice, without a
temporary array. Below ``MANY`` records numpy does the same work sooner than a kernel is loaded.
"""

MANY = 10_000  # records; public, like the number of records itself
BLOCK_FLOATS = 2**18  # of a block of records: 2 MiB, about a millisecond of work
