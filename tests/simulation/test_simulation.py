"""The stepping loop: forces of every kind, thinning, progress, and stops that replay."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tolerance import assert_within

import twin
from twin.engines import make_engine
from twin.errors import ClosedEngineError, SimulationStoppedError
from twin.model.integrate import integrate
from twin.simulation.simulate import Trajectory

pytestmark = pytest.mark.quick

TWIST = [0.05, 0.0, 0.1, 0.0, 0.2, 0.0]


def start_twist(platform):
    """Return a twist that the machine can have at home; slow where stiff struts answer it."""
    slow = 1e-3 if platform.kind == "strut" else 1.0
    return platform.constrain(platform.home, slow * np.array(TWIST)).twist


def step_of(platform):
    """Return a time step [s] that resolves the machine's fastest mode."""
    return 1e-4 if platform.kind == "strut" else 1e-3


def assert_same(found, expected):
    """Assert that two motions are equal bit for bit."""
    for name in ("time", "pose", "twist", "lengths", "rates", "forces", "deflection"):
        assert_array_equal(getattr(found, name), getattr(expected, name))


def test_shape_and_start(platform):
    twist, step = start_twist(platform), 2.0 * step_of(platform)
    motion = platform.simulate(10 * step, twist=twist, timestep=step)
    assert motion.pose.shape == (11, 7)
    assert_array_equal(motion.pose[0], platform.home)
    assert_array_equal(motion.twist[0], twist)
    assert_allclose(motion.time, step * np.arange(11), rtol=1e-15)
    # A pose handed in is normalised once more: rounding.
    lengths = platform.inverse_kinematics(motion.pose)
    if platform.n_deflections:
        assert motion.deflection.shape == (11, 2 * platform.n_deflections)
        assert motion.deflection[-1, 0] != 0.0
    assert_within(motion.lengths, lengths, 1e-15)
    rates = np.einsum("kij,kj->ki", platform.jacobian(motion.pose), motion.twist)
    assert_within(motion.rates, rates, 1e-15)


@pytest.mark.slow
def test_fast_fidelity_is_one_runge_kutta_step(platform):
    twist, step = start_twist(platform), step_of(platform)
    motion = platform.simulate(50 * step, twist=twist, fidelity="fast", timestep=step)
    solution = integrate(platform, 50 * step, twist=twist, method="rk4", timestep=step)
    # The same arithmetic; 0.05 / 50 and 1e-3 may differ in the last digit.
    assert_within(motion.pose, solution.pose, 1e-14)
    assert motion.fidelity == "fast"


def test_constant_array_and_function_agree(platform):
    constant = np.linspace(50.0, 100.0, platform.n_actuators)
    arguments = {"twist": start_twist(platform), "timestep": 1e-3}
    expected = platform.simulate(0.01, forces=constant, **arguments)
    assert_same(platform.simulate(0.01, forces=np.tile(constant, (10, 1)), **arguments), expected)
    assert_same(platform.simulate(0.01, forces=lambda t, s: constant, **arguments), expected)
    assert_same(platform.simulate(0.01, forces=constant.tolist(), **arguments), expected)


def test_function_sees_time_and_state(platform):
    seen = []

    def forces(time, state):
        seen.append((time, state))
        return 10.0 * state.rates

    motion = platform.simulate(0.01, twist=start_twist(platform), forces=forces)
    assert len(seen) == 10
    assert_array_equal([time for time, _ in seen], motion.time[:-1])
    assert_array_equal([state.pose for _, state in seen], motion.pose[:-1])
    assert_array_equal(motion.forces[:-1], 10.0 * motion.rates[:-1])
    assert_array_equal(motion.forces[-1], motion.forces[-2])


def test_function_may_reuse_its_array(stewart):
    buffer = np.empty(6)

    def forces(time, state):
        buffer[:] = 1e3 * time
        return buffer

    motion = stewart.simulate(0.01, forces=forces)
    assert_array_equal(motion.forces[:-1, 0], 1e3 * motion.time[:-1])


def test_functions_with_other_arguments_are_refused(stewart):
    with refused(r"forces\(time, state\)"):
        stewart.simulate(0.01, forces=lambda time: [0.0] * 6)


