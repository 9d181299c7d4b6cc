"""Massless legs in the engines: the least mass, said once, and motions as in the reference."""

import warnings

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within, max_abs
from unsymmetric import content_without_symmetry

from twin.analysis.platform import Platform
from twin.engines import make_engine
from twin.engines.export import export
from twin.engines.mechanism import MIN_MASS_FRACTION, least_mass, make_mechanism
from twin.engines.projection import projection
from twin.errors import TwinWarning
from twin.machine.file.read import parameters_from

pytestmark = pytest.mark.quick

TOLERANCES = {"mujoco": 1e-8, "bullet": 1e-8}
"""[m], [rad] after 0.05 s; measured 2e-9 and less. Loops that yield to light legs leave metres."""


def with_parts(housing, rod, platform=97.0):
    """Return a machine with masses [kg] of housings, rods and platform."""
    content = content_without_symmetry("ups")
    for name, mass in (("housing", housing), ("rod", rod)):
        content["leg"][name] = {"source": "Test", "kind": "rigid", "mass": mass}
        content["leg"][name] |= {"inertia": [0.1 * mass] * 3} if mass else {}
    body = content["platform"]["body"]
    share = platform / body["mass"]
    body |= {"mass": platform, "inertia": (share * np.array(body["inertia"])).tolist()}
    return Platform(parameters_from(content, "platform.toml"))


def test_only_what_moves_no_mass_gets_the_least():
    """A massless housing that carries a rod moves the rod's mass, and stays without its own."""
    for housing, rod, light in ((0.0, 0.0, 12), (1.0, 0.0, 6), (0.0, 1.0, 0), (1.0, 1.0, 0)):
        platform = with_parts(housing, rod)
        least = least_mass(platform.parameters)
        assert least == pytest.approx(MIN_MASS_FRACTION * (97.0 + 6.0 * (housing + rod)), rel=1e-12)
        bodies = make_mechanism(platform.parameters).bodies
        assert sum(body.mass.mass == least for body in bodies) == light


@pytest.mark.parametrize("engine", TOLERANCES)
@pytest.mark.parametrize(
    "parts",
    [
        (0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1e-6, 1e-6), (1e-13, 1.0),
        (20.0, 10.0, 1e-3), (20.0, 10.0, 1e-6),
    ],
)  # fmt: skip
def test_engines_move_light_legs_and_platforms_as_the_reference_does(engine, parts):
    pytest.importorskip("pybullet" if engine == "bullet" else "mujoco")
    platform = with_parts(*parts)
    still = np.zeros(6)
    forces = platform.inverse_dynamics(platform.home, still, still) + 20.0 * np.cos(np.arange(6))
    options = {"forces": forces, "timestep": 1e-3, "progress": False}
    reference = platform.simulate(0.05, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TwinWarning)
        found = platform.simulate(0.05, engine=engine, **options)
    assert max_abs(reference.pose - platform.home) > 1e-5
    assert_within(found.pose, reference.pose, TOLERANCES[engine])


@pytest.mark.parametrize("engine", TOLERANCES)
def test_the_least_mass_is_said_once(engine):
    pytest.importorskip("pybullet" if engine == "bullet" else "mujoco")
    with pytest.warns(TwinWarning, match=r"leg_1_housing.*have 9.7e-11 kg each") as said:
        make_engine(engine, with_parts(0.0, 0.0)).close()
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_engine(engine, with_parts(1.0, 1.0)).close()


@pytest.mark.parametrize("form", ["mjcf", "urdf"])
def test_exported_files_say_the_least_mass(form, tmp_path):
    with pytest.warns(TwinWarning, match="have 9.7e-11 kg each"):
        export(with_parts(0.0, 0.0), form, tmp_path)


@pytest.mark.parametrize("engine", TOLERANCES)
def test_a_platform_too_light_for_an_engine_is_refused_before_the_run(engine):
    pytest.importorskip("pybullet" if engine == "bullet" else "mujoco")
    make_engine(engine, with_parts(10.0, 10.0, 1e-9)).close()
    with refused(r"platform.body.mass: 1e-11 kg is 8.3e-14 of the mass"):
        make_engine(engine, with_parts(10.0, 10.0, 1e-11))


@pytest.mark.parametrize("size", [1.0, 4e3])
def test_bullet_takes_tensors_of_any_size_and_direction(size):
    """Its tree refuses tensors whose rounding is above 1e-15 kg m2, unless masses are scaled."""
    pytest.importorskip("pybullet")
    platform = with_parts(size, size, 97.0 * size)
    generator = np.random.default_rng(5)
    for _ in range(10):
        motion = platform.constrain(platform.home, *(0.3 * generator.normal(size=(2, 6))))
        expected = platform.inverse_dynamics(*motion)
        found = projection("bullet", platform, *motion).forces
        assert_within(found, expected, 1e-12 * max_abs(expected))
