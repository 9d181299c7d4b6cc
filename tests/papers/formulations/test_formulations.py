"""The five formulations: one motion, loop closure, energy, singular poses, bad input."""

import pickle

import numpy as np
import pytest
from fields import LEANING, in_field
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from paths import poses_within_limits
from redundant import redundant_machine
from refusals import refused
from scales import scale_of
from tolerance import assert_within, max_abs
from unsymmetric import machine_without_symmetry

import twin
from twin.analysis.platform import Platform
from twin.errors import IntegrationError, SingularPoseError, TwinError
from twin.papers.formulations import Formulation, formulation_names
from twin.papers.formulations.model import extended_joints

NAMES = formulation_names()
assert len(NAMES) == 5
TRACKING = ["actuator", "extended_to_actuator"]
PASSING = [name for name in NAMES if name not in TRACKING]

SINGULAR_TIME = 0.48754751
"""[s] at which the determinant of the Jacobian first vanishes in the benchmark's fall."""


@pytest.fixture(scope="module")
def falls(srspm):
    """The benchmark's fall, as far as each formulation carries it."""
    runs = {}
    for name in NAMES:
        try:
            runs[name] = Formulation(srspm, name).integrate(1.0)
        except IntegrationError as error:
            runs[name] = error.data["run"]
    return runs


CRANKS = [pytest.param(name, marks=pytest.mark.slow) for name in ("rss", "lopsided_cranks")]


@pytest.fixture(scope="module", params=["srspm", "stewart", "lopsided", *CRANKS])
def machine(request):
    """Every machine on six UPS or RSS legs, and one of both kinds without symmetry."""
    if request.param.startswith("lopsided"):
        return Platform(machine_without_symmetry("rss" if "cranks" in request.param else "ups"))
    return twin.load(request.param)


@pytest.mark.parametrize("name", NAMES)
def test_accelerations_agree_with_the_reference(machine, name):
    """Under gravity that leans, too."""
    machine = in_field(machine, LEANING)
    formulation = Formulation(machine, name)
    scale, random = scale_of(machine), np.random.default_rng(92)
    poses = poses_within_limits(machine, 60, 93)
    twists = 0.3 * scale.twist * random.normal(size=(60, 6))
    forces = 0.5 * scale.effort * random.normal(size=(60, 6))
    accelerations = machine.forward_dynamics(poses, twists, forces)
    legs = machine.leg_coordinates(poses, twists, accelerations)
    joints = extended_joints(machine, legs.accelerations)
    for k in range(60):
        y = formulation.state_from(poses[k], twists[k])
        dy = formulation.derivative(y, forces[k], guess=poses[k])
        assert dy.shape == y.shape == (formulation.size,)
        wanted = joints[k, :, 2]
        if name.endswith("task"):
            wanted = accelerations[k]
        elif name == "configuration":
            wanted = joints[k].ravel()
        # The limit for two independent derivations; inverse matrices cost a few digits.
        assert_within(dy[-len(wanted) :], wanted, 1e-9 * max_abs(wanted))


def test_other_machines_are_refused():
    others = [twin.load(other) for other in twin.machine_names()]
    others = [platform for platform in others if platform.kind not in ("ups", "rss")]
    assert len(others) == 3
    for platform in [*others, redundant_machine(7)]:
        with refused("6 legs of kind 'ups' or 'rss'"):
            Formulation(platform, "task")


@pytest.mark.parametrize("name", TRACKING)
def test_actuator_spaces_stop_at_the_singular_pose(srspm, name):
    with pytest.raises(IntegrationError, match="singular pose") as caught:
        Formulation(srspm, name).integrate(1.0)
    data = pickle.loads(pickle.dumps(caught.value)).data
    assert data["formulation"] == name
    assert data["reason"] == "singular pose"
    assert data["run"].time[-1] == pytest.approx(0.48, abs=1e-12)  # the paper's table 6
    assert len(data["run"]) == 49
    assert np.isfinite([*data["pose"], *data["twist"]]).all()
    # Up to the last step that could be tried.
    assert SINGULAR_TIME - 1e-5 < data["time"] <= SINGULAR_TIME
    assert data["condition_number"] > 1e4


