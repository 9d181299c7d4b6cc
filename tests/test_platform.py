"""The object a user holds: what it says of itself, and that it travels between processes."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import assert_all_refused, refused
from tolerance import assert_within

import twin
from twin.analysis.payload.body import Payload
from twin.analysis.payload.static import static_payload
from twin.analysis.platform import Platform
from twin.control.linear import linearise
from twin.machine.payload import Occupant

pytestmark = pytest.mark.quick

KINDS = {
    "driving_simulator": ("pillar", 4, 3, 0, "m"),
    "stewart": ("ups", 6, 6, 0, "m"),
    "compliant_stewart": ("viscoelastic", 6, 6, 6, "m"),
    "srspm": ("ups", 6, 6, 0, "m"),
    "rss": ("rss", 6, 6, 0, "rad"),
    "micro_hexapod": ("strut", 6, 6, 0, "m"),
    "tripod": ("rps", 3, 3, 0, "m"),
    "upu_without_symmetry": ("upu", 6, 6, 0, "m"),
}
"""Kind of leg, actuators, dof, deflections of springs, unit of the actuators."""


def test_tells_what_it_is(platform):
    assert platform.name in repr(platform)
    n = platform.n_actuators
    expected = KINDS.get(platform.name, KINDS["stewart"])
    assert (platform.kind, n, platform.dof, platform.n_deflections) == expected[:4]
    assert platform.coordinate_unit == expected[4]
    assert platform.force_unit == {"m": "N", "rad": "N m"}[expected[4]]
    assert platform.home.shape == (7,)
    for numbers in (
        platform.home_coordinates,
        platform.minimum_coordinates,
        platform.maximum_coordinates,
        platform.home_reaches,
    ):
        assert numbers.shape == (n,)
        assert not numbers.flags.writeable
    assert (platform.minimum_coordinates < platform.home_coordinates).all()
    assert (platform.home_coordinates < platform.maximum_coordinates).all()
    assert platform.within_limits(platform.home)
    assert np.linalg.norm(platform.home[3:]) == pytest.approx(1.0, abs=1e-15)  # rounding


def test_all_machines_are_here():
    assert {*twin.machine_names(), "tripod", "upu_without_symmetry"} == set(KINDS)
    assert {kind for kind, *_ in KINDS.values()} == {
        "ups",
        "strut",
        "rss",
        "viscoelastic",
        "pillar",
        "rps",
        "upu",
    }


def test_pickles(platform, states):
    again = pickle.loads(pickle.dumps(platform))
    assert again.hash == platform.hash
    arguments = (states.pose, states.twist, states.forces)
    assert_array_equal(again.forward_dynamics(*arguments), platform.forward_dynamics(*arguments))


def test_springs_are_relaxed_and_at_rest_unless_told(platform, states):
    k = platform.n_deflections
    inside = platform.as_deflection(None)
    assert_array_equal(inside, np.zeros(2 * k))
    arguments = (states.pose, states.twist, states.forces)
    assert_array_equal(
        platform.forward_dynamics(*arguments),
        platform.forward_dynamics(*arguments, deflection=inside),
    )
    for wrong in (np.zeros(2 * k + 1), np.full(2 * k + 2, np.nan), "relaxed"):
        with refused("deflection"):
            platform.forward_dynamics(*arguments, deflection=wrong)


def test_loads_by_name_and_by_path(tmp_path):
    from twin.machine.machine import parameters_path

    for name in twin.machine_names():
        file = tmp_path / f"{name}.toml"
        file.write_bytes(parameters_path(name).read_bytes())
        assert twin.load(file).hash == twin.load(str(file)).hash == twin.load(name).hash
        assert twin.load(name).name == name


def test_limits_are_those_of_the_design(stewart):
    """Retracted at 0.740 m, stroke 0.230 m, home at mid-stroke (0.8716 m)."""
    stroke = stewart.maximum_coordinates - stewart.minimum_coordinates
    assert_within(stroke, 0.230, 1e-15)
    middle = (stewart.maximum_coordinates + stewart.minimum_coordinates) / 2
    # The height is given with four decimals.
    assert_within(stewart.home_coordinates, middle, 5e-5)


def test_motion_range_of_the_driving_simulator():
    """Paper: +-50 mm; the small angles it gives are 50 mm over half of length and width."""
    platform = twin.load("driving_simulator")
    span = np.array([0.05, np.radians(3.581), np.radians(6.987)])
    assert_within(platform.maximum_coordinates - platform.home_coordinates, span[0], 1e-15)
    assert_within(platform.home_coordinates - platform.minimum_coordinates, span[0], 1e-15)
    arms = np.abs(platform.platform_joints).max(axis=0)
    # Printed with four digits, of the angle 0.05 / arm.
    assert_allclose(span[1:], 0.05 / arms[:2], rtol=2e-4)


def test_changes_make_another_machine(stewart):
    before = stewart.hash
    other = stewart.with_(
        gravity="1620 mm/s2",
        parameters={"platform.body.mass": 120, "leg.actuator.force": "2 kN"},
    )
    assert (type(other), stewart.hash) == (Platform, before)
    assert (other.parameters.gravity, other.parameters.platform.body.mass) == (1.62, 120.0)
    assert {leg.actuator.effort for leg in other.parameters.legs} == {2000.0}
    assert stewart.with_().hash == before


def test_fields_that_a_file_leaves_out_can_be_given(srspm):
    assert srspm.parameters.leg.actuator.effort is None
    changed = srspm.with_(parameters={"leg.actuator.force": "1 kN", "leg.2.actuator.speed": 0.5})
    assert [leg.actuator.effort for leg in changed.parameters.legs] == [1000.0] * 6
    assert [leg.actuator.speed for leg in changed.parameters.legs] == [None, 0.5, *[None] * 4]


def test_payloads_of_every_kind_add_their_mass(subtests, stewart):
    for payload in [50.0, "50 kg", "50000 g", Payload(50.0)]:
        with subtests.test(f"{payload}"):
            loaded = stewart.with_(payload=payload)
            body = stewart.parameters.platform.body
            assert loaded.parameters.platform.body.mass == pytest.approx(
                body.mass + 50.0, rel=1e-15
            )
            seated = stewart.with_(payload=Occupant(1.75, 50.0)).parameters.platform.body
            assert seated.mass == pytest.approx(body.mass + 50.0, rel=1e-12)
            assert seated.center_of_mass[2] > body.center_of_mass_vector[2]


def test_changes_are_checked(stewart):
    assert_all_refused(
        lambda changes: stewart.with_(**changes),
        [
            ({"parameters": {"leg.actuator.forc": 1}}, "the nearest are leg.actuator.force"),
            (
                {"parameters": {"leg.actuator.force": "2 kg"}},
                "not of force: write the number with one of",
            ),
            ({"parameters": {"leg.actuator.force": -1}}, "must be greater than 0"),
            ({"parameters": {"leg.drive": "1"}}, "no such number"),
            ({"parameters": [1]}, "must map paths to numbers"),
            ({"gravity": "9.81 m"}, "gravity.*not of acceleration: write the number with one of"),
            ({"payload": "heavy"}, "payload: 'heavy' is not a number with a unit"),
            ({"payload": [1, 2]}, "payload: .*; or a Payload or an Occupant"),
            ({"payload": 0.0}, "mass: must be one number above zero"),
        ],
    )


def test_studies_are_methods(stewart):
    assert stewart.payload(grid=2).exact_limit_kg == static_payload(stewart, grid=2).exact_limit_kg
    raised = np.add(stewart.home, [0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 0.0])
    linear = stewart.linearise(raised)
    assert_array_equal(linear.stiffness, linearise(stewart, raised).stiffness)
    system = linear.system("forces", "displacement")
    assert (system.A.shape, system.B.shape) == ((12, 12), (12, 6))
    with refused(r"got shape \(6,\).*twin\.pose"):
        stewart.linearise(np.zeros(6))


def test_a_changed_machine_without_limits_stays_without(subtests):
    for changes in [{"payload": 10.0}, {"gravity": 1.62}, {"payload": Occupant(1.75, 75.0)}]:
        with subtests.test(f"{changes}"):
            free = twin.load("stewart", limits=False)
            assert not free.with_(**changes).limits
            assert twin.load("stewart").with_(**changes).limits
