"""Machines from a few numbers of a data sheet: they load, and keep the numbers as printed."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within

from twin.analysis.feasibility.collisions import closest_legs
from twin.analysis.feasibility.feasibility import feasibility
from twin.analysis.platform import Platform
from twin.machine import read_parameters
from twin.machine.body import check_inertia
from twin.machine.file.data_sheet import estimates
from twin.machine.file.data_sheet.sheet import DataSheet
from twin.machine.file.data_sheet.text import data_sheet_text, write_data_sheet
from twin.machine.file.read import parameters_from

pytestmark = pytest.mark.quick

ACTUATORS = DataSheet(
    base_radius="300 mm",
    base_spacing="20 deg",
    platform_radius="8 in",
    platform_spacing="60 mm",
    stroke="6 in",
    shortest="400 mm",
    speed="8 in/s",
    force="500 lbf",
    payload="20 kg",
)

SERVOS = DataSheet(
    legs="rss",
    base_radius="80 mm",
    base_spacing="60 mm",
    platform_radius="60 mm",
    platform_spacing="30 mm",
    stroke="90 deg",
    crank="24 mm",
    rod="140 mm",
    speed="60 rpm",
    force="9.4 kg-cm",
    leg_mass="40 g",
)


PILLARS = DataSheet(
    legs="pillar",
    length="1.2 m",
    width="70 cm",
    stroke="4 in",
    shortest="270 mm",
    force="1.5 kN",
    payload="110 kg",
    inertia="10 kg m2, 12 kg m2, 15 kg m2",
)


TRIPOD = DataSheet(
    legs="rps",
    base_radius="140 mm",
    platform_radius="100 mm",
    stroke="100 mm",
    shortest="168 mm",
    payload="2 kg",
)

SCREWS = replace(ACTUATORS, legs="upu", lead="20 mm")

BALANCER = DataSheet(
    legs="rrs",
    base_radius="2 in",
    platform_radius="3.125 in",
    crank="1.75 in",
    rod="3.67 in",
    stroke="90 deg",
    speed="460 deg/s",
    force="25 kgf cm",
    drive="servo",
)


def made(sheet):
    return parameters_from(tomllib.loads(data_sheet_text("mine", sheet)), "mine.toml")


def test_actuators():
    machine = made(ACTUATORS)
    actuator = machine.leg.actuator
    assert actuator.minimum == 0.4
    assert actuator.maximum == pytest.approx(0.5524)
    assert actuator.effort == pytest.approx(500 * 4.4482216152605)
    assert actuator.speed == pytest.approx(0.2032)
    assert_allclose(machine.home_coordinates, 0.4762, rtol=1e-9)
    text = data_sheet_text("mine", ACTUATORS)
    for entry in ('radius = "8 in"', 'force = "500 lbf"', 'chord = "60 mm"', "Estimated: plate"):
        assert entry in text


def test_servos_are_laid_out_for_a_well_conditioned_home():
    machine = made(SERVOS)
    assert_within(machine.home_coordinates, 0.0, 1e-9)
    rows = machine.home_jacobian / np.repeat([1.0, machine.mean_arm], 3)
    assert np.linalg.cond(rows) < 10.0
    assert machine.leg.mass == pytest.approx(0.04)


PAIRS_OF_HORNS = replace(
    SERVOS,
    base_radius="79 mm",
    base_spacing="30 deg",
    platform_radius="70 mm",
    platform_spacing="30 deg",
    stroke="120 deg",
    rod="155 mm",
)
"""Joints of a pair are 40.9 mm apart, so that horns of 24 mm towards each other would cross."""


def test_horns_do_not_cross():
    """The machine is judged by the verdict on it, which knows nothing of how it was laid out."""
    platform = Platform(made(PAIRS_OF_HORNS))
    assert feasibility(platform).feasible
    # Measured 36.2 mm; with the horns towards each other it would be zero.
    assert closest_legs(platform, platform.home[None])[0] > 0.03


@pytest.mark.slow
def test_horns_point_where_they_are_told_to(subtests):
    for horns in ["mirrored", "same"]:
        for towards in [0.0, 40.0, 90.0, -90.0]:
            with subtests.test(f"{horns}, {towards}"):
                sheet = replace(PAIRS_OF_HORNS, horns=horns, horn_angle=f"{towards} deg")
                machine = made(sheet)
                pairs = zip(machine.legs, machine.home_leg_geometry, strict=True)
                cranks = np.array([leg.home_crank(place) for leg, place in pairs])
                x, y, _ = machine.base.joints.points.T
                outward = np.stack([x, y, 0.0 * x], axis=1) / np.hypot(x, y)[:, None]
                tangent = np.cross([0.0, 0.0, 1.0], outward)
                directions = cranks / 0.024
                outwards, around = (
                    np.einsum("ni,ni->n", directions, axis) for axis in (outward, tangent)
                )
                assert_within(outwards, np.sin(np.radians(towards)), 1e-6)
                senses = np.where(np.abs(around) < 1e-6, 0.0, np.sign(around))
                alternating = [1, -1] * 3 if horns == "mirrored" else [1] * 6
                factor = 0.0 if abs(towards) == 90.0 else senses[0]
                assert_array_equal(senses, factor * np.array(alternating))


def test_servo_from_a_data_sheet():
    sheet = replace(SERVOS, drive="servo", backlash="0.5 deg")
    text = data_sheet_text("mine", sheet)
    content = tomllib.loads(text)["configuration"]["hardware"]["leg"]["drive"]
    assert content == {
        "kind": "servo",
        "stall_torque": "9.4 kg-cm",
        "no_load_speed": "60 rpm",
        "backlash": "0.5 deg",
    }


def test_pillars_stand_below_the_corners_or_on_a_circle():
    four = made(PILLARS)
    assert_allclose(np.abs(four.base.joints.points), [[0.6, 0.35, 0.0]] * 4, rtol=1e-9)
    assert_allclose(four.home_coordinates, 0.3208, rtol=1e-9)
    assert_allclose(np.diag(four.platform.body.inertia), [10.0, 12.0, 15.0])
    three = made(replace(PILLARS, length=None, width=None, platform_radius="50 cm"))
    radii = np.linalg.norm(three.base.joints.points, axis=1)
    assert_allclose(radii, [0.5] * 3, rtol=1e-9)


def test_three_legs_stand_in_the_middle_of_their_strokes():
    """Straight legs at their mean length; cranks level and outward, which the rods stand on."""
    tripod, balancer = made(TRIPOD), made(BALANCER)
    assert_within(tripod.home_coordinates, 0.218, 1e-9)  # nine digits are written
    assert tripod.home.position[2] == pytest.approx(np.sqrt(0.218**2 - 0.04**2))
    assert_within(balancer.home_coordinates, 0.0, 1e-8)
    inward = 25.4e-3 * (2.0 + 1.75 - 3.125)
    assert balancer.home.position[2] == pytest.approx(np.sqrt((25.4e-3 * 3.67) ** 2 - inward**2))
    for sheet in (TRIPOD, BALANCER):
        assert feasibility(Platform(made(sheet))).feasible


@pytest.mark.parametrize("kind", ["strut", "viscoelastic"])
def test_springs_have_their_stiffness_and_a_damping(kind):
    """Left out, the damping is 0.05 of the critical of a sixth of what is moved."""
    sheet = replace(ACTUATORS, legs=kind, stiffness="8 N/um")
    machine, given = made(sheet), made(replace(sheet, damping="300 N s/m"))
    springs = [getattr(leg, "axial", leg) for leg in (machine.leg, given.leg)]
    assert [spring.stiffness for spring in springs] == [8e6, 8e6]
    expected = 0.1 * np.sqrt(8e6 * machine.platform.body.mass / 6.0)
    assert springs[0].damping == pytest.approx(expected, rel=1e-3)
    assert springs[1].damping == 300.0
    assert_allclose(machine.home_coordinates, 0.4762, rtol=1e-9)


def test_height_in_place_of_the_shortest_length():
    machine = made(replace(ACTUATORS, shortest=None, height="450 mm"))
    actuator = machine.leg.actuator
    middle = (actuator.minimum + actuator.maximum) / 2
    assert_allclose(machine.home_coordinates, middle, rtol=1e-8)
    assert machine.home.position[2] == 0.45


@pytest.mark.slow
@given(
    base=st.floats(0.02, 3.0),
    share=st.floats(0.4, 1.0),
    spacing=st.tuples(st.floats(0.0, 40.0), st.floats(0.0, 40.0)),
    mass=st.floats(1e-3, 1e4),
)
@settings(max_examples=30, deadline=None)
def test_machines_of_any_size_load(base, share, spacing, mass):
    sheet = DataSheet(
        base_radius=f"{base} m",
        base_spacing=f"{spacing[0]} deg",
        platform_radius=f"{share * base} m",
        platform_spacing=f"{spacing[1]} deg",
        stroke=f"{0.5 * base} m",
        shortest=f"{1.2 * base} m",
        payload=f"{mass} kg",
    )
    machine = made(sheet)
    # The file has six digits, and a small plate adds less than the last of them.
    assert machine.platform.body.mass > mass * (1.0 - 5e-6)
    assert_allclose(machine.home_coordinates, 1.45 * base, rtol=1e-8)


def test_a_payload_is_a_cylinder_as_high_as_wide():
    body = estimates.load(40.0, 0.3)
    radius = np.sqrt(2.0 * body.tensor[2] / 40.0)
    assert estimates.PAYLOAD_DENSITY * np.pi * radius**2 * 2.0 * radius == pytest.approx(40.0)
    assert body.center == pytest.approx(estimates.PLATE_THICKNESS_RATIO * 0.3 + radius)
    both = estimates.joined_bodies([body, estimates.plate(0.3, None)])
    check_inertia(tuple(tuple(row) for row in np.diag(both.tensor)))


REFUSED = {
    "mass for a stroke": (replace(ACTUATORS, stroke="6 kg"), "stroke", "of mass, not of length"),
    "no unit": (replace(ACTUATORS, stroke="6"), "stroke", "write the number with one of"),
    "negative": (replace(ACTUATORS, payload="-2 kg"), "payload", "above zero"),
    "missing": (replace(ACTUATORS, stroke=None), "stroke", "missing"),
    "no length": (replace(ACTUATORS, shortest=None), "shortest", "missing"),
    "cranks": (replace(ACTUATORS, rod="1 m"), "rod", "have none"),
    "spacing": (replace(ACTUATORS, base_spacing="wide"), "base_spacing", "angle nor a distance"),
    "chord": (replace(ACTUATORS, base_spacing="600 mm"), "data sheet", "shorter than 0.519615 m"),
    "short legs": (replace(ACTUATORS, shortest="10 mm"), "data sheet", "mean length of 0.0862 m"),
    "height": (replace(ACTUATORS, height="1 m"), "height", "contradicts --shortest"),
    "hanging pillars": (replace(PILLARS, shortest=None, height="-1 m"), "height", "above zero"),
    "horns": (replace(SERVOS, horns="left"), "horns", "must be mirrored or same"),
    "horn angle": (replace(SERVOS, horn_angle="100 deg"), "horn_angle", "from -90 to 90"),
    "no drive": (replace(SERVOS, backlash="1 deg"), "backlash", "give the drive"),
    "no torque": (replace(SERVOS, drive="servo", force=None), "force", "stall torque"),
    "straight": (replace(ACTUATORS, horns="same"), "horns", "have none"),
    "long horns": (
        replace(SERVOS, base_spacing="0.3 mm", horns="same"),
        "crank",
        "collide at home",
    ),
    "long stroke": (
        replace(ACTUATORS, shortest=None, height="100 mm", stroke="1 m"),
        "stroke",
        "give --shortest",
    ),
    "rods": (replace(SERVOS, rod="10 mm"), "data sheet", "in reach of all legs"),
    "kind": (replace(ACTUATORS, legs="wire"), "legs", "not 'wire'"),
    "no pairs": (replace(ACTUATORS, legs="pillar"), "base_radius", "have none"),
    "no spring": (replace(ACTUATORS, legs="strut"), "stiffness", "missing"),
    "width": (replace(PILLARS, width=None), "width", "missing"),
    "circle": (replace(PILLARS, platform_radius="1 m"), "platform_radius", "three pillars"),
    "short rods": (replace(BALANCER, rod="1 cm"), "rod", "cannot join"),
    "horns of three": (replace(BALANCER, horns="same"), "horns", "have none"),
    "moments": (replace(ACTUATORS, inertia="1 kg m2"), "inertia", "must be three"),
    "no body": (replace(ACTUATORS, inertia="1 kg m2,1 kg m2,3 kg m2"), "inertia", "no body"),
}


def test_a_hanging_machine_is_the_standing_one_with_gravity_upside_down():
    """Seen from above, a leg pulls where it pushed, with the same forces."""
    up = replace(ACTUATORS, shortest=None, height="400 mm")
    standing, hanging = (Platform(made(one)) for one in (up, replace(up, height=" -0.4 m")))
    assert hanging.home[2] == -standing.home[2] == -0.4
    assert_allclose(hanging.home_coordinates, standing.home_coordinates, rtol=1e-12)
    forces = [
        machine.inverse_dynamics(machine.home, np.zeros(6), np.zeros(6))
        for machine in (standing, hanging)
    ]
    assert_allclose(forces[1], -forces[0], rtol=1e-9)


def test_impossible_numbers_are_named(subtests):
    for sheet, field, words in REFUSED.values():
        with subtests.test(f"{sheet}"):
            with refused() as caught:
                data_sheet_text("mine", sheet)
            assert caught.value.field == field
            assert words in caught.value.message
            assert "\n" not in caught.value.message


def test_files_are_written_once(tmp_path):
    path = write_data_sheet(tmp_path / "mine.toml", replace(ACTUATORS, title='A "new" one'))
    assert read_parameters(path).title == 'A "new" one'
    write_data_sheet(path, replace(ACTUATORS, title='Rig # "2" \x07'), replace=True)
    assert read_parameters(path).title.strip() == 'Rig # "2"'
    with refused("exists"):
        write_data_sheet(path, ACTUATORS)
    write_data_sheet(path, ACTUATORS, replace=True)
    assert read_parameters(path).title == "My motion platform"
