"""Files in: records and points from .npy, .npz, CSV, TPS and standard input."""

from geodp.io.declared import layout_for
from geodp.io.inspection import inspect_records
from geodp.io.layout import Layout
from geodp.io.receipts import read_receipt
from geodp.io.records import read_point, read_records
from geodp.io.tps import Specimen, read_tps, write_tps

__all__ = [
    "Layout",
    "Specimen",
    "inspect_records",
    "layout_for",
    "read_point",
    "read_receipt",
    "read_records",
    "read_tps",
    "write_tps",
]
