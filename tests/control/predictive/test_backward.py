"""The backward pass against Riccati's equation, and its steps between limits against a search."""

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are
from scipy.optimize import lsq_linear
from tolerance import assert_within

import twin
from twin.control.gains import drive_model
from twin.control.predictive import double_integrator, objective
from twin.kernels.control.predictive import (
    Correction,
    Plan,
    PlanReference,
    backward,
    minimise_in_box,
    plan_cost,
)

pytestmark = pytest.mark.quick

SPAN = 0.01


def test_gains_without_limits_are_those_of_riccatis_equation():
    """Far from the end of the horizon, on a machine about home, whose cost has no limits."""
    machine, spans, n = twin.load("stewart"), 400, 6
    goal = objective(machine, drive_model(machine), SPAN)
    rest = np.zeros(6)
    holding = machine.inverse_dynamics(machine.home, rest, rest)
    step = machine.step_derivatives(machine.home, rest, holding, SPAN)
    slopes = np.tile(step.state, (spans, 1, 1)), np.tile(step.forces, (spans, 1, 1))
    y, forces = np.tile(np.r_[machine.home, rest], (spans + 1, 1)), np.tile(holding, (spans, 1))
    without = np.full((spans, n), np.inf)
    reference = PlanReference(
        y[:, :7].copy(), y[:, 7:].copy(), np.zeros((spans, 6)), forces, -without, without
    )
    deviation = np.random.default_rng(3).normal(size=(spans + 1, 12))
    legs = np.tile(machine.home_coordinates, (spans + 1, 1))
    plan = Plan(y, forces, deviation, legs, np.zeros((spans + 1, n, 6)))
    change = Correction(np.zeros((spans, n)), np.zeros((spans, n, 12)))
    backward(slopes, reference, goal.cost, goal.effort, plan, 0.0, change)
    weights = np.diag(np.r_[goal.cost.pose_weight, goal.cost.twist_weight * goal.cost.pose_weight])
    value = solve_discrete_are(step.state, step.forces, weights, goal.effort)
    bend = goal.effort + step.forces.T @ value @ step.forces
    gain = -np.linalg.solve(bend, step.forces.T @ value @ step.state)
    assert_within(change.gains[0], gain, 1e-6 * np.abs(gain).max())


def test_promised_reduction_is_that_of_the_whole_cost():
    """On linear steps without limits, for which the second order is exact."""
    machine, spans, n = twin.load("stewart"), 5, 6
    goal, random = objective(machine, drive_model(machine), SPAN), np.random.default_rng(1)
    by_state = np.eye(12) + 0.01 * random.normal(size=(12, 12))
    by_force = 0.001 * random.normal(size=(12, n))
    slopes = np.tile(by_state, (spans, 1, 1)), np.tile(by_force, (spans, 1, 1))
    y = np.tile(np.r_[machine.home, np.zeros(6)], (spans + 1, 1))
    forces, without = np.zeros((spans, n)), np.full((spans, n), np.inf)
    reference = PlanReference(
        y[:, :7].copy(), y[:, 7:].copy(), np.zeros((spans, 6)), forces.copy(), -without, without
    )
    deviation = 1e-3 * random.normal(size=(spans + 1, 12))
    legs = np.tile(machine.home_coordinates, (spans + 1, 1))
    plan = Plan(y, forces, deviation, legs, np.zeros((spans + 1, n, 6)))
    change = Correction(np.zeros((spans, n)), np.zeros((spans, n, 12)))
    promised = backward(slopes, reference, goal.cost, goal.effort, plan, 0.0, change)
    x, corrected = np.zeros((spans + 1, 12)), np.zeros((spans, n))
    for s in range(spans):
        corrected[s] = change.forces[s] + change.gains[s] @ x[s]
        x[s + 1] = by_state @ x[s] + by_force @ corrected[s]
    better = plan._replace(forces=corrected, deviation=deviation + x)
    costs = [plan_cost(reference, goal.cost, goal.effort, each) for each in (plan, better)]
    assert promised == pytest.approx(costs[0] - costs[1], rel=1e-9)


def test_least_between_limits():
    random, n = np.random.default_rng(0), 6
    for _ in range(20):
        root, target = random.normal(size=(n, n)), 2.0 * random.normal(size=n)
        low, high = -random.uniform(size=n), random.uniform(size=n)
        matrix, slope = root.T @ root, -root.T @ target
        x, free, factor = np.empty(n), np.empty(n), np.empty((n, n))
        minimise_in_box(matrix, slope, low, high, x, free, factor)
        expected = lsq_linear(root, target, (low, high), method="bvls").x
        assert_within(x, expected, 1e-6)


def test_feedback_of_the_double_integrator_keeps_its_cost():
    """The terminal cost is what the feedback costs from there on."""
    value, gain = double_integrator(SPAN, 1e-3, 1e-6)
    x, total = np.array([1.0, -3.0]), 0.0
    expected = x @ value @ x
    for _ in range(2000):
        push = -gain[0] * x[0] - gain[1] * x[1]
        total += x[0] ** 2 + 1e-3 * x[1] ** 2 + 1e-6 * push**2
        x = np.array([x[0] + SPAN * x[1] + 0.5 * SPAN**2 * push, x[1] + SPAN * push])
    assert total == pytest.approx(expected, rel=1e-9)