def test_thinning_keeps_every_so_many_steps(platform):
    twist = start_twist(platform)
    forces = np.random.default_rng(3).normal(size=(10, platform.n_actuators)) * 50.0
    full = platform.simulate(0.01, twist=twist, forces=forces)
    for every in (2, 10):
        thin = platform.simulate(0.01, twist=twist, forces=forces, every=every)
        assert_array_equal(thin.time, full.time[::every])
        assert_array_equal(thin.pose, full.pose[::every])
        assert_array_equal(thin.forces[:-1], forces[::every])


def test_given_engine_stays_open_and_keeps_its_step(stewart):
    engine = make_engine("analytic", stewart, timestep=2e-3, fidelity="fast")
    motion = stewart.simulate(0.02, twist=TWIST, engine=engine, timestep=1e-5)
    assert motion.timestep == 2e-3
    assert len(motion) == 11
    assert_array_equal(engine.state.pose, motion.pose[-1])
    assert_same(twin.simulate(stewart, 0.02, twist=TWIST, engine=engine), motion)
    engine.close()
    with pytest.raises(ClosedEngineError):
        engine.step(np.zeros(6))


def test_engine_of_another_machine_is_refused(stewart, srspm):
    with refused("engine"):
        srspm.simulate(0.01, engine=make_engine("analytic", stewart))


def test_loaded_motion_can_be_continued(platform, tmp_path):
    twist = start_twist(platform)
    whole = platform.simulate(0.02, twist=twist)
    half = Trajectory.load(platform.simulate(0.01, twist=twist).save(tmp_path / "half.npz"))
    state = {"pose": half.pose[-1], "twist": half.twist[-1], "deflection": half.deflection[-1]}
    rest = platform.simulate(0.01, **state)
    # A pose handed in is normalised once more: rounding of the quaternion, which springs answer.
    assert_within(rest.pose[-1], whole.pose[-1], 2e-15)


def test_progress_appears_only_when_asked_or_slow(stewart, capsys, constants):
    expected = stewart.simulate(0.2, progress=False)
    assert capsys.readouterr() == ("", "")
    assert_same(stewart.simulate(0.2), expected)
    assert capsys.readouterr() == ("", "")
    assert_same(stewart.simulate(0.2, progress=True), expected)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "stewart in analytic" in shown.err
    assert "100%" in shown.err
    from twin.basics import progress

    constants(progress, DELAY_OF_BAR=0.0)
    assert_same(stewart.simulate(0.2), expected)
    assert capsys.readouterr() == ("", ""), "a log file is no terminal"


def test_bad_arguments_name_their_field(stewart):
    for field, arguments in (
        ("duration", {"duration": 0.0105}),
        ("duration", {"duration": 1e300}),
        ("timestep", {"timestep": 0.0}),
        ("wrench", {"wrench": np.zeros(7)}),
        ("forces", {"forces": np.zeros((9, 6))}),
        ("forces", {"forces": "full"}),
        ("forces(time, state)", {"forces": lambda t, s: np.full(6, np.nan)}),
        ("every", {"every": 3}),
        ("colour", {"colour": "red"}),
        ("largest_gap", {"largest_gap": "wide"}),
    ):
        with refused(field=field):
            twin.simulate(stewart, **{"duration": 0.01, **arguments})


def test_leg_driven_onto_its_first_axis_stops(srspm, own_folder):
    """Without a spin of its own the leg cannot say how it turns: no state may be made up."""
    place = srspm.base_joints[0] - srspm.platform_joints[0] + np.array([0.0, 0.5, 0.4])
    start = [*place, 1.0, 0.0, 0.0, 0.0]
    with pytest.raises(SimulationStoppedError):
        srspm.simulate(0.5, pose=start, twist=[0.0, 0.0, -1.0, 0.0, 0.0, 0.0])


def test_failed_reset_leaves_no_state(stewart):
    engine = make_engine("analytic", stewart)
    for arguments in ({"pose": np.zeros(7)}, {"twist": [np.nan] * 6}):
        with refused():
            engine.reset(**arguments)
        with pytest.raises(ClosedEngineError):
            _ = engine.state
