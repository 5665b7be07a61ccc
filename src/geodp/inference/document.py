"""From the document that infer wrote back to what it returned."""

from __future__ import annotations

from collections.abc import Mapping

from geodp.errors import InputError
from geodp.inference.groups import SCHEMA, Groups, group_name
from geodp.inference.result import Inference


def inference_of(document: object) -> Inference | Groups:
    """The inference or the groups of a document, from its receipts; ``gd.verify`` says more.

    Raises
    ------
    InputError : it is neither, or a field of it is of the wrong kind.

    Examples
    --------
    >>> import numpy as np, geodp as gd
    >>> ball = gd.Ball(gd.Euclidean(1), [0.0], 1.0)
    >>> out = gd.infer(np.linspace(-0.5, 0.5, 100)[:, None], ball, gd.GaussianDP(2))
    >>> inference_of(out.to_json()).region.confidence
    0.95
    """
    if not isinstance(document, Mapping):
        raise InputError("This is no document of infer.")
    if document.get("schema") != SCHEMA:
        return Inference.from_json(document)
    groups = document.get("groups")
    if not isinstance(groups, Mapping) or not groups:
        raise InputError("The document has no groups.")
    found = {str(label): Inference.from_json(one) for label, one in groups.items()}
    return Groups(group_name(document.get("by")), found)
