"""Integrators: order, tolerance, continuous output, energy, forces over time, errors with data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from twin.dynamics.integrate import ForceTable, integrate
from twin.dynamics.solution import Solution
from twin.errors import InputError, IntegrationError
from twin.platform import Platform

TWIST = np.array([0.05, -0.04, 0.1, 0.2, -0.15, 0.1])


def final(solution: Solution) -> Any:
    """Return pose and twist at the end as one vector."""
    return np.concatenate([solution.pose[-1], solution.twist[-1]])


def holding(platform: Platform) -> Any:
    """Return the forces that hold the machine at home."""
    return platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))


def independent(platform: Platform, forces: Any, end: float, breaks: Any) -> Any:
    """Return the state at `end` from scipy's integrator and `Platform.forward_dynamics`."""

    def rate(time: float, y: Any) -> Any:
        w, v = y[3], y[4:7]
        norm = np.linalg.norm(y[3:7])
        spin = 0.5 * np.r_[-y[10:] @ v, w * y[10:] + np.cross(y[10:], v)]
        pose = np.r_[y[:3], y[3:7] / norm]
        return np.r_[y[7:10], spin, platform.forward_dynamics(pose, y[7:], forces(time))]

    y = np.r_[platform.home, TWIST]
    for start, stop in zip(breaks, [*breaks[1:], end], strict=True):
        inside = (start + 1e-12, stop - 1e-12)  # never read the other side of a jump
        y = solve_ivp(
            lambda t, state, inside=inside: rate(np.clip(t, *inside), state),
            (start, stop),
            y,
            method="DOP853",
            rtol=1e-12,
            atol=1e-13,
        ).y[:, -1]
    return y


def test_free_fall_of_the_benchmark(srspm: Platform) -> None:
    """Paper, section 5, and the figures of two independent derivations of it."""
    solution = integrate(srspm, 1.0)
    # Printed with seven digits.
    assert solution.pose[-1][0] == pytest.approx(5.068193e-3, abs=5.1e-10)
    assert solution.pose[-1][2] == pytest.approx(-2.133568, abs=5.1e-7)


@pytest.mark.parametrize("method", ["dormand_prince", "rk4"])
def test_energy_is_kept_in_free_motion(platform: Platform, method: str) -> None:
    solution = integrate(platform, 0.3, twist=TWIST, method=method, timestep=2.5e-4)
    kinetic, potential = platform.energy(solution.pose, solution.twist)
    total = kinetic + potential
    # The project's bar, relative to the energy that goes from one form to the other.
    assert np.ptp(total) <= 1e-10 * max(np.ptp(kinetic), np.abs(total).max())
    assert np.ptp(kinetic) > 1.0, "nothing moves: the test shows nothing"


def test_energy_grows_by_the_work_done(platform: Platform) -> None:
    forces, wrench = 1.05 * holding(platform), np.array([20.0, -10.0, 5.0, 2.0, 3.0, -1.0])
    solution = integrate(platform, 0.2, twist=TWIST, forces=forces, wrench=wrench)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    time = 0.1 * (nodes + 1.0)
    pose, twist = solution(time)
    power = np.einsum("i,kij,kj->k", forces, platform.jacobian(pose), twist) + twist @ wrench
    energies = np.sum(platform.energy(solution.pose[[0, -1]], solution.twist[[0, -1]]), axis=0)
    # Continuous output of order four between steps bound to 1e-12.
    assert 0.1 * weights @ power == pytest.approx(energies[1] - energies[0], rel=1e-8)


def test_runge_kutta_is_of_order_four(platform: Platform) -> None:
    exact = final(integrate(platform, 0.2, twist=TWIST, relative_tolerance=1e-13))
    errors = [
        np.abs(final(integrate(platform, 0.2, twist=TWIST, method="rk4", timestep=h)) - exact).max()
        for h in (0.02, 0.01, 0.005)
    ]
    assert errors[-1] > 1e-13, "rounding hides the order"
    orders = np.log2(errors[:-1]) - np.log2(errors[1:])
    assert np.abs(orders - 4.0).max() < 0.35  # the next order still shows at these steps


