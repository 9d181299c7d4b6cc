"""Verdicts on tasks: each margin against a closed form or another way to the same number."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from redundant import redundant_machine
from refusals import assert_all_refused
from scipy.optimize import brentq
from shared_joints import LAYOUTS, machine_with_shared_joints
from tolerance import max_abs

import twin
from twin.analysis.feasibility import collisions
from twin.analysis.feasibility.course import leg_points, motion_course, rest_course
from twin.analysis.feasibility.feasibility import (
    feasibility,
    range_feasibility,
    verdict,
)
from twin.analysis.payload.body import Payload, with_payload
from twin.analysis.platform import Platform
from twin.basics.arrays import rotated
from twin.machine.machine import MachineParameters
from twin.model.machine_base import ZERO_VECTOR
from twin.motion import SineMotion, StepMotion
from twin.motion.specification import MotionSpecification
from twin.rotations import displaced, pose_from_angles

pytestmark = pytest.mark.quick

SOURCE = {"source": "Test"}


def changed(machine, top=None, **leg):
    """Return a machine with other platform joints, and entries of [leg] replaced or merged."""
    content = (twin.load(machine) if isinstance(machine, str) else machine).parameters.model_dump()
    if top is not None:
        content["platform"]["joints"] = SOURCE | {"coordinates": top.tolist()}
    for key, value in leg.items():
        inner = content["leg"].get(key)
        content["leg"][key] = inner | value if inner and isinstance(value, dict) else value
    return Platform(MachineParameters.model_validate(content))


LONG = {"minimum": 0.2, "maximum": 3.0}
"""Of actuators whose ends are out of the way."""


def margin(found, quantity):
    """Return the only margin of a quantity."""
    (one,) = (entry for entry in found.margins if entry.quantity == quantity)
    return one


def test_legs_of_ten_newtons_are_thirty_times_too_weak():
    found = feasibility(changed("stewart", actuator={"force": 10.0}))
    force = margin(found, "force")
    # By virtual work: six equal forces lift the machine by dz with the work dE.
    machine = twin.load("stewart")
    poses = machine.home + 1e-6 * np.outer([-1.0, 1.0], np.eye(7)[2])
    work = float(np.diff(machine.energy(poses, ZERO_VECTOR)[1])[0])
    travel = np.diff(machine.inverse_kinematics(poses), axis=0).sum()
    assert force.required == pytest.approx(work / travel, rel=1e-6)
    assert force.share == pytest.approx(30.85, rel=1e-3)
    assert not found
    assert found.violated == (force,)
    assert "308.5 N at rest" in found.remedies[0]
    assert "30.8 times the 10 N that its actuator gives" in found.remedies[0]
    assert "not feasible, 1 of" in found.summary


def test_axes_that_cross_collide_whatever_their_thickness():
    """Legs 1 and 2 are the diagonals of a parallelogram."""
    machine = twin.load("stewart")
    base, top = machine.base_joints, machine.platform_joints.copy()
    top[1] = top[0] + base[0] - base[1]
    for drawn in (None, SOURCE | THIN):
        found = feasibility(changed(machine, top, appearance=drawn, actuator=LONG))
        (entry,) = (one for one in found.margins if one.quantity == "legs to each other")
        assert entry.legs == (1, 2)
        assert not entry.holds
        assert "legs 1 and 2 pass through each other" in entry.remedy.lower()


THIN = {"housing_radius": 1e-9, "rod_radius": 1e-9, "housing_length": 0.1, "rod_length": 0.1}


def passing_legs():
    """Return `stewart` with leg 2 beside leg 1: turned by some 40 degrees, they cross."""
    machine = twin.load("stewart")
    base, top = machine.base_joints, machine.platform_joints.copy()
    across = np.cross(base[0] - base[1], [0.0, 0.0, 1.0])
    top[1] = top[0] + base[0] - base[1] + 0.1 * across / np.linalg.norm(across)
    return changed(machine, top, appearance=None, actuator=LONG)


def crossing_yaw(machine):
    """Return the yaw [rad] at which legs 1 and 2 are in one plane."""

    def volume(yaw):
        turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
        tips = machine.platform_joints[:2].copy()
        tips[:, :2] = tips[:, :2] @ turn.T
        base = machine.base_joints[:2]
        legs = machine.home[:3] + tips - base
        return float(np.linalg.det([*legs, base[1] - base[0]]))

    return float(brentq(volume, 0.1, 1.5))


def turned(machine, yaw, samples=None):
    """Return the legs' margin after a yaw [rad]: at rest, or of a sine with so many samples."""
    if samples is None:
        course = rest_course(
            machine, pose_from_angles(machine.home[:3], [yaw, 0.0, 0.0])[None], ("turned",)
        )
    else:
        motion = SineMotion(machine.home, amplitude={"yaw": yaw}, frequency=1.0, duration=1.0)
        course = motion_course(machine, motion, samples)
    return margin(verdict(machine, course, "turned"), "legs to each other")


