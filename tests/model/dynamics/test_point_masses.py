"""Every kind of leg against Newton's law for a cloud of point masses, see `clouds`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from cauchy import taylor
from clouds import Array
from paths import poses_near
from scales import scale_of
from tolerance import assert_within, max_abs
from turns import turn_of
from unsymmetric import KINDS, machine_without_symmetry
from virtual_motion import free_motion, height_roll_pitch, pillar_motion

import twin
from twin.analysis.platform import Platform

CLOSE = 1e-11
"""Relative to the sum of the terms' sizes: rounding of second derivatives on a circle."""

COUNT = 12

REACH = 0.03
"""How far the machine goes on the circle of times: lengths, or radians."""

MACHINES = [*twin.machine_names(), "hardware", *(f"lopsided {kind}" for kind in KINDS)]
assert len(MACHINES) == 13


class Sample(NamedTuple):
    """A machine in one state, with the accelerations it answers to given forces."""

    platform: Platform
    pose: Array
    twist: Array
    deflection: Array
    forces: Array
    wrench: Array
    answer: Array
    """`(6 + k,)` from forward dynamics"""

    @property
    def radius(self):
        """Of the circle of times [s] for the state's own motion."""
        sizes = np.repeat([scale_of(self.platform).length, 1.0], 3)
        rate, acceleration = np.abs([self.twist, self.answer[:6]] / sizes).max(axis=1)
        return float(REACH * min(1.0 / rate, 1.0 / np.sqrt(acceleration)))

    @property
    def dof(self):
        """Return `(2, degrees of freedom)`: rates and accelerations."""
        if self.platform.kind == "pillar":
            return height_roll_pitch(self.pose, self.twist, self.answer)[1:]
        rates = np.concatenate([self.twist, self.deflection[self.platform.n_deflections :]])
        return np.stack([rates, self.answer])

    def motion(self, rate, acceleration):
        """Return a motion of the degrees of freedom through the state."""
        machine = self.platform.parameters
        if self.platform.kind == "pillar":
            start = height_roll_pitch(self.pose, self.twist, self.answer)[0]
            return pillar_motion(machine, start, rate, acceleration)
        springs = np.zeros(self.platform.n_actuators)
        springs[: self.platform.n_deflections] = self.deflection[: self.platform.n_deflections]
        return free_motion(self.pose, springs, rate, acceleration)

    def follow(self, *names):
        """Yield parts of the cloud along the state's own motion."""
        motion, machine = self.motion(*self.dof), self.platform.parameters
        for name in names:
            yield taylor(lambda time, n=name: getattr(motion(time).cloud(machine), n), self.radius)

    def rates(self, direction, *names):
        """Yield rates of parts of the cloud, or of the place, for dof that move at 1."""
        motion, machine = self.motion(direction, 0.0 * direction), self.platform.parameters
        radius = REACH * scale_of(self.platform).length
        for name in names:

            def part(time, name=name):
                place = motion(time)
                return getattr(place if hasattr(place, name) else place.cloud(machine), name)

            yield taylor(part, radius).rate

    def twist_of(self, direction):
        """Return the twist `(6,)` of degrees of freedom that move at 1."""
        velocity, turning = self.rates(direction, "position", "turn")
        start = turn_of(self.pose).as_matrix()
        spin = turning @ start.T
        return np.concatenate([velocity, [spin[2, 1], spin[0, 2], spin[1, 0]]])

    @property
    def masses(self):
        """Masses `(m,)` of the cloud."""
        start = self.motion(*self.dof)(np.zeros(1))
        return start.cloud(self.platform.parameters).masses


def machine(name):
    if name == "hardware":
        return twin.load("driving_simulator", configuration="hardware")
    first, _, kind = name.partition(" ")
    return Platform(machine_without_symmetry(kind)) if kind else twin.load(first)


@pytest.fixture(scope="module", params=MACHINES)
def samples(request):
    """Random states of a machine of the catalogue, or of one without symmetry."""
    platform = machine(request.param)
    scale, random = scale_of(platform), np.random.default_rng(31)
    k, found = platform.n_deflections, []
    for pose in poses_near(platform, COUNT, 32):
        start = platform.constrain(pose, 0.5 * scale.twist * random.normal(size=6))
        deflection = np.repeat([0.01, 0.01 / scale.time], k) * random.normal(size=2 * k)
        forces = scale.effort * random.normal(size=platform.n_actuators)
        wrench = 0.3 * scale.wrench * random.normal(size=6)
        answer = platform.forward_dynamics(
            start.pose, start.twist, forces, wrench, deflection=deflection
        )
        found.append(Sample(platform, start.pose, start.twist, deflection, forces, wrench, answer))
    return found


def spring_forces(platform, values, rates):
    """Return the forces `(n,)` of the legs' springs and dampers on their coordinates."""
    forces = np.zeros(platform.n_actuators)
    for i, leg in enumerate(platform.parameters.legs):
        if platform.kind == "strut":
            rest = leg.axial.rest_length or platform.home_coordinates[i]
            forces[i] = leg.axial.stiffness * (rest - values[i]) - leg.axial.damping * rates[i]
        elif platform.kind == "viscoelastic":
            forces[i] = -leg.stiffness * values[i] - leg.damping * rates[i]
    return forces