def test_dormand_prince_error_is_proportional_to_the_tolerance(platform: Platform) -> None:
    exact = final(
        integrate(platform, 0.3, twist=TWIST, relative_tolerance=1e-14, absolute_tolerance=1e-14)
    )
    errors, counts = [], []
    for tolerance in (1e-5, 1e-7, 1e-9, 1e-11):
        solution = integrate(
            platform,
            0.3,
            twist=TWIST,
            relative_tolerance=tolerance,
            absolute_tolerance=tolerance,
        )
        errors.append(np.abs(final(solution) - exact).max())
        counts.append(len(solution.time))
    # The controller keeps the error of each step below the tolerance, a few steps add up.
    assert (np.array(errors) < 20 * np.array([1e-5, 1e-7, 1e-9, 1e-11])).all()
    assert errors[0] > 1e3 * errors[-1]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]


@pytest.mark.parametrize(("method", "order"), [("dormand_prince", 4), ("rk4", 3)])
def test_continuous_output(platform: Platform, method: str, order: int) -> None:
    exact = integrate(platform, 0.2, twist=TWIST, relative_tolerance=1e-14)
    time = np.linspace(0.0, 0.2, 997)
    reference = np.hstack(exact(time))
    errors = []
    for refinement in (1, 2):
        solution = integrate(
            platform,
            0.2,
            twist=TWIST,
            method=method,
            timestep=0.02 / refinement,
            relative_tolerance=1e-6 / 2 ** (5 * (refinement - 1)),
            absolute_tolerance=1e-6 / 2 ** (5 * (refinement - 1)),
        )
        errors.append(np.abs(np.hstack(solution(time)) - reference).max())
        pose, twist = solution(solution.time)
        # At its own knots the output is the state itself, up to the polynomial's rounding.
        np.testing.assert_allclose(pose, solution.pose, rtol=0, atol=1e-15 * 4)
        np.testing.assert_allclose(twist, solution.twist, rtol=0, atol=1e-13)
    # Halving the step divides the error by about 2^(order + 1).
    assert errors[0] / errors[1] > 2**order
    assert errors[0] < 1e-3


def test_output_takes_any_shape_and_order(platform: Platform) -> None:
    solution = integrate(platform, 0.1, twist=TWIST)
    time = np.array([[0.03, 0.0, 0.1], [0.05, 0.05, 0.01]])
    pose, twist = solution(time)
    assert pose.shape == (2, 3, 7)
    assert twist.shape == (2, 3, 6)
    for index in np.ndindex(time.shape):
        np.testing.assert_array_equal(pose[index], solution(time[index])[0])
    for outside in (-0.01, 0.11, np.nan, [0.0, 2.0]):
        with pytest.raises(InputError, match="time"):
            solution(outside)