@pytest.mark.parametrize("samples", [None, 1003])
def test_legs_that_passed_each_other_on_the_way_collided(samples):
    """Behind the crossing their axes are apart again."""
    machine = passing_legs()
    yaw = crossing_yaw(machine)
    assert turned(machine, 0.9 * yaw, samples).holds
    crossed = turned(machine, 1.5 * yaw, samples)
    assert crossed.legs == (1, 2)
    assert not crossed.holds
    assert "legs 1 and 2 pass through each other" in crossed.remedy.lower()


def test_a_crossing_as_short_as_the_samples_is_seen():
    """The peak of the sine is between two of 1003 samples; past the crossing for 1.4 of them."""
    machine = passing_legs()
    yaw = crossing_yaw(machine)
    assert not turned(machine, (1.0 + 1e-5) * yaw, 1003).holds
    assert turned(machine, (1.0 - 1e-4) * yaw, 1003).holds


def test_the_leg_below_the_load_is_named(stewart):
    for leg in range(6):
        corner = 1.5 * stewart.platform_joints[leg]
        found = feasibility(stewart, payload=Payload(800.0, corner))
        loaded = stewart.inverse_dynamics(
            stewart.home, ZERO_VECTOR, ZERO_VECTOR, _weight(800.0 * 9.81, corner)
        )
        most = int(np.abs(loaded).argmax())
        force = margin(found, "force")
        assert force.legs == (most + 1,)
        assert force.required == pytest.approx(float(loaded[most]), rel=1e-9)
        assert found.task == "at rest at home with 800 kg"


def _weight(force, point):
    return np.concatenate([[0.0, 0.0, -force], np.cross(point, [0.0, 0.0, -force])])


def test_mean_of_a_sine_in_closed_form():
    """Heave on pillars: f = m (g + z'') / 4 with a constant mass, so f has the mean of a sine."""
    machine = changed("driving_simulator", actuator={"force": 1000.0, "continuous_force": 700.0})
    size, rate = 0.01, 2.0
    motion = SineMotion(
        machine.home, amplitude={"z": size}, frequency=rate, duration=2.0, convention="roll_pitch"
    )
    found = feasibility(machine, motion)
    mass = (150.0 + 4 * 28.0) / 4
    swing = size * (2.0 * np.pi * rate) ** 2
    mean = mass * np.hypot(9.81, swing / np.sqrt(2.0))
    # Trapezia over whole periods are exact for a sine.
    assert margin(found, "continuous force").required == pytest.approx(mean, rel=1e-9)
    assert margin(found, "continuous force").limit == 700.0
    peak = margin(found, "force")
    assert peak.required == pytest.approx(mass * (9.81 + swing), rel=1e-4)
    assert abs(margin(found, "speed").required) == pytest.approx(2 * np.pi * rate * size, rel=1e-4)
    assert abs(margin(found, "acceleration").required) == pytest.approx(swing, rel=1e-4)
    weak = changed("driving_simulator", actuator={"force": 1000.0, "continuous_force": 600.0})
    heated = feasibility(weak, motion)
    assert [entry.quantity for entry in heated.violated] == ["continuous force"]
    assert "in root mean square" in heated.remedies[0]
    rested = margin(feasibility(weak), "continuous force")
    assert rested.required == pytest.approx(mass * 9.81)


def test_power_is_force_times_speed():
    machine = changed("stewart", actuator={"power": 100.0})
    motion = MotionSpecification("sine", amplitude=0.03, frequency=1.0).motion_of(machine)
    power = margin(feasibility(machine, motion), "power")
    time = np.array([power.time])
    pose, twist, acceleration = motion(time)
    forces = machine.inverse_dynamics(pose, twist, acceleration)[0]
    rates = machine.jacobian(pose)[0] @ twist[0]
    leg = power.legs[0] - 1
    assert power.required == pytest.approx(forces[leg] * rates[leg])
    assert abs(power.required) == pytest.approx(max_abs(forces * rates), rel=1e-9)


