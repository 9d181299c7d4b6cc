"""What a task asks of the motors: balances of work, limits, payloads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within, max_abs

import twin
from twin.analysis.feasibility.actuators import (
    motor_requirement,
    payload_sweep,
)
from twin.analysis.feasibility.feasibility import feasibility
from twin.analysis.payload.body import Payload
from twin.analysis.platform import Platform
from twin.analysis.stiffness import holding_forces, springs_of
from twin.machine import MachineParameters
from twin.model.integrate import static_deflection
from twin.model.machine_base import ZERO_VECTOR
from twin.motion import StepMotion

MACHINES = [name for name in twin.machine_names() if not twin.load(name).n_deflections]
assert len(MACHINES) > 2


def task(machine):
    """Return a heave and tilt of some hundredths of the machine's size, from rest to rest."""
    size = float(machine.home_reaches.mean())
    displacement = {"z": 0.03 * size, "pitch": 0.02, "roll": 0.03}
    convention = "yaw_pitch_roll" if machine.dof == 6 else "roll_pitch"
    return StepMotion(
        machine.home, displacement=displacement, rise=0.5, duration=0.6, convention=convention
    )


@pytest.mark.quick
def test_legs_have_the_peaks_of_their_profiles(stewart):
    found = motor_requirement(stewart, task(stewart))
    assert [leg.leg for leg in found.legs] == [1, 2, 3, 4, 5, 6]
    for i, leg in enumerate(found.legs):
        for name, values in (("force", found.forces), ("speed", found.rates)):
            value, row = getattr(leg, f"peak_{name}"), getattr(leg, f"peak_{name}_row")
            assert value == values[row, i]
            assert abs(value) == pytest.approx(max_abs(values[:, i]))
        assert leg.rms_force == found.rms_forces[i]
        returned = np.trapezoid(np.minimum(found.power[:, i], 0.0), found.time)
        work = np.trapezoid(found.power[:, i], found.time)
        assert leg.energy + returned == pytest.approx(work)


@pytest.mark.quick
def test_a_verdict_says_what_is_required_without_any_limit(stewart):
    content = stewart.parameters.model_dump()
    for name in ("force", "speed"):
        content["leg"]["actuator"][name] = None
    machine = Platform(MachineParameters.model_validate(content))
    moving = feasibility(machine, task(machine))
    assert "force" in " ".join(moving.not_given)
    assert_allclose(
        [leg.peak_force for leg in moving.required],
        [leg.peak_force for leg in motor_requirement(stewart, task(stewart)).legs],
    )
    resting = feasibility(machine)
    assert resting.places == ("home",)
    forces = stewart.inverse_dynamics(stewart.home, ZERO_VECTOR, ZERO_VECTOR)
    assert_allclose([leg.peak_force for leg in resting.required], forces)


@pytest.mark.every_kind
@pytest.mark.parametrize("name", MACHINES)
def test_work_is_the_gain_in_energy(name):
    machine = twin.load(name)
    motion = task(machine)
    found = motor_requirement(machine, motion, samples=6001)
    work = np.trapezoid(found.power.sum(axis=1), found.time)
    pose = machine.constrain(motion([0.0, motion.duration]).pose).pose
    energy = machine.energy(pose, ZERO_VECTOR)[1]
    if machine.kind == "strut":  # the springs' own energy is not the motors'
        springs = springs_of(machine)
        stretch = springs.rest - machine.inverse_kinematics(pose)
        energy = energy - 0.5 * stretch**2 @ springs.stiffness
    gain = energy[1] - energy[0]
    assert gain > 0.1
    assert work == pytest.approx(gain, rel=1e-6)