def test_held_forces_agree_with_an_independent_integrator(platform: Platform) -> None:
    knots = np.array([0.0, 0.03, 0.05, 0.12])
    values = holding(platform) * np.array([[1.0], [1.2], [0.8], [1.1]])
    values[2, 0] += 50.0
    found = integrate(platform, 0.2, twist=TWIST, forces=ForceTable(knots, values))
    expected = independent(
        platform, lambda t: values[np.searchsorted(knots, t, "right") - 1], 0.2, knots
    )
    # scipy is asked for 1e-12 per step.
    np.testing.assert_allclose(final(found), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", ["dormand_prince", "rk4"])
def test_linear_forces_agree_with_an_independent_integrator(
    platform: Platform, method: str
) -> None:
    knots = np.array([0.0, 0.04, 0.1, 0.15])
    values = holding(platform) * np.array([[1.0], [1.3], [0.7], [1.1]])
    values[1, 2] -= 30.0
    found = integrate(
        platform,
        0.2,
        twist=TWIST,
        forces=ForceTable(knots, values, "linear"),
        method=method,
        timestep=5e-4,
    )

    def forces(time: float) -> Any:
        return np.array([np.interp(time, knots, column) for column in values.T])

    expected = independent(platform, forces, 0.2, knots)
    # Both are bound to 1e-12 per step; Runge-Kutta leaves (5e-4)^4 times derivatives of 1e3.
    np.testing.assert_allclose(final(found), expected, rtol=0, atol=1e-10)


def test_knots_after_the_end_do_not_matter(platform: Platform) -> None:
    force = holding(platform)
    table = ForceTable([0.0, 0.05, 5.0], [force, 1.1 * force, 9.0 * force])
    short = ForceTable([0.0, 0.05], [force, 1.1 * force])
    np.testing.assert_array_equal(
        final(integrate(platform, 0.1, forces=table)), final(integrate(platform, 0.1, forces=short))
    )


@pytest.mark.parametrize("method", ["dormand_prince", "rk4"])
def test_same_input_same_motion(platform: Platform, method: str) -> None:
    first, second = (integrate(platform, 0.1, twist=TWIST, method=method) for _ in range(2))
    np.testing.assert_array_equal(first.pose, second.pose)
    np.testing.assert_array_equal(first.coefficients, second.coefficients)


@pytest.mark.parametrize("height", [0.0, 0.4])
@pytest.mark.parametrize("method", ["dormand_prince", "rk4"])
def test_leg_along_its_first_axis_stops_with_data(
    srspm: Platform, method: str, height: float
) -> None:
    """Leg 1 lies along y, the first axis of its universal joint, or is thrown that way."""
    place = srspm.base_joints[0] - srspm.platform_joints[0] + np.array([0.0, 0.5, height])
    arguments = {"pose": [*place, 1.0, 0.0, 0.0, 0.0], "twist": [0.0, 0.0, -1.0, 0.0, 0.0, 0.0]}
    with pytest.raises(IntegrationError) as caught:
        integrate(srspm, 1.0, **arguments, method=method)
    assert_complete(caught.value)
    assert caught.value.data["reason"] == "singular"
    assert (caught.value.data["time"] == 0.0) == (height == 0.0)


@pytest.mark.parametrize("method", ["dormand_prince", "rk4"])
def test_absurd_forces_stop_with_data(platform: Platform, method: str) -> None:
    with pytest.raises(IntegrationError) as caught:
        integrate(platform, 1.0, forces=np.full(6, 1e200), method=method)
    assert_complete(caught.value)


def assert_complete(error: IntegrationError) -> None:
    """Assert that the error holds the last good state and names the reason."""
    data = error.data
    assert set(data) == {"reason", "time", "pose", "twist", "step"}
    assert data["reason"] in str(error)
    assert 0.0 <= data["time"] <= 1.0
    assert data["step"] > 0.0
    assert data["pose"].shape == (7,)
    assert data["twist"].shape == (6,)
    assert np.isfinite(data["pose"]).all()
    assert np.isfinite(data["twist"]).all()


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("duration", {"duration": 0.0}),
        ("duration", {"duration": -1.0}),
        ("pose", {"pose": [0, 0, 1, 2, 0, 0, 0]}),
        ("twist", {"twist": [0, 0, 0]}),
        ("wrench", {"wrench": np.full(6, np.nan)}),
        ("forces", {"forces": [1.0, 2.0]}),
        ("method", {"method": "euler"}),
        ("method", {"method": np.array([1, 2])}),
        ("timestep", {"method": "rk4", "timestep": 0.03}),
        ("timestep", {"method": "rk4", "timestep": 1e-12}),
        ("relative_tolerance", {"relative_tolerance": 0.0}),
        ("absolute_tolerance", {"absolute_tolerance": -1.0}),
        ("forces.time", {"forces": ForceTable([0.1, 0.2], np.zeros((2, 6)))}),
        ("forces.time", {"forces": ForceTable([0.0, 0.0], np.zeros((2, 6)))}),
        ("forces", {"forces": ForceTable([0.0], np.zeros((2, 6)))}),
        ("forces", {"forces": ForceTable([], np.zeros((0, 6)))}),
        ("forces", {"forces": ForceTable(0.0, np.zeros((1, 6)))}),
        ("forces.forces", {"forces": ForceTable([0.0], np.zeros((1, 5)))}),
        ("forces.interpolation", {"forces": ForceTable([0.0], np.zeros((1, 6)), "cubic")}),
        ("forces.interpolation", {"forces": ForceTable([0.0], np.zeros((1, 6)), ["hold"])}),
    ],
)
def test_bad_arguments_name_their_field(
    stewart: Platform, field: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as caught:
        integrate(stewart, **{"duration": 0.1, **arguments})
    assert caught.value.field == field


@pytest.mark.parametrize("duration", [1e-300, 1e300])
def test_extreme_durations_end(stewart: Platform, duration: float) -> None:
    try:
        solution = integrate(stewart, duration)
    except IntegrationError as error:
        assert error.data["reason"] in str(error)
    else:
        assert solution.time[-1] == duration
        assert np.isfinite(final(solution)).all()