def test_drives_of_the_configuration_count():
    """Their peak is the limit, and their inertia and friction are moved as well."""
    plain, hardware = twin.load("stewart"), twin.load("stewart", "hardware")
    motion = SineMotion(plain.home, amplitude={"z": 0.02}, frequency=2.0, duration=1.0)
    bare, driven = (margin(feasibility(m, motion), "force") for m in (plain, hardware))
    assert (bare.limit, driven.limit) == (3073.0, 6146.0)
    drive = hardware.parameters.legs[0].drive
    assert drive is not None
    seen = drive.reflected()
    row = np.array([driven.time])
    pose, twist, acceleration = motion(row)
    jacobian = hardware.jacobian(pose)[0]
    rate = jacobian @ twist[0]
    bent = hardware.jacobian_derivative(pose, twist)[0] @ twist[0]
    force = hardware.inverse_dynamics(pose, twist, acceleration)[0]
    force += seen.inertia * (jacobian @ acceleration[0] + bent) + seen.viscous * rate
    force += seen.friction * np.sign(rate)
    assert driven.required == pytest.approx(force[driven.legs[0] - 1], rel=1e-9)


def test_stroke_at_both_ends(stewart):
    low, high = stewart.minimum_coordinates[0], stewart.maximum_coordinates[0]
    for sign, end, limit in ((1.0, "upper", high), (-1.0, "lower", low)):
        motion = StepMotion(stewart.home, displacement={"z": sign * 0.2}, rise=8.0, duration=9.0)
        found = feasibility(stewart, motion)
        stroke = margin(found, f"stroke, {end} end")
        length = stewart.inverse_kinematics(stewart.home + sign * 0.2 * np.eye(7)[2])[0]
        assert stroke.required == pytest.approx(length)
        assert stroke.limit == limit
        assert stroke.margin == pytest.approx(sign * (limit - length))
        assert stroke.share == pytest.approx(
            abs(length - 0.5 * (low + high)) / (0.5 * (high - low))
        )
        assert not stroke.holds
        assert f"ends at {limit:.4g} m" in stroke.remedy


def test_joint_angles_in_closed_form():
    """A leg of the symmetrical machine goes out by r and up by h: it leans by atan(r / h)."""
    machine = changed(
        "stewart",
        base_joint=SOURCE | {"maximum_angle": 0.1},
        platform_joint=SOURCE | {"maximum_angle": 1.0, "neutral": (0.0, 0.0, -1.0)},
    )
    out, up = np.linalg.norm(machine.parameters.home_leg_vectors[0, :2]), machine.home[2]
    rise = 0.1
    motion = StepMotion(machine.home, displacement={"z": rise}, rise=0.5, duration=1.0)
    found = feasibility(machine, motion)
    base, top = (margin(found, f"angle of {side} joint") for side in ("base", "platform"))
    assert base.unit == "deg"
    assert base.limit == pytest.approx(np.degrees(0.1))
    turned = np.arctan2(up + rise, out) - np.arctan2(up, out)
    assert base.required == pytest.approx(np.degrees(turned))
    assert top.required == pytest.approx(np.degrees(np.arctan2(out, up)))
    assert top.time == 0.0
    # Tilted about the joints' line of sight: the leg leans against the platform's normal too.
    pitch = 0.05
    course = rest_course(machine, _tilted(machine, pitch), ("tilted",))
    tilted = margin(verdict(machine, course, "tilted"), "angle of platform joint")
    normal = np.array([np.sin(pitch), 0.0, np.cos(pitch)])
    matrix = np.array(
        [[np.cos(pitch), 0, np.sin(pitch)], [0, 1, 0], [-np.sin(pitch), 0, np.cos(pitch)]]
    )
    legs = machine.home[:3] + machine.platform_joints @ matrix.T - machine.base_joints
    leaning = np.degrees(np.arccos(legs @ normal / np.linalg.norm(legs, axis=1)))
    assert tilted.required == pytest.approx(leaning.max())
    assert tilted.legs == (int(leaning.argmax()) + 1,)


def _tilted(machine, pitch):
    return pose_from_angles(machine.home[:3], [0.0, pitch, 0.0])[None]