def friction(platform, velocities):
    """Return the forces `(n, 3)` of the floor on the feet that slide."""
    forces = np.zeros((platform.n_actuators, 3))
    for i, leg in enumerate(platform.parameters.legs):
        if platform.kind == "pillar" and leg.friction and leg.fixed_foot != i + 1:
            given, speed = leg.friction, np.linalg.norm(velocities[i])
            drag = given.viscous + given.coulomb / np.hypot(speed, given.transition_speed)
            forces[i] = -drag * velocities[i]
    return forces


@pytest.mark.slow
def test_forward_dynamics(samples):
    """Virtual power of all forces and of the masses' inertia, for each freedom on its own."""
    for sample in samples:
        platform = sample.platform
        points, springs, feet = sample.follow("points", "springs", "feet")
        gravity = np.array([0.0, 0.0, -platform.parameters.gravity])
        inertia = sample.masses[:, None] * (points.acceleration - gravity)
        pull = spring_forces(platform, springs.value, springs.rate)
        drag = friction(platform, feet.rate)
        for direction in np.eye(len(sample.dof[0])):
            names = ("points", "actuators", "springs", "feet")
            moving, driven, sprung, sliding = sample.rates(direction, *names)
            terms = np.concatenate(
                [
                    (moving * inertia).ravel(),
                    -driven * sample.forces,
                    -sprung * pull,
                    -(sliding * drag).ravel(),
                    -sample.twist_of(direction) * sample.wrench,
                ]
            )
            assert abs(terms.sum()) <= CLOSE * np.abs(terms).sum()


@pytest.mark.slow
def test_mass_matrix(samples):
    for sample in samples:
        platform = sample.platform
        mass = platform.mass_matrix(sample.pose, deflection=sample.deflection)
        directions = np.eye(len(sample.dof[0]))
        moving = np.array([next(sample.rates(direction, "points")) for direction in directions])
        twists = np.array([sample.twist_of(direction) for direction in directions])
        expected = np.einsum("aij,i,bij->ab", moving, sample.masses, moving)
        found = twists @ mass @ twists.T
        if platform.n_deflections:
            # The springs' own part is not asked for; there is none between them and the platform.
            assert max_abs(expected[:6, 6:]) <= CLOSE * max_abs(expected)
            expected, found = expected[:6, :6], found[:6, :6]
        assert_within(found, expected, CLOSE * max_abs(expected))


def test_energy_and_dissipation(samples):
    for sample in samples:
        platform = sample.platform
        points, springs, feet = sample.follow("points", "springs", "feet")
        kinetic = 0.5 * sample.masses @ (points.rate**2).sum(axis=1)
        weight = platform.parameters.gravity * sample.masses @ points.value[:, 2]
        # Their force is in proportion to their stretch, and so is that of their dampers.
        none = np.zeros(platform.n_actuators)
        held = spring_forces(platform, springs.value, none)
        slope = spring_forces(platform, none, none) - spring_forces(platform, none + 1.0, none)
        stored = 0.5 * (held**2) @ _inverse(slope)
        damping = held - spring_forces(platform, springs.value, springs.rate)
        lost = damping @ springs.rate - (friction(platform, feet.rate) * feet.rate).sum()
        state = (sample.pose, sample.twist)
        found = platform.energy(*state, deflection=sample.deflection)
        assert found[0] == pytest.approx(kinetic, rel=CLOSE)
        assert found[1] == pytest.approx(weight + stored, abs=CLOSE * (abs(weight) + stored))
        found = platform.dissipation(*state, deflection=sample.deflection)
        # The damping is a difference: rounding of the springs' forces is left in it.
        assert found == pytest.approx(
            lost, rel=CLOSE, abs=CLOSE * np.abs(held * springs.rate).sum()
        )


def _inverse(values):
    return np.divide(1.0, values, out=np.zeros_like(values), where=values != 0.0)


def test_actuator_coordinates(samples):
    for sample in samples:
        (actuators,) = sample.follow("actuators")
        platform = sample.platform
        legs = platform.leg_coordinates(
            sample.pose,
            sample.twist,
            sample.answer[:6],
            deflection=sample.deflection,
            deflection_acceleration=sample.answer[6:],
        )
        column = 0 if platform.kind == "rss" else -1
        values, rates, accelerations = (part[:, column] for part in legs)
        if platform.kind == "upu":  # the slide, and what its screw takes from the twist
            gain = platform.leg.twist_gain
            values, rates, accelerations = (part[:, 2] + gain * part[:, 3] for part in legs)
        found = (values + platform.home_coordinates, rates, accelerations)
        for part, expected in zip(found, actuators, strict=True):
            assert_within(part, expected, CLOSE * max_abs(expected))


def test_the_cloud_holds_all_masses_of_the_machine(samples):
    machine = samples[0].platform.parameters
    expected = machine.platform.body.mass + sum(leg.mass for leg in machine.legs)
    assert samples[0].masses.sum() == pytest.approx(expected, rel=1e-14)  # rounding of the sum
