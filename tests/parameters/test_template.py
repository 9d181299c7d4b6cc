"""Templates load as they are, say what every field means, and never replace a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import twin
from twin.errors import InputError
from twin.parameters.describe import describe
from twin.parameters.template import LEG_KINDS, template, write_template


@pytest.mark.parametrize("legs", LEG_KINDS)
def test_template_is_a_machine_that_runs(legs: str, tmp_path: Path) -> None:
    platform = twin.load(write_template(tmp_path / "my_platform.toml", legs))
    assert platform.name == "my_platform"
    rest = np.zeros(6)
    forces = platform.inverse_dynamics(platform.home, rest, rest)
    held = platform.simulate(0.01, forces=forces)
    # Held at home; the rest is rounding of the forces.
    np.testing.assert_allclose(held.pose[-1], platform.home, rtol=0, atol=1e-12)


@pytest.mark.parametrize("legs", LEG_KINDS)
def test_template_names_every_field(legs: str, tmp_path: Path) -> None:
    text = template("my_platform", legs)
    platform = twin.load(write_template(tmp_path / "my_platform.toml", legs))
    names = {row.name for row in describe(platform.parameters)}
    assert names
    missing = {name for name in names if name not in text}
    assert not missing


def test_existing_files_stay(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("precious")
    with pytest.raises(InputError, match="exists"):
        write_template(path)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("name", ["My Platform.toml", "1st.toml", "ä.toml", ".toml"])
def test_names_are_plain(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name"):
        write_template(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_unknown_legs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ups"):
        write_template(tmp_path / "mine.toml", "wheels")