def test_steps_on_the_way_home_are_small_enough(stewart, constants):
    """Of 60 poses turned by up to 170 degrees, ten times as many steps judge none otherwise."""
    generator = np.random.default_rng(5)
    shifts, turns = generator.uniform(-1.0, 1.0, (2, 60, 3))
    poses = pose_from_angles(stewart.home[:3] + 0.3 * shifts, turns * [3.0, 0.8, 0.8])
    course = rest_course(stewart, poses, tuple(map(str, range(60))))

    def crossed():
        legs = next(
            collisions.collision_quantities(
                stewart, course, leg_points(stewart, course.motion.pose)
            )
        )
        return np.isinf(legs.share).any(axis=1)

    found = crossed()
    assert 0 < found.sum() < 60
    constants(collisions, PATH_STEPS=10 * collisions.PATH_STEPS)
    assert_array_equal(crossed(), found)
    constants(collisions, PATH_STEPS=1)
    assert not np.array_equal(crossed(), found)


def test_elbow_angle_of_a_tilted_machine(subtests):
    """The rod in the crank's frame, from the sides of the triangle alone.

    Along the crank's axis it reaches as far as the platform joint, and along the crank as the
    cosine rule says; the third part is the rest, on the side of the branch.
    """
    for neutral in np.eye(3).tolist():
        with subtests.test(f"{neutral}"):
            limit = SOURCE | {"maximum_angle": 3.0, "neutral": neutral}
            machine = changed("rss", elbow_joint=limit)
            position = np.add(machine.home[:3], [0.03, -0.02, 0.01])
            pose = pose_from_angles(position, [0.1, 0.2, -0.15])[None]
            leg = machine.parameters.leg
            vectors = (
                pose[0, :3] + rotated(pose[0, 3:], machine.platform_joints) - machine.base_joints
            )
            along = np.einsum("ni,ni->n", vectors, machine.first_axes) / leg.rod_length
            reach = np.einsum("ni,ni->n", vectors, vectors)
            cosine = (reach - leg.crank_length**2 - leg.rod_length**2) / (
                2.0 * leg.crank_length * leg.rod_length
            )
            rest = np.sqrt(1.0 - along**2 - cosine**2)
            expected = np.degrees(np.arccos(np.array([along, rest, cosine]).T @ neutral))
            found = verdict(machine, rest_course(machine, pose, ("tilted",)), "tilted")
            elbow = margin(found, "angle of elbow joint")
            assert elbow.required == pytest.approx(expected.max())
            assert elbow.legs == (int(expected.argmax()) + 1,)


@pytest.mark.slow
def test_springs_in_series_carry_the_load():
    """At rest actuators and springs are in equilibrium: both by virtual work."""
    machine = with_payload(twin.load("compliant_stewart"), Payload(300.0))
    found = feasibility(machine)
    force, length = (margin(found, name).required for name in ("force", "stroke, upper end"))
    spring = machine.home_coordinates[0] - length
    assert spring < -0.005
    inside = np.concatenate([np.full(6, spring), np.zeros(6)])
    poses = machine.home + 1e-6 * np.outer([-1.0, 1.0], np.eye(7)[2])
    work = float(np.diff(machine.energy(poses, ZERO_VECTOR, deflection=inside)[1])[0])
    assert force == pytest.approx(
        work / np.diff(machine.inverse_kinematics(poses), axis=0).sum(), rel=1e-6
    )
    # The springs' own equilibrium: no work where they yield and the actuators make up for it.
    yields = inside + 1e-6 * np.outer([-1.0, 1.0], np.repeat([1.0, 0.0], 6))
    work = float(np.diff(machine.energy(machine.home, ZERO_VECTOR, deflection=yields)[1])[0])
    assert -6.0 * force * 2e-6 == pytest.approx(work, rel=1e-6)
    motion = MotionSpecification("sine").motion_of(machine)
    assert any("quasi-static" in note for note in feasibility(machine, motion).notes)


def test_singular_pose_of_the_flat_machine(srspm):
    motion = StepMotion(srspm.home, displacement={"z": -1.3}, rise=1.0, duration=1.0)
    found = feasibility(srspm, motion)
    worst = margin(found, "smallest singular value")
    assert worst.share == np.inf
    # Its known singular pose is the flat one at z = 0: the first sample below it is named.
    assert worst.time is not None
    assert motion(worst.time).pose[2] < 0.0 < motion(worst.time - 1e-3).pose[2]
    assert "another sign" in worst.remedy
    above = StepMotion(srspm.home, displacement={"z": -0.9}, rise=1.0, duration=1.0)
    kept = margin(feasibility(srspm, above), "smallest singular value")
    assert np.isfinite(kept.share)
    flat = displaced(srspm.home, [0.0, 0.0, -1.1, 0.0, 0.0, 0.0])[None]
    stopped = verdict(srspm, rest_course(srspm, flat, ("flat",)), "flat")
    assert [entry.quantity for entry in stopped.violated] == ["singular pose"]


