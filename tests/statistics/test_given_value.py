"""A value computed elsewhere: what is no point is refused without a word of what it holds."""

import numpy as np
import pytest

import geodp as gd
from geodp.errors import InputError


@pytest.mark.parametrize(
    "value", [["secret", 0, 1], [["secret"], 0, 1], np.array([b"secret"]), [np.nan, 0, 1], [0, 1]]
)
def test_what_is_no_point_is_refused_and_not_shown(value: object) -> None:
    with pytest.raises(InputError) as caught:
        gd.GivenValue(gd.Sphere(2), value, 0.1)
    assert "secret" not in str(caught.value)


def test_a_missing_value_is_not_called_public() -> None:
    with pytest.raises(InputError, match=r"^The given value is missing\.$"):
        gd.GivenValue(gd.Sphere(2), None, 0.1)
