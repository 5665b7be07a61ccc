"""All pictures, imported so that they register themselves."""

from geodp.plots import ellipses, euclidean, globe, matrix, poincare, shapes

__all__ = ["ellipses", "euclidean", "globe", "matrix", "poincare", "shapes"]
