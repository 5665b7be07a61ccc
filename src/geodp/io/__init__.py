"""Files in and out: .npy, .npz, CSV, TPS, NIfTI, Parquet, Dask arrays and standard input."""

from geodp.io.dask_records import DaskRecords
from geodp.io.declared import layout_for
from geodp.io.grouped import read_grouped
from geodp.io.inspection import inspect_records
from geodp.io.layout import Layout
from geodp.io.linear_map import LinearMap
from geodp.io.medmnist import LabelledImages, covariance_descriptors, read_medmnist
from geodp.io.nifti import Grid
from geodp.io.parquet import ParquetRecords, write_parquet
from geodp.io.places import Places, places_of
from geodp.io.receipts import read_receipt, read_written
from geodp.io.records import read_point, read_records
from geodp.io.spec import Spec, read_spec
from geodp.io.spelled import points_of
from geodp.io.stack import Tensors, read_subjects, read_voxels, write_tensors
from geodp.io.tps import Specimen, read_tps, write_tps

__all__ = [
    "DaskRecords",
    "Grid",
    "LabelledImages",
    "Layout",
    "LinearMap",
    "ParquetRecords",
    "Places",
    "Spec",
    "Specimen",
    "Tensors",
    "covariance_descriptors",
    "inspect_records",
    "layout_for",
    "places_of",
    "points_of",
    "read_grouped",
    "read_medmnist",
    "read_point",
    "read_receipt",
    "read_records",
    "read_spec",
    "read_subjects",
    "read_tps",
    "read_voxels",
    "read_written",
    "write_parquet",
    "write_tensors",
    "write_tps",
]
