"""The object a user holds: what it says of itself, and that it travels between processes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import twin
from twin.errors import InputError
from twin.platform import Platform


def test_tells_what_it_is(platform: Platform) -> None:
    assert platform.name in repr(platform)
    assert platform.n_actuators == 6
    assert platform.dof == 6
    assert platform.home.shape == (7,)
    assert platform.within_limits(platform.home)
    assert np.linalg.norm(platform.home[3:]) == pytest.approx(1.0, abs=1e-15)  # rounding


def test_pickles(platform: Platform, states: Any) -> None:
    again = pickle.loads(pickle.dumps(platform))
    assert again.hash == platform.hash
    arguments = (states.pose, states.twist, states.forces)
    np.testing.assert_array_equal(
        again.forward_dynamics(*arguments), platform.forward_dynamics(*arguments)
    )


def test_loads_by_name_and_by_path(tmp_path: Any) -> None:
    from twin.catalogue import parameters_path

    for name in twin.machine_names():
        file = tmp_path / f"{name}.toml"
        file.write_bytes(parameters_path(name).read_bytes())
        assert twin.load(file).hash == twin.load(str(file)).hash == twin.load(name).hash
        assert twin.load(name).name == name


def test_needs_checked_parameters(stewart: Platform) -> None:
    for thing in (None, "stewart", stewart.parameters.model_dump()):
        with pytest.raises(InputError, match="parameters"):
            Platform(thing)  # type: ignore[arg-type]


def test_limits_are_those_of_the_design(stewart: Platform) -> None:
    """Retracted at 0.740 m, stroke 0.230 m, home at mid-stroke (0.8716 m)."""
    stroke = stewart.maximum_lengths - stewart.minimum_lengths
    np.testing.assert_allclose(stroke, 0.230, rtol=0, atol=1e-15)
    middle = (stewart.maximum_lengths + stewart.minimum_lengths) / 2
    # The height is given with four decimals.
    np.testing.assert_allclose(stewart.home_lengths, middle, rtol=0, atol=5e-5)
