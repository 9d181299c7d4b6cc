"""An occupant on a platform: as rigid added mass, and as a tree in an engine."""

import mujoco
import numpy as np
import pytest

import twin
from twin.analysis.platform import Platform
from twin.errors import InputError
from twin.machine.body import check_inertia
from twin.machine.payload.anthropometry import combined, rigid_sum
from twin.machine.payload.occupant import Occupant, Wheelchair, seated_on, with_body

OCCUPANT = Occupant(1.75, 75.0, wheelchair=Wheelchair())


def test_combined_bodies_keep_momentum_and_energy():
    """A rigid motion of the parts has the momentum and energy of the whole."""
    random = np.random.default_rng(4)
    masses, centers = random.uniform(1, 5, 4), random.normal(size=(4, 3))
    tensors = np.array([np.diag(random.uniform(1, 1.5, 3)) for _ in range(4)])
    whole = combined(masses, centers, tensors)
    velocity, omega = random.normal(size=(2, 3))
    speeds = velocity + np.cross(omega, centers)
    momentum = masses @ speeds
    own = velocity + np.cross(omega, whole.center)
    assert momentum == pytest.approx(whole.mass * own, abs=1e-12)
    energy = (masses * (speeds**2).sum(axis=1)).sum() + omega @ tensors.sum(axis=0) @ omega
    expected = whole.mass * own @ own + omega @ whole.inertia @ omega
    assert energy == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("name", twin.machine_names())
def test_seated_on_adds_the_occupant_to_the_platforms_body(name):
    parameters = twin.load(name).parameters
    seated = seated_on(parameters, OCCUPANT)
    before, after = parameters.platform.body, seated.platform.body
    added = rigid_sum(OCCUPANT.segments())
    expected = with_body(before, added)
    assert after.mass == pytest.approx(before.mass + 92.0, rel=1e-14)
    assert after.center_of_mass_vector == pytest.approx(expected.center, abs=1e-14)
    assert after.inertia_tensor == pytest.approx(expected.inertia, abs=1e-12)
    check_inertia(tuple(map(tuple, after.inertia_tensor.tolist())))
    assert "de Leva" in after.source and "wheelchair" in after.source
    assert parameters.platform.body is before
    assert seated.base == parameters.base and seated.legs == parameters.legs


def test_seated_machine_answers_like_one_with_a_second_body(stewart):
    """Newton and Euler: the occupant's share of the forces is that of a body carried along."""
    seated = Platform(seated_on(stewart.parameters, OCCUPANT))
    random = np.random.default_rng(9)
    twist, acceleration = random.normal(size=(2, 6))
    forces = [
        machine.jacobian(machine.home).T
        @ machine.inverse_dynamics(machine.home, twist, acceleration)
        for machine in (seated, stewart)
    ]
    added = rigid_sum(OCCUPANT.segments())
    omega, alpha = twist[3:], acceleration[3:]
    center = acceleration[:3] + np.cross(alpha, added.center)
    center += np.cross(omega, np.cross(omega, added.center))
    center[2] += stewart.parameters.gravity
    push = added.mass * center
    moment = np.cross(added.center, push) + added.inertia @ alpha
    moment += np.cross(omega, added.inertia @ omega)
    assert forces[0] - forces[1] == pytest.approx([*push, *moment], abs=1e-9)


def test_wrong_things_are_refused(stewart):
    wrong = stewart
    with pytest.raises(InputError, match=r"platform\.parameters"):
        seated_on(wrong, OCCUPANT)
    wrong = 75.0
    with pytest.raises(InputError, match="must be an Occupant"):
        seated_on(stewart.parameters, wrong)


def numbers(values):
    return " ".join(f"{value:.17g}" for value in np.ravel(values))


def body_of(segment, children):
    tensor = segment.inertia
    six = [*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]
    joint = ""
    if segment.joint != "fixed":
        joint = (
            f'<joint name="{segment.name}" type="{segment.joint}" axis="{numbers(segment.axis)}" '
            f'stiffness="{segment.stiffness:.17g}" damping="{segment.damping:.17g}" '
            f'springref="{segment.rest:.17g}"/>'
        )
    inside = "".join(body_of(child, children) for child in children.get(segment.name, []))
    return (
        f'<body name="{segment.name}" pos="{numbers(segment.position)}">{joint}'
        f'<inertial mass="{segment.mass:.17g}" pos="{numbers(segment.center)}" '
        f'fullinertia="{numbers(six)}"/>{inside}</body>'
    )


@pytest.fixture(scope="module")
def tree():
    """The occupant's tree on a platform that stands still, in MuJoCo."""
    children = {}
    for segment in OCCUPANT.segments():
        children.setdefault(segment.parent, []).append(segment)
    bodies = "".join(body_of(root, children) for root in children["platform"])
    text = (
        '<mujoco><compiler angle="radian" autolimits="true"/><option gravity="0 0 -9.81"/>'
        f"<worldbody>{bodies}</worldbody></mujoco>"
    )
    return mujoco.MjModel.from_xml_string(text)


def test_the_tree_in_an_engine_is_the_occupant(tree):
    data = mujoco.MjData(tree)
    mujoco.mj_forward(tree, data)
    total = rigid_sum(OCCUPANT.segments())
    assert tree.body_mass.sum() == pytest.approx(total.mass, rel=1e-12)
    assert data.subtree_com[0] == pytest.approx(total.center, abs=1e-12)
    # Composite tensor about the centre: bodies carried to it one by one.
    tensors = [
        frame.reshape(3, 3) @ np.diag(inertia) @ frame.reshape(3, 3).T
        for frame, inertia in zip(data.ximat[1:], tree.body_inertia[1:], strict=True)
    ]
    composite = combined(tree.body_mass[1:], data.xipos[1:], np.array(tensors))
    assert composite.inertia == pytest.approx(total.inertia, abs=1e-10)


def test_the_seated_posture_is_an_equilibrium(tree):
    data = mujoco.MjData(tree)
    mujoco.mj_forward(tree, data)
    assert np.abs(data.qacc).max() < 1e-8
    data.qpos[:] = 0.01
    mujoco.mj_forward(tree, data)
    assert np.abs(data.qacc).max() > 0.1


def test_a_disturbed_occupant_sits_still_again(tree):
    data = mujoco.MjData(tree)
    data.qvel[:] = 0.2
    largest = 0.0
    for _ in range(4000):
        mujoco.mj_step(tree, data)
        largest = max(largest, float(np.abs(data.qpos).max()))
    assert 1e-3 < largest < 0.1
    assert np.abs(data.qpos).max() < 1e-5
