"""Stiff springs: the machine tends to the rigid one, with an error of order 1 / k."""

from dataclasses import replace

import numpy as np
import pytest
from compliant_held import held_equilibrium
from scipy.spatial.transform import Rotation
from tolerance import max_abs

from twin.analysis.platform import Platform
from twin.machine.machine import MachineParameters
from twin.papers.compliant_legs.equations import solve_free, solve_locked
from twin.papers.compliant_legs.machine import leg_state
from twin.papers.compliant_legs.rest import locked_equilibrium, locked_linearisation

STIFFNESSES = (1e6, 1e7, 1e8)
"""[N/m] For each of them the error must be ten times that of the next."""


def rigid_machine(machine):
    """Return the machine with relaxed, locked springs as rigid legs of the `ups` kind.

    m1 and m2 are one rigid housing, m3 is the rod; what no point mass has, a moment about the leg,
    is too small to be seen.
    """
    legs = {name: getattr(machine, name)[0] for name in ("spring_mass", "housing_mass")}
    m1, m2 = legs.values()
    middle, end = machine.spring_length[0] / 2, machine.spring_length[0] + machine.housing_length[0]
    center = (m1 * middle + m2 * end) / (m1 + m2)
    transverse = m1 * (middle - center) ** 2 + m2 * (end - center) ** 2
    home = np.linalg.norm(machine.home[:3] + machine.platform_joints - machine.base_joints, axis=1)

    def body(mass, place, inertia):
        tensor = [inertia, inertia, 1e-12]
        return {"source": "Test", "kind": "rigid", "mass": mass, "inertia": tensor} | {
            "center_of_mass": [0.0, 0.0, place]
        }

    return Platform(
        MachineParameters.model_validate(
            {
                "source": "Test",
                "name": "rigid",
                "title": "The compliant machine with rigid legs",
                "gravity": machine.gravity,
                "base": {
                    "source": "Test",
                    "joints": {"source": "Test", "coordinates": machine.base_joints.tolist()},
                },
                "platform": {
                    "source": "Test",
                    "joints": {"source": "Test", "coordinates": machine.platform_joints.tolist()},
                    "body": {
                        "source": "Test",
                        "kind": "rigid",
                        "mass": machine.platform_mass,
                        "center_of_mass": machine.platform_center.tolist(),
                        "inertia": machine.platform_inertia.tolist(),
                    },
                },
                "home": {"source": "Test", "position": machine.home[:3].tolist()},
                "leg": {
                    "source": "Test",
                    "kind": "ups",
                    "first_axis": "horizontal",
                    "housing": body(m1 + m2, center, transverse),
                    "rod": body(machine.follower_mass[0], -machine.follower_length[0], 1e-12),
                    "actuator": {
                        "source": "Test",
                        "minimum": 0.5 * home.min(),
                        "maximum": 2.0 * home.max(),
                    },
                },
            }
        )
    )


@pytest.fixture(scope="module")
def rigid(shipped):
    """The shipped machine without compliance."""
    return rigid_machine(shipped)


def with_stiffness(machine, stiffness):
    # Damping grows with the root of the stiffness: the damping ratio stays.
    factor = stiffness / machine.stiffness
    return replace(
        machine,
        stiffness=machine.stiffness * factor,
        damping=machine.damping * np.sqrt(factor),
    )


def is_first_order(errors):
    ratios = np.array(errors[:-1]) / errors[1:]
    return bool((np.abs(ratios - 10.0) < 0.5).all())


def test_relaxed_springs_leave_the_platform_its_rigid_acceleration(shipped, rigid):
    """Forces reach the platform through m3 only: what the spring does meanwhile is not felt."""
    random = np.random.default_rng(11)
    for _ in range(10):
        turn = Rotation.from_rotvec(random.uniform(-0.2, 0.2, 3)).as_quat(scalar_first=True)
        pose = np.concatenate([shipped.home[:3] + random.uniform(-0.05, 0.05, 3), turn])
        twist, forces = random.normal(size=6), random.normal(size=6) * 200.0
        wrench = random.normal(size=6) * 50.0
        # A rigid leg does not deflect: zero rates, and any acceleration of the spring.
        ours = solve_free(shipped, pose, twist, None, forces, wrench)
        expected = rigid.forward_dynamics(pose, twist, forces, wrench)
        assert ours.acceleration == pytest.approx(expected, abs=1e-9)


