"""Files in: records and points from .npy, .npz, CSV and standard input."""

from geodp.io.inspection import inspect_records
from geodp.io.layout import Layout, layout_for
from geodp.io.receipts import read_receipt
from geodp.io.records import read_point, read_records

__all__ = [
    "Layout",
    "inspect_records",
    "layout_for",
    "read_point",
    "read_receipt",
    "read_records",
]
