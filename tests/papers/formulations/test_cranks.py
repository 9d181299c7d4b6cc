"""Legs of cranks and rods in the extended model: kinematics, Lagrange's equations, energy."""

import numpy as np
import pytest
from paths import poses_within_limits
from tolerance import assert_within
from unsymmetric import machine_without_symmetry

import twin
from twin.analysis.platform import Platform
from twin.kernels.jit import interpreted
from twin.papers.formulations.kernels import spaces as extended
from twin.papers.formulations.kernels.arrays import (
    LEG_BIAS,
    LEG_JOINT,
    LEG_RATE,
    LEG_TIP,
    LEG_TIP_BIAS,
    LEG_TIP_RATE,
)
from twin.papers.formulations.kernels.legs.rss import leg_potential
from twin.papers.formulations.kernels.spaces import extended_to_task
from twin.papers.formulations.model import extended_joints, make_work, pack_model

pytestmark = pytest.mark.quick

STEP = 1e-5


@pytest.fixture(scope="module", params=["rss", "lopsided"])
def machine(request):
    """The 6-RSS machine, and one without symmetry."""
    if request.param == "lopsided":
        return Platform(machine_without_symmetry("rss"))
    return twin.load("rss")


class Legs:
    """The legs of the extended model as functions of joint coordinates and rates `(6, 3)`."""

    def __init__(self, machine):
        self.model, self.work = pack_model(machine), make_work()

    def at(self, joints, rates):
        """Return the work arrays, filled."""
        self.work.legs[:, LEG_JOINT : LEG_JOINT + 3] = joints
        self.work.legs[:, LEG_RATE : LEG_RATE + 3] = rates
        interpreted(extended.place_legs)(self.model, self.work)
        interpreted(extended.move_legs)(self.model, self.work)
        return self.work

    def lagrangian(self, joints, rates):
        """Return kinetic less potential energy of each leg `(6,)`."""
        work = self.at(joints, rates)
        kinetic = 0.5 * np.einsum("ij,ijk,ik->i", rates, work.leg_mass, rates)
        gravity = tuple(self.model.body[10:13])
        energy = interpreted(leg_potential)
        return kinetic - [energy(self.model.legs.rows, work, i, gravity) for i in range(6)]


def state_of(machine):
    """Return a pose, a twist, and joint coordinates and rates there."""
    pose = poses_within_limits(machine, 1, 5)[0]
    twist = np.array([0.3, -0.2, 0.4, 0.5, -0.4, 0.3])
    legs = machine.leg_coordinates(pose, twist)
    joints = extended_joints(machine, legs.values)
    joints[:, 2] += machine.home_coordinates
    return pose, twist, joints, extended_joints(machine, legs.rates)


def test_tips_are_at_the_platform_joints(machine):
    pose, twist, joints, rates = state_of(machine)
    legs = Legs(machine)
    work = legs.at(joints, rates)
    work.platform[:7], work.platform[7:13] = pose, twist
    interpreted(extended.move_platform)(legs.model, work)
    arms = work.legs[:, 29:32]
    assert_within(work.legs[:, LEG_TIP : LEG_TIP + 3], pose[:3] + arms, 1e-14)
    moving = twist[:3] + np.cross(twist[3:], arms)
    assert_within(work.legs[:, LEG_TIP_RATE : LEG_TIP_RATE + 3], moving, 1e-14)
    # Joints in closed form are those of the ordinary kinematics.
    assert interpreted(extended.joints_from_pose)(legs.model, work)
    apart = work.legs[:, LEG_JOINT : LEG_JOINT + 3] - joints
    assert_within(np.sin(0.5 * apart), 0.0, 1e-13)  # up to whole turns


def test_tip_map_and_bias_are_derivatives_of_the_tip(machine):
    _, _, joints, rates = state_of(machine)
    legs = Legs(machine)

    def column(vector, shift, swing):
        return legs.at(joints + shift, rates + swing).legs[:, vector : vector + 3].copy()

    work = legs.at(joints, rates)
    columns, bias = work.tip_columns.copy(), work.legs[:, LEG_TIP_BIAS : LEG_TIP_BIAS + 3].copy()
    inverse = work.tip_inverses.copy()
    for k in range(3):
        step = np.zeros((6, 3))
        step[:, k] = STEP
        change = (column(LEG_TIP, step, 0.0 * step) - column(LEG_TIP, -step, 0.0 * step)) / (
            2.0 * STEP
        )
        assert_within(columns[:, k], change, 1e-9)
    along = (
        column(LEG_TIP_RATE, STEP * rates, 0.0 * rates) - column(LEG_TIP_RATE, -STEP * rates, 0.0)
    ) / (2.0 * STEP)
    assert_within(bias, along, 1e-8)
    product = np.einsum("iab,icb->iac", inverse, columns)
    assert_within(product, np.broadcast_to(np.eye(3), (6, 3, 3)), 1e-13)


def test_legs_obey_lagrange(machine):
    """M and h follow from the energies: d/dt (dL/dq') - dL/dq at zero second rates is h."""
    _, _, joints, rates = state_of(machine)
    legs = Legs(machine)
    bias = legs.at(joints, rates).legs[:, LEG_BIAS : LEG_BIAS + 3].copy()
    for k in range(3):
        step = np.zeros((6, 3))
        step[:, k] = STEP

        def momentum(at, k=k):
            mass = legs.at(at, rates).leg_mass
            return np.asarray(np.einsum("ij,ij->i", mass[:, k], rates))

        rising = (momentum(joints + STEP * rates) - momentum(joints - STEP * rates)) / (2.0 * STEP)
        pull = (legs.lagrangian(joints + step, rates) - legs.lagrangian(joints - step, rates)) / (
            2.0 * STEP
        )
        assert_within(rising - pull, bias[:, k], 1e-8)


def test_kinetic_energy_is_that_of_the_bodies(machine):
    """Simpson's rule is exact for the square of a velocity that is linear along a slender rod."""
    _, _, joints, rates = state_of(machine)
    legs = Legs(machine)
    mass = legs.at(joints, rates).leg_mass
    found = 0.5 * np.einsum("ij,ijk,ik->i", rates, mass, rates)
    for i, leg in enumerate(machine.parameters.legs):
        turning = legs.work.tip_columns[i, 2] * rates[i, 2]
        tip = legs.work.legs[i, LEG_TIP_RATE : LEG_TIP_RATE + 3]
        points = (turning, 0.5 * (turning + tip), tip)
        rod = sum(w * v @ v for w, v in zip((1, 4, 1), points, strict=True)) / 12.0
        crank = leg.crank
        inertia = crank.inertia_tensor[0, 0] + crank.mass * crank.center_of_mass_vector[2] ** 2
        inertia += crank.mass * crank.center_of_mass_vector[1] ** 2
        expected = leg.rod_mass * rod + 0.5 * inertia * rates[i, 2] ** 2
        assert found[i] == pytest.approx(expected, rel=1e-12)


def test_forward_dynamics_is_that_of_the_reference(machine):
    pose, twist, _, _ = state_of(machine)
    forces = np.array([120.0, -80.0, 60.0, 200.0, -150.0, 90.0])
    model, work, found = pack_model(machine), make_work(), np.empty(6)
    state = np.concatenate([pose, twist])
    assert interpreted(extended_to_task)(model, state, forces, found, work)
    expected = machine.forward_dynamics(pose, twist, forces)
    assert_within(found, expected, 1e-12 * np.abs(expected).max())