@pytest.mark.every_kind
@pytest.mark.parametrize("name", MACHINES)
def test_profiles_are_those_of_the_machine(name):
    machine = twin.load(name)
    motion = task(machine)
    found = motor_requirement(machine, motion, samples=2001)
    slopes = np.gradient(found.coordinates, found.time, axis=0)[1:-1]
    close = 1e-4 * max_abs(slopes)
    assert_within(found.rates[1:-1], slopes, close)
    if machine.dof == 6:
        held = holding_forces(machine, motion(0.0).pose)
        assert_allclose(found.forces[0], held, rtol=1e-9, atol=1e-7)
    for peak, values in (
        (found.peak_force, found.forces),
        (found.peak_speed, found.rates),
        (found.peak_power, found.power),
    ):
        assert abs(peak.value) == pytest.approx(max_abs(values), rel=1e-8)
        assert peak.value == values[np.searchsorted(found.time, peak.time), peak.leg - 1]
    assert found.lowest_force == found.forces.min()


def test_wrench_is_carried(stewart):
    load = [0.0, 0.0, -500.0, 10.0, 0.0, 0.0]
    motion = task(stewart)
    plain, loaded = (motor_requirement(stewart, motion, wrench=w) for w in (None, load))
    jacobian = stewart.jacobian(motion(plain.time).pose)
    added = np.einsum("kij,ki->kj", jacobian, loaded.forces - plain.forces)
    assert_within(added, np.tile(np.negative(load), (1001, 1)), 1e-9)


@pytest.mark.parametrize("name", [name for name in MACHINES if twin.load(name).dof == 6])
def test_forces_are_linear_in_the_payload(name):
    machine = twin.load(name)
    payloads = [None, *(Payload(mass, [0.02, 0.01, 0.05]) for mass in (5.0, 20.0))]
    none, light, heavy = payload_sweep(machine, task(machine), payloads, samples=101)
    gain = light.forces - none.forces
    assert max_abs(gain) > 1.0
    size = max_abs(none.forces) + max_abs(heavy.forces)
    assert_within(heavy.forces - none.forces, 4.0 * gain, 1e-10 * size)
    assert_array_equal(heavy.rates, none.rates)


def test_springs_inside_the_legs_follow_without_oscillating():
    """Slow motions work against gravity alone: the springs give back what they take."""
    machine = twin.load("compliant_stewart")
    motion = StepMotion(machine.home, displacement={"z": 0.05}, rise=20.0, duration=20.0)
    found = motor_requirement(machine, motion)
    k = machine.n_deflections
    inside = static_deflection(machine, motion([0.0, 20.0]).pose, ZERO_VECTOR, ZERO_VECTOR)
    yields = machine.inverse_kinematics(motion([0.0, 20.0]).pose) - found.coordinates[[0, -1]]
    assert_within(yields, inside[:, :k], 1e-9)
    gain = np.diff(machine.energy(motion([0.0, 20.0]).pose, ZERO_VECTOR, deflection=inside)[1])[0]
    work = np.trapezoid(found.power.sum(axis=1), found.time)
    # Speeds of 5 mm/s: damping and inertia are a thousandth of the weight's work.
    assert work == pytest.approx(gain, rel=1e-3)


def test_pillars_take_their_own_angles_only():
    machine = twin.load("driving_simulator")
    motion = StepMotion(machine.home, displacement={"yaw": 0.1}, rise=0.5, duration=0.5)
    with refused("roll_pitch"):
        motor_requirement(machine, motion)


def test_bad_arguments(stewart):
    with refused("motion"):
        motor_requirement(stewart, "up")
    for samples in (1, 2.0, True):
        with refused("samples"):
            motor_requirement(stewart, task(stewart), samples=samples)
    for payloads in ([], None, [5.0]):
        with refused("payload"):
            payload_sweep(stewart, task(stewart), payloads)


def test_the_first_of_equal_legs_is_named():
    machine = twin.load("rss")
    motion = StepMotion(machine.home, displacement={"z": 0.02}, rise=0.3, duration=0.3)
    found = motor_requirement(machine, motion)
    assert found.peak_force.leg == found.peak_speed.leg == found.peak_power.leg == 1