def test_pose_out_of_reach_of_cranks():
    machine = twin.load("rss")
    motion = StepMotion(machine.home, displacement={"z": 1.5}, rise=1.0, duration=1.0)
    reach = margin(feasibility(machine, motion), "reach")
    assert not reach.holds
    assert reach.required > 100
    before = machine.inverse_kinematics(motion(reach.time - 1e-3).pose)
    assert np.isfinite(before).all()


@pytest.mark.parametrize("legs", [7, 8])
def test_internal_forces_of_redundant_legs(legs):
    """A limit between the smallest largest force and that of the smallest norm is kept."""
    machine = redundant_machine(legs)
    smallest = machine.inverse_dynamics(machine.home, ZERO_VECTOR, ZERO_VECTOR)
    found = feasibility(changed(machine, actuator={"force": 0.999 * float(max_abs(smallest))}))
    assert found.feasible
    assert "redundant" in found.notes[-1]
    force = margin(found, "force")
    assert force.required < max_abs(smallest)
    tight = feasibility(changed(machine, actuator={"force": 0.2 * float(max_abs(smallest))}))
    assert not tight.feasible
    assert "none keep it" in tight.notes[-1]


def test_plates_collide_below_home_but_not_where_they_are_rings():
    """Level plates are as far apart as they are high; at the height of the base they cross."""
    machine = changed("stewart", actuator=LONG)
    plates = margin(feasibility(machine), "plates to each other")
    assert (plates.required, plates.limit) == pytest.approx((machine.home[2], 0.03))
    low = machine.with_(parameters={"home.position.2": 0.025})
    plates = margin(feasibility(low), plates.quantity)
    assert plates.required == pytest.approx(0.025)
    assert "they collide" in plates.remedy
    ring = feasibility(twin.load("lsst_m2"))
    assert all(entry.quantity != "plates to each other" for entry in ring.margins)


def test_shared_joints_are_no_collision(subtests):
    for layout in LAYOUTS:
        with subtests.test(f"{layout}"):
            machine = machine_with_shared_joints(layout)
            for radius, holds in ((0.03, True), (0.3, False)):
                rod = {"rod_radius": 0.02, "rod_length": 0.5}
                drawn = SOURCE | rod | {"housing_radius": radius, "housing_length": 0.5}
                found = feasibility(changed(machine, appearance=drawn))
                assert margin(found, "legs to each other").holds == holds


def test_what_is_not_given_is_listed(srspm):
    found = twin.load("micro_hexapod").feasibility()
    text = "; ".join(found.not_given)
    for words in ("force of the actuators", "base joints", "thickness of the legs"):
        assert words in text
    motion = MotionSpecification("sine").motion_of(srspm)
    assert "power of the actuators" in feasibility(srspm, motion).not_given


def test_bad_arguments(stewart):
    motion = StepMotion(stewart.home, displacement={"z": 0.01}, rise=1, duration=1)
    assert_all_refused(
        lambda bad: feasibility(stewart, **bad),
        [
            ({"motion": "up"}, "motion"),
            ({"payload": -1.0}, "mass"),
            ({"payload": "heavy"}, "mass"),
            ({"wrench": [1.0]}, "wrench"),
            ({"motion": motion, "samples": 1}, "samples"),
        ],
    )
    assert_all_refused(
        lambda fraction: range_feasibility(stewart, fraction=fraction),
        [("a", "fraction"), (np.nan, "fraction"), (1.5, "fraction")],
    )


def test_torque_of_steppers_falls_with_their_speed():
    """At half its top speed a stepper has half its torque: the share doubles."""
    drive = SOURCE | {
        "kind": "stepper", "holding_torque": 8.0, "top_speed": 4.0, "armature_inertia": 1e-9
    }  # fmt: skip
    machine = changed("rss", drive=drive)
    motion = SineMotion(machine.home, amplitude={"z": 0.03}, frequency=1.0, duration=1.0)
    found = feasibility(machine, motion)
    torque = margin(found, "torque")
    pose, twist, acceleration = motion(np.linspace(0.0, 1.0, 1001))
    rates = np.einsum("kij,kj->ki", machine.jacobian(pose), twist)
    shares = np.abs(machine.inverse_dynamics(pose, twist, acceleration))
    shares /= 8.0 * (1.0 - np.abs(rates) / 4.0)
    assert torque.share == pytest.approx(shares.max(), rel=1e-4)
    assert margin(found, "speed").limit == 4.0