def quasi_static(machine, pose, twist, forces):
    """Return the deflections at which springs do not accelerate, rates left out."""
    pushed = solve_free(machine, pose, twist, None, forces).deflection_acceleration
    deflection = pushed * machine.deflecting_mass / machine.stiffness
    return np.concatenate([deflection, np.zeros(machine.n_legs)])


def test_accelerations_tend_to_the_rigid_machine(shipped, rigid):
    random = np.random.default_rng(12)
    twist, forces = random.normal(size=6), random.normal(size=6) * 200.0
    expected = rigid.forward_dynamics(shipped.home, twist, forces)
    errors = []
    for stiffness in STIFFNESSES:
        machine = with_stiffness(shipped, stiffness)
        deflection = quasi_static(machine, machine.home, twist, forces)
        found = solve_free(machine, machine.home, twist, deflection, forces)
        errors.append(float(max_abs(found.acceleration - expected)))
    assert is_first_order(errors)
    assert errors[-1] < 1e-4


def test_locked_machine_tends_to_a_structure(shipped, rigid):
    """It stays where it is, with the actuator forces of the rigid machine at rest."""
    expected = rigid.inverse_dynamics(rigid.home, np.zeros(6), np.zeros(6))
    sags, errors = [], []
    for stiffness in STIFFNESSES:
        machine = with_stiffness(shipped, stiffness)
        at = locked_equilibrium(machine, machine.home_extension)
        sags.append(float(max_abs(at.pose - machine.home)))
        errors.append(float(max_abs(at.forces - expected)))
    assert is_first_order(sags)
    assert is_first_order(errors)
    held = held_equilibrium(with_stiffness(shipped, 1e12), shipped.home)
    assert held.forces == pytest.approx(expected, abs=1e-6)


def test_locked_forces_are_those_of_the_rigid_inverse_dynamics(shipped, rigid):
    """Given an acceleration, the forces through a leg do not know how stiff its spring is."""
    random = np.random.default_rng(13)
    twist, wrench = random.normal(size=6) * 0.3, random.normal(size=6) * 50.0
    for stiffness in STIFFNESSES:
        machine = with_stiffness(shipped, stiffness)
        locked = solve_locked(machine, machine.home, twist, None, wrench)
        # With relaxed springs at zero rate the same platform acceleration needs the same forces.
        expected = rigid.inverse_dynamics(rigid.home, twist, locked.acceleration, wrench)
        assert locked.forces == pytest.approx(expected, abs=1e-8)


def test_stiffness_without_preload_is_that_of_the_springs(machine):
    weightless = replace(machine, gravity=0.0)
    at = locked_equilibrium(weightless, weightless.home_extension)
    assert max_abs(at.deflection) < 1e-14
    legs = leg_state(weightless, at.pose[None], np.zeros((1, 6)), np.zeros((1, 2 * machine.n_legs)))
    jacobian = np.hstack([legs.direction[0], np.cross(legs.arm[0], legs.direction[0])])
    expected = jacobian.T @ np.diag(machine.stiffness) @ jacobian
    found = locked_linearisation(weightless, at).stiffness
    assert found == pytest.approx(expected, abs=1e-9 * max_abs(expected))


def test_preload_stiffness_does_not_depend_on_the_springs(shipped):
    """What gravity adds at a fixed pose is that of the forces there, whatever the springs are."""
    added = []
    for stiffness in (1e6, 1e7, 1e8):
        machine = with_stiffness(shipped, stiffness)
        at = held_equilibrium(machine, machine.home)
        legs = leg_state(machine, at.pose[None], np.zeros((1, 6)), np.zeros((1, 12)))
        jacobian = np.hstack([legs.direction[0], np.cross(legs.arm[0], legs.direction[0])])
        springs = jacobian.T @ np.diag(machine.stiffness) @ jacobian
        added.append(locked_linearisation(machine, at).stiffness - springs)
    # Only the place of the masses follows the deflections, which vanish as 1 / k.
    assert max_abs(added[0]) > 100.0
    distances = [float(max_abs(one - added[-1])) for one in added[:-1]]
    assert distances[1] < 0.2 * distances[0] < 0.1 * max_abs(added[-1])
