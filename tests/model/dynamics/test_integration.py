"""Integrators: order, tolerance, continuous output, energy, forces over time, errors with data."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused
from scipy.integrate import solve_ivp
from starts import start_of

from twin.errors import IntegrationError
from twin.model.integrate import ForceTable, integrate


@pytest.fixture(scope="module")
def start(platform):
    """Every machine as it is."""
    return start_of(platform)


def independent(start, forces, end, breaks):
    """Return the state at `end` from scipy's integrator and `Platform.forward_dynamics`."""
    platform, k = start.platform, start.platform.n_deflections

    def rate(time, y):
        pose = np.r_[y[:3], y[3:7] / np.linalg.norm(y[3:7])]
        pose, twist, _ = platform.constrain(pose, y[7:13])
        (w, v), omega = (pose[3], pose[4:]), twist[3:]
        spin = 0.5 * np.r_[-omega @ v, w * omega + np.cross(omega, v)]
        found = platform.forward_dynamics(pose, twist, forces(time), deflection=y[13:])
        return np.r_[twist[:3], spin, found[:6], y[13 + k :], found[6:]]

    y = np.r_[platform.home, start.twist, start.deflection]
    for begin, stop in zip(breaks, [*breaks[1:], end], strict=True):
        # Never read the other side of a jump.
        inside = (begin + 1e-12 * end, stop - 1e-12 * end)
        y = solve_ivp(
            lambda t, state, inside=inside: rate(np.clip(t, *inside), state),
            (begin, stop),
            y,
            method="DOP853",
            rtol=1e-12,
            atol=1e-13,
        ).y[:, -1]
    return y


def gap(start, found, expected):
    """Return the largest difference of two states, or of rows of them, rates times the pace."""
    k = start.platform.n_deflections
    sizes = np.repeat([1.0, start.pace, 1.0, start.pace], [7, 6, k, k])
    return float(np.abs((found - expected) * sizes).max())


def test_free_fall_of_the_benchmark(srspm):
    """Paper, section 5, and the figures of two independent derivations of it."""
    solution = integrate(srspm, 1.0)
    # Printed with seven digits.
    assert solution.pose[-1][0] == pytest.approx(5.068193e-3, abs=5.1e-10)
    assert solution.pose[-1][2] == pytest.approx(-2.133568, abs=5.1e-7)


def skip_where_steps_are_few(start):
    """Skip a machine so slow that its errors are rounding, or that it takes five steps in all."""
    if start.platform.name == "tripod":
        pytest.skip("its few steps do not show the order")


def test_runge_kutta_is_of_order_four(start):
    skip_where_steps_are_few(start)
    exact = start.run(0.6, relative_tolerance=1e-13).states[-1]
    errors = [
        gap(start, start.run(0.6, method="rk4", timestep=h).states[-1], exact)
        for h in (0.06, 0.03, 0.015, 0.0075)
    ]
    assert errors[-1] > 1e-13, "rounding hides the order"
    orders = np.log2(errors[:-1]) - np.log2(errors[1:])
    assert abs(orders[-1] - 4.0) < 0.35  # the next order still shows at these steps


def test_dormand_prince_error_is_proportional_to_the_tolerance(start):
    exact = start.run(1.0, relative_tolerance=1e-14, absolute_tolerance=1e-14).states[-1]
    tolerances = np.array([1e-5, 1e-7, 1e-9, 1e-11])
    errors, counts = [], []
    for tolerance in tolerances:
        solution = start.run(1.0, relative_tolerance=tolerance, absolute_tolerance=tolerance)
        errors.append(gap(start, solution.states[-1], exact))
        counts.append(len(solution.time))
    # The controller keeps the error of each step below the tolerance, a few steps add up.
    assert (np.array(errors) < 20 * tolerances).all()
    assert errors[0] > 1e3 * errors[-1]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]


@pytest.mark.parametrize(("method", "order"), [("dormand_prince", 4), ("rk4", 3)])
def test_continuous_output(start, method, order):
    skip_where_steps_are_few(start)
    time = np.linspace(0.0, 0.6 * start.pace, 997)
    reference = start.run(0.6, relative_tolerance=1e-14).at(time)
    errors = []
    for refinement in (1, 4):
        tolerance = 1e-6 / refinement**5
        solution = start.run(
            0.6,
            method=method,
            timestep=0.06 / refinement,
            relative_tolerance=tolerance,
            absolute_tolerance=tolerance,
        )
        errors.append(gap(start, solution.at(time), reference))
        states = solution.at(solution.time)
        # At its own knots the output is the state itself, up to the polynomial's rounding.
        assert gap(start, states, solution.states) <= 4e-15
        pose, twist = solution(solution.time)
        assert_array_equal(np.hstack([pose, twist]), states[:, :13])
        assert_array_equal(solution.deflection, solution.states[:, 13:])
    # A quarter of the step divides the error by about 4^(order + 1).
    assert errors[0] / errors[1] > 4**order
    assert errors[0] < 1e-3


