"""Inverse dynamics of the engines' open trees, projected, against the analytic ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from twin.engines.projection import TREES, OpenTree, project, projected_forces
from twin.errors import InputError, SingularPoseError
from twin.parameters import MachineParameters
from twin.platform import Platform

BAR = 1e-9
"""Relative; the project's bar. 5e-15 measured."""


@pytest.fixture(params=TREES)
def engine(request: pytest.FixtureRequest) -> str:
    """Return every engine with an open tree, where its library is installed."""
    pytest.importorskip({"bullet": "pybullet"}.get(request.param, request.param))
    return str(request.param)


@pytest.mark.parametrize("seed", range(10))
def test_projection_equals_inverse_dynamics(
    engine: str, platform: Platform, random_motion: Any, seed: int
) -> None:
    motion = random_motion(platform, seed)
    wanted = platform.inverse_dynamics(*motion)
    found = projected_forces(engine, platform, *motion)
    assert np.abs(found - wanted).max() < BAR * np.abs(wanted).max()


@pytest.mark.parametrize(
    ("table", "field"), [("platform", "mass"), ("leg", "mass"), ("leg", "center_of_mass")]
)
def test_projection_notices_small_differences(
    engine: str, stewart: Platform, random_motion: Any, table: str, field: str
) -> None:
    content = stewart.parameters.model_dump()
    body = content["platform"]["body"] if table == "platform" else content["leg"]["rod"]
    body[field] = np.multiply(body[field], 1.0 + 1e-6).tolist()
    other = Platform(MachineParameters.model_validate(content))
    motion = random_motion(stewart, 0)
    wanted = stewart.inverse_dynamics(*motion)
    found = projected_forces(engine, other, *motion)
    assert np.abs(found - wanted).max() > 10 * BAR * np.abs(wanted).max()


def test_platform_without_legs_mass_needs_its_own_wrench() -> None:
    tree = OpenTree(
        platform_wrench=np.arange(1.0, 7.0),
        leg_torques=np.zeros((6, 3)),
        platform_jacobians=np.random.default_rng(0).normal(size=(6, 3, 6)),
        leg_jacobians=np.stack([np.eye(3)] * 6),
    )
    rows = tree.platform_jacobians[:, 2]
    np.testing.assert_allclose(rows.T @ project(tree), tree.platform_wrench, rtol=0, atol=1e-14)


def test_singular_legs_are_an_error() -> None:
    tree = OpenTree(np.ones(6), np.zeros((6, 3)), np.zeros((6, 3, 6)), np.zeros((6, 3, 3)))
    with pytest.raises(SingularPoseError):
        project(tree)


@pytest.mark.parametrize("name", ["analytic", "", None, 3])
def test_unknown_engine_is_refused(stewart: Platform, name: Any) -> None:
    with pytest.raises(InputError, match="engine"):
        projected_forces(name, stewart, stewart.home, np.zeros(6), np.zeros(6))


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("bad", ["x", np.zeros(5), np.full(7, np.nan), np.zeros((2, 7))])
def test_bad_motions_are_refused(stewart: Platform, place: int, bad: Any) -> None:
    motion: list[Any] = [stewart.home, np.zeros(6), np.zeros(6)]
    motion[place] = bad
    with pytest.raises(InputError):
        projected_forces("mujoco", stewart, *motion)