@pytest.mark.parametrize("name", PASSING)
def test_others_pass_the_singular_pose(srspm, falls, name):
    run = falls[name]
    # Printed with seven digits.
    assert run.pose[-1, 0] == pytest.approx(5.068193e-3, abs=5.1e-10)
    assert run.pose[-1, 2] == pytest.approx(-2.133568, abs=5.1e-7)
    signs = np.sign(np.linalg.det(srspm.jacobian(run.pose)))
    assert np.flatnonzero(np.diff(signs)).tolist() == [48], "passed between 0.48 and 0.49 s"
    assert (np.diff(run.pose[:, 2])[1:] < 0.0).all(), "it turned back"


def test_loop_closure_of_the_configuration_space_is_as_good_as_the_integration(srspm):
    coarse, fine = (
        Formulation(srspm, "configuration").integrate(0.4, 0.4, tolerance=t) for t in (1e-6, 1e-9)
    )
    for error in ("e1", "e2"):
        large, small = (vars(run)[error].max() for run in (coarse, fine))
        assert large > 1e-9, "the measure shows nothing"
        assert large > 50.0 * small
    # Accelerations fulfil the constraints at any state.
    assert (coarse.e3 <= 10.0 * coarse.resolution[:, 2]).all()


def test_energy_is_that_of_the_platform(srspm, falls):
    for run in falls.values():
        kinetic, potential = srspm.energy(run.pose, run.twist)
        # The configuration space drifts off the closed loops by 1e-13 m and 1e-12 m/s.
        assert_allclose(run.kinetic, kinetic, rtol=1e-11, atol=1e-12)
        assert_allclose(run.potential, potential, rtol=1e-12, atol=1e-10)
        assert np.ptp(run.kinetic) > 10.0, "nothing moves: the test shows nothing"


def test_configuration_is_that_of_the_platform(srspm, falls):
    for run in falls.values():
        legs = srspm.leg_coordinates(run.pose, run.twist, run.acceleration)
        lengths = run.configuration.reshape(-1, 6, 3)[..., 2] - srspm.home_coordinates
        assert_within(lengths, legs.values[..., 2], 1e-12)
        angles = run.configuration.reshape(-1, 6, 3)[..., :2] - legs.values[..., :2]
        assert_within(np.sin(angles), 0.0, 1e-12)
        rates = run.rates.reshape(-1, 6, 3)
        assert_within(rates, legs.rates, 1e-10)
        second = run.accelerations.reshape(-1, 6, 3)[..., 2]
        assert_allclose(second, legs.accelerations[..., 2], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", TRACKING)
def test_singular_state_and_lost_track_are_errors(srspm, name):
    formulation = Formulation(srspm, name)
    flat = [0.0, 0.0, 0.0, *srspm.home[3:]]
    with pytest.raises(SingularPoseError) as caught:
        formulation.derivative(formulation.state_from(flat), guess=flat)
    assert caught.value.data["formulation"] == name
    short = formulation.state_from()
    short[:6] = 0.1
    with pytest.raises(SingularPoseError):
        formulation.derivative(short)


def test_leg_along_its_first_axis_is_an_error(srspm):
    along = srspm.base_joints[0] + [0.0, 1.0, 0.0] - srspm.platform_joints[0]
    for name in NAMES:
        with pytest.raises(TwinError):
            formulation = Formulation(srspm, name)
            formulation.derivative(formulation.state_from([*along, 1.0, 0.0, 0.0, 0.0]))


JUNK = st.sampled_from(
    [None, "", "1", -1.0, 0.0, np.nan, np.inf, 1e300, [], {}, object(), [1.0] * 5, [np.nan] * 7]
)


@given(value=JUNK, name=st.sampled_from(NAMES))
def test_bad_input_is_a_twin_error(value, name):
    machine = twin.load("srspm")
    formulation = Formulation(machine, name)
    for call in (
        lambda: Formulation(value, name),
        lambda: Formulation(machine, value),
        lambda: formulation.derivative(value),
        lambda: formulation.integrate(value),
    ):
        with pytest.raises(TwinError):
            call()
    for option in ("timestep", "pose", "twist", "forces", "tolerance"):
        try:
            run = formulation.integrate(**{"duration": 0.01, option: value})
        except TwinError:
            continue
        assert np.isfinite(run.pose).all()


def test_a_singular_start_is_told_as_such(stewart):
    with pytest.raises(IntegrationError, match="singular"):
        Formulation(stewart, "actuator").integrate(0.1, 0.01, pose=[0, 0, 0, 1, 0, 0, 0])


def test_step_must_divide_the_duration(srspm):
    with refused("divide"):
        Formulation(srspm, "task").integrate(0.05, 0.02)