def test_output_takes_any_shape_and_order(start):
    solution = start.run(1.0)
    time = start.pace * np.array([[0.3, 0.0, 1.0], [0.5, 0.5, 0.1]])
    pose, twist = solution(time)
    assert pose.shape == (2, 3, 7)
    assert twist.shape == (2, 3, 6)
    assert solution.at(time).shape == (2, 3, 13 + 2 * start.platform.n_deflections)
    for index in np.ndindex(time.shape):
        assert_array_equal(pose[index], solution(time[index])[0])
    for outside in (-0.1 * start.pace, 1.1 * start.pace, np.nan, [0.0, 2.0]):
        with refused("time"):
            solution(outside)


@pytest.mark.parametrize(
    ("interpolation", "method"),
    [("hold", "dormand_prince"), ("linear", "dormand_prince"), ("linear", "rk4")],
)
def test_forces_over_time_agree_with_an_independent_integrator(start, interpolation, method):
    knots = start.pace * np.array([0.0, 0.12, 0.3, 0.45])
    values = start.holding * np.array([[1.0], [1.3], [0.7], [1.1]])
    values[1, 2] *= 0.9
    table = ForceTable(knots, values, interpolation)
    found = start.run(0.6, forces=table, method=method, timestep=1e-3)

    def forces(time):
        if interpolation == "linear":
            return np.array([np.interp(time, knots, column) for column in values.T])
        return values[np.searchsorted(knots, time, "right") - 1]

    expected = independent(start, forces, 0.6 * start.pace, knots)
    # Both are bound to 1e-12 per step; Runge-Kutta leaves 1e-3^4 of a pace's derivatives.
    assert gap(start, found.states[-1], expected) <= 1e-10


def test_knots_after_the_end_do_not_matter(start):
    force, middle = start.holding, 0.2 * start.pace
    table = ForceTable([0.0, middle, 50.0 * middle], [force, 1.1 * force, 9.0 * force])
    short = ForceTable([0.0, middle], [force, 1.1 * force])
    long, cut = (start.run(0.3, forces=forces).states[-1] for forces in (table, short))
    assert_array_equal(long, cut)


@pytest.mark.parametrize("method", ["dormand_prince", "rk4"])
@pytest.mark.parametrize("height", [0.0, 0.4])
def test_leg_along_its_first_axis_stops_with_data(srspm, method, height):
    """Leg 1 lies along y, the first axis of its universal joint, or is thrown that way."""
    pose = srspm.home.copy()
    pose[:3] = srspm.base_joints[0] - srspm.platform_joints[0] + [0.0, 0.5, height]
    with pytest.raises(IntegrationError) as caught:
        integrate(srspm, 1.0, pose=pose, twist=[0.0, 0.0, -1.0, 0.0, 0.0, 0.0], method=method)
    assert_complete(caught.value)
    assert caught.value.data["reason"] == "singular"
    assert (caught.value.data["time"] == 0.0) == (height == 0.0)


@pytest.mark.parametrize("method", ["dormand_prince", "rk4"])
def test_absurd_forces_stop_with_data(platform, method):
    with pytest.raises(IntegrationError) as caught:
        integrate(platform, 1.0, forces=np.full(platform.n_actuators, 1e200), method=method)
    assert_complete(caught.value)


def assert_complete(error):
    """Assert that the error holds the last good state and names the reason."""
    data = error.data
    assert set(data) == {"reason", "time", "pose", "twist", "deflection", "step"}
    assert data["reason"] in str(error)
    assert 0.0 <= data["time"] <= 1.0
    assert data["step"] > 0.0
    assert np.isfinite([*data["pose"], *data["twist"]]).sum() == 13


def test_bad_arguments_name_their_field(stewart):
    none = np.zeros((1, 6))
    for field, arguments in [
        ("duration", {"duration": -1.0}),
        ("method", {"method": "euler"}),
        ("timestep", {"method": "rk4", "timestep": 0.03}),
        ("timestep", {"method": "rk4", "timestep": 1e-12}),
        ("relative_tolerance", {"relative_tolerance": 0.0}),
        ("forces.time", {"forces": ForceTable([0.1], none)}),
        ("forces", {"forces": ForceTable([0.0, 0.2], none)}),
        ("forces.forces", {"forces": ForceTable([0.0], none[:, :5])}),
        ("forces.interpolation", {"forces": ForceTable([0.0], none, "cubic")}),
    ]:
        with refused(field=field):
            integrate(stewart, **{"duration": 0.1, **arguments})
