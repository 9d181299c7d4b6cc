"""Occupants: sums, symmetry, posture, springs, and what is refused."""

from itertools import pairwise
from math import radians

import numpy as np
import pytest
from refusals import refused

from twin.machine.payload.anthropometry import (
    BODIES,
    SEXES,
    branch,
    combined,
    origins,
    rigid_sum,
)
from twin.machine.payload.occupant import (
    JOINT_TUNINGS,
    PARENT_SEGMENTS,
    SEAT_HEIGHT,
    Occupant,
    SeatedPosture,
    Wheelchair,
)

OCCUPANTS = (
    Occupant(1.75, 75.0),
    Occupant(1.60, 58.0, "female"),
    Occupant(1.90, 110.0, wheelchair=Wheelchair()),
    Occupant(1.30, 30.0, seat=(0.1, 0.05, 0.4), posture=SeatedPosture(recline=0.0, thigh=1.4)),
)

IDS = ["man", "woman", "wheelchair", "child"]


@pytest.fixture(params=OCCUPANTS, ids=IDS)
def occupant(request):
    return request.param


def by_name(occupant):
    return {segment.name: segment for segment in occupant.segments()}


def test_masses_and_lengths_grow_with_the_person():
    small, large = by_name(Occupant(1.5, 50.0)), by_name(Occupant(1.8, 100.0))
    for name, segment in small.items():
        assert large[name].mass == pytest.approx(2.0 * segment.mass, rel=1e-14)
        factor = 2.0 * (1.8 / 1.5) ** 2
        assert large[name].inertia == pytest.approx(factor * segment.inertia, rel=1e-12, abs=1e-14)
        assert large[name].center == pytest.approx(1.2 * segment.center, rel=1e-12, abs=1e-15)


def test_segments_hang_together(occupant):
    segments = by_name(occupant)
    places = origins(tuple(segments.values()))
    body = BODIES[occupant.sex]
    for name, carrier in PARENT_SEGMENTS.items():
        for side in ("_left", "_right") if name + "_left" in segments else ("",):
            segment = segments[name + side]
            assert segment.parent in (carrier, carrier + side)
    chain = ("pelvis", "abdomen", "thorax", "head")
    for lower, upper in pairwise(chain):
        assert places[upper] == pytest.approx(places[lower] + segments[lower].end, abs=1e-14)
        length = body.segments[lower].length * occupant.stature / body.stature
        assert np.linalg.norm(segments[lower].end) == pytest.approx(length, rel=1e-12)
    for side in ("_left", "_right"):
        for upper, lower in (("thigh", "shank"), ("upper_arm", "forearm"), ("forearm", "hand")):
            end = places[upper + side] + segments[upper + side].end
            assert places[lower + side] == pytest.approx(end, abs=1e-14)
    middle = (places["upper_arm_left"] + places["upper_arm_right"]) / 2 - places["pelvis"]
    height = body.shoulder_height * occupant.stature / body.stature
    trunk = segments["abdomen"].end / np.linalg.norm(segments["abdomen"].end)
    assert middle == pytest.approx(height * trunk, abs=1e-12)
    assert (places["thigh_left"] + places["thigh_right"]) / 2 == pytest.approx(places["pelvis"])


def test_default_seat_puts_the_center_above_the_reference_point():
    for chair, height in ((None, SEAT_HEIGHT), (Wheelchair(), Wheelchair().seat_height)):
        occupant = Occupant(1.75, 75.0, wheelchair=chair)
        center = rigid_sum(occupant.segments()).center
        assert center[:2] == pytest.approx([0.0, 0.0], abs=1e-14)
        pelvis = by_name(occupant)["pelvis"].position
        assert height + 0.03 < pelvis[2] < height + 0.1


def test_sitting_height_is_the_published_share_of_stature():
    upright = SeatedPosture(recline=0.0, head=0.0)
    for sex in SEXES:
        occupant = Occupant(1.7, 70.0, sex, upright, seat=(0.0, 0.0, 0.0))
        segments = by_name(occupant)
        places = origins(tuple(segments.values()))
        top = places["head"] + segments["head"].end
        assert top == pytest.approx([0.0, 0.0, 0.520 * 1.7], abs=1e-12)


def test_posture_turns_segments():
    posture = SeatedPosture(recline=radians(20.0), shank=radians(30.0))
    segments = by_name(Occupant(1.75, 75.0, posture=posture))
    lean = segments["abdomen"].end
    assert np.arctan2(-lean[0], lean[2]) == pytest.approx(radians(20.0))
    shank = segments["shank_left"].end
    assert np.arctan2(shank[0], -shank[2]) == pytest.approx(radians(30.0))


def test_springs_carry_the_weight_at_the_tuned_frequency(occupant):
    """One joint at a time: force and stiffness by differences of the potential energy."""
    segments = occupant.segments()
    moving = [segment for segment in segments if segment.joint != "fixed"]
    assert {segment.joint for segment in moving} == {"hinge", "slide"}
    places = origins(segments)
    for segment in moving:
        carried = branch(segments, segment.name)
        joint = places[segment.name]
        axis = segment.axis

        def energy(coordinate, carried=carried, joint=joint, axis=axis, own=segment):
            total = own.stiffness * (coordinate - own.rest) ** 2 / 2
            for one in carried:
                arm = places[one.name] + one.center - joint
                if own.joint == "slide":
                    arm = arm + coordinate * axis
                else:
                    arm = (
                        arm * np.cos(coordinate)
                        + np.cross(axis, arm) * np.sin(coordinate)
                        + axis * (axis @ arm) * (1 - np.cos(coordinate))
                    )
                total += one.mass * 9.81 * arm[2]
            return float(total)

        step = 1e-3
        slope = (energy(step) - energy(-step)) / (2 * step)
        curvature = (energy(step) - 2 * energy(0.0) + energy(-step)) / step**2
        assert slope == pytest.approx(0.0, abs=1e-3)
        inertia = sum(one.mass for one in carried)
        if segment.joint == "hinge":
            bodies = combined(
                np.array([one.mass for one in carried]),
                np.array([places[one.name] + one.center - joint for one in carried]),
                np.array([one.inertia for one in carried]),
            )
            lever = np.cross(axis, bodies.center)
            inertia = axis @ bodies.inertia @ axis + bodies.mass * lever @ lever
        name = segment.name.removesuffix("_left").removesuffix("_right")
        frequency = np.sqrt(curvature / inertia) / (2 * np.pi)
        assert frequency == pytest.approx(JOINT_TUNINGS[name].frequency, rel=1e-4)
        ratio = segment.damping / (2 * np.sqrt(curvature * inertia))
        assert ratio == pytest.approx(JOINT_TUNINGS[name].damping_ratio, rel=1e-4)


def test_people_that_cannot_be(subtests):
    for change, field in [
        ({"stature": 17.5}, "stature"),
        ({"stature": float("nan")}, "stature"),
        ({"mass": -75.0}, "mass"),
        ({"mass": 1000.0}, "mass"),
        ({"sex": "other"}, "sex"),
        ({"seat": (0.0, 0.1)}, "seat"),
        ({"posture": "upright"}, "posture"),
        ({"wheelchair": 17.0}, "wheelchair"),
    ]:
        with subtests.test(f"{change}"), refused(field=field):
            Occupant(**({"stature": 1.75, "mass": 75.0} | change))
