"""Environments of pose tracking on a graphics card: one thread per machine, a control period each.

After an episode has ended, the next call starts a new one on another motion of the pool.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any, NamedTuple

from numba import float64, int64

from twin.kernels.batched.analytic import Machines
from twin.kernels.cuda.batches import (
    BODY_SHAPE,
    Period,
    Row,
    Sizes,
    Thread,
    memory_size,
    opaque_copy,
    period_function,
    translation,
    view,
)
from twin.kernels.cuda.translation import Function, cuda, on_card
from twin.kernels.dynamics.assembly import Work
from twin.kernels.tasks.pose_tracking import (
    ReferenceArrays,
    Settings,
    Signals,
    evaluate_row,
    velocity_command,
)
from twin.kernels.tasks.task import ActionLaw, History, Results, Scales, count

INFINITY = inf

NOT_A_NUMBER = nan


class Views(NamedTuple):
    """Functions that view a machine's groups of arrays in its row; see `Rows.add`."""

    machines: Function
    drives: Function
    """all arrays of the drives but the last, which holds zeros"""
    history: Function
    signals: Function
    outputs: Function
    """command (1, n), action within 1 (1, a), terms, reward, reason"""


class Layout(NamedTuple):
    """Compile-time constants of a task's kernel."""

    sizes: Sizes
    period: Period
    views: Views
    entries: tuple[int, int]
    """entries of a row: floats, whole numbers"""
    motions: int
    """motions in the pool"""
    motion_length: int
    """control instants of a motion"""
    actions: int
    observations: int
    terms: int
    """terms of the reward"""
    settings: tuple[Any, ...]
    """entries of `Settings`"""
    law: tuple[float, float, bool]
    """gain, period and residual of the `ActionLaw`"""
    velocities: bool
    """whether actions are speeds; else forces"""
    episode_periods: int
    """control periods of an episode"""


class Tables(NamedTuple):
    """Arrays on the card that all machines read, flat."""

    body: Any
    legs: Any
    scales: Any
    """`Scales`, then the scale of actions, of observations, and the weights of the reward"""
    pool: Any
    """rows of the motions' starts: floats"""
    pool_numbers: Any
    """rows of the motions' starts: whole numbers"""
    start_observations: Any
    """observations of the starts"""
    pose: Any
    """references `(motions, length, .)`"""
    coordinates: Any
    rates: Any


class States(NamedTuple):
    """Arrays on the card that a call changes."""

    floats: Any
    numbers: Any
    observation: Any
    """`(N o,)` float32"""
    reward: Any
    terminated: Any
    """`(N,)` whether the episode has terminated"""
    truncated: Any
    needs_reset: Any
    """`(N,)` whether the next call begins an episode"""
    motion: Any
    """`(N,)` index of the motion in the pool"""


def act_function(layout: Layout) -> Function:
    """Return the function that fills a command (1, n) from an action (1, a) within 1."""
    n_legs, n_actions = layout.sizes.legs, layout.actions
    gain, period, residual = layout.law
    motion_length, velocities = layout.motion_length, layout.velocities
    speeds = translation(layout.sizes.kind)(velocity_command)

    def act(
        tables: Tables, motion: int, steps: Any, action: Any, measured: Any, command: Any
    ) -> None:
        scale = view(tables.scales, 7 * n_legs, (n_actions,))
        if velocities:
            law = ActionLaw(scale, scale, gain, period, residual)
            reference = view(
                tables.coordinates, motion * motion_length * n_legs, (1, motion_length, n_legs)
            )
            speeds(action, steps, law, reference, measured, command)
        else:
            for j in range(n_legs):
                holding_force = tables.scales[6 * n_legs + j] if residual else 0.0
                command[0, j] = scale[j] * action[0, j] + holding_force

    return on_card(act)


def judge_function(layout: Layout) -> Function:
    """Return the function that fills observation, terms, reward and reason of a machine."""
    n_legs, n_observations, n_terms, length = (
        layout.sizes.legs,
        layout.observations,
        layout.terms,
        layout.motion_length,
    )
    settings, observation_scale = layout.settings, 7 * layout.sizes.legs + layout.actions
    judge_row = translation(layout.sizes.kind)(evaluate_row)

    def judge(
        tables: Tables,
        index: Any,
        machines: Any,
        history: Any,
        outputs: Any,
        signals: Any,
        observation: Any,
    ) -> None:
        motion, index[0] = index[0], 0
        constants = tables.scales
        scales = (
            view(constants, 0, (n_legs,)), view(constants, n_legs, (n_legs,)),
            view(constants, 2 * n_legs, (n_legs,)), view(constants, 3 * n_legs, (n_legs,)),
            view(constants, 4 * n_legs, (n_legs,)), view(constants, 5 * n_legs, (n_legs,)),
            view(constants, 6 * n_legs, (n_legs,)),
        )  # fmt: skip
        results = (
            observation, view(constants, observation_scale, (n_observations,)), outputs[2],
            view(constants, observation_scale + n_observations, (n_terms,)), outputs[3], outputs[4],
        )  # fmt: skip
        reference = (
            view(tables.pose, motion * length * 7, (1, length, 7)),
            view(tables.coordinates, motion * length * n_legs, (1, length, n_legs)),
            view(tables.rates, motion * length * n_legs, (1, length, n_legs)),
        )
        judge_row(
            index[0], Machines(*machines), Scales(*scales), History(*history), Results(*results),
            ReferenceArrays(*reference), Settings(*settings), Signals(*signals),
        )  # fmt: skip

    return on_card(judge)


def begin_function(layout: Layout) -> Function:
    """Return the function that begins the episode of machine i on motion m."""
    (floats, n_integers), n_observations, motions = (
        layout.entries,
        layout.observations,
        layout.motions,
    )

    def begin(tables: Tables, states: States, i: int, motion: int) -> None:
        size = states.needs_reset.shape[0]
        for e in range(floats):
            states.floats[e * size + i] = tables.pool[e * motions + motion]
        for e in range(n_integers):
            states.numbers[e * size + i] = tables.pool_numbers[e * motions + motion]
        for j in range(n_observations):
            states.observation[n_observations * i + j] = tables.start_observations[
                n_observations * motion + j
            ]
        states.motion[i] = motion
        states.reward[i] = 0.0
        states.needs_reset[i] = states.terminated[i] = states.truncated[i] = False

    return on_card(begin)


def tracking_kernel(layout: Layout) -> Any:
    """Return the kernel of one period, of `Tables`, `States` and actions `(N n_actions,)`."""
    sizes, views = layout.sizes, layout.views
    n_actions, n_observations = layout.actions, layout.observations
    kind, rows_shape = sizes.kind, (sizes.legs, sizes.leg_size)
    last_period, motions = layout.episode_periods, layout.motions
    n_legs, constraints, system = sizes.legs, max(sizes.constraints, 1), 6 + sizes.constraints
    entries = memory_size(sizes)
    move_machine = period_function(sizes, layout.period, views.machines, views.drives)
    apply_action = act_function(layout)
    judge_state, begin_episode = judge_function(layout), begin_function(layout)
    count_period = translation(kind)(count)
    machines_of, history_of = views.machines, views.history
    signals_of, outputs_of = views.signals, views.outputs

    def kernel(tables: Tables, states: States, actions: Any) -> None:
        i = cuda.grid(1)
        size = states.needs_reset.shape[0]
        if i < size and states.needs_reset[i]:
            begin_episode(tables, states, i, (states.motion[i] + 1) % motions)
        elif i < size:
            row, motion = Row(states.floats, states.numbers, i, size), states.motion[i]
            machines, history = machines_of(*row), history_of(*row)
            command, action, _, _, _ = outputs_of(*row)
            for j in range(n_actions):
                value = actions[n_actions * i + j]
                finite = abs(value) < INFINITY
                action[0, j] = min(max(value, -1.0), 1.0) if finite else NOT_A_NUMBER
            apply_action(tables, motion, history[0], action, Machines(*machines).measured, command)
            count_period(action, history[0], history[1], history[2])
            work = Work(
                cuda.local.array((6, 6), float64),
                cuda.local.array(6, float64),
                cuda.local.array((n_legs, 6), float64),
                cuda.local.array(n_legs, float64),
                cuda.local.array((constraints, 8), float64),
                cuda.local.array((system, system), float64),
                cuda.local.array(system, float64),
            )
            memory = cuda.local.array(entries, float64)
            thread = Thread(memory, cuda.local.array(6, float64), work)
            body, legs = view(tables.body, 0, BODY_SHAPE), kind(view(tables.legs, 0, rows_shape))
            move_machine(body, legs, row, command, thread)
            index = cuda.local.array(1, int64)
            i = opaque_copy(i)
            index[0] = states.motion[i]
            row = Row(states.floats, states.numbers, i, size)
            history, outputs = history_of(*row), outputs_of(*row)
            judge_state(
                tables, index, machines_of(*row), history, outputs, signals_of(*row),
                view(states.observation, n_observations * i, (1, n_observations)),
            )  # fmt: skip
            states.reward[i] = outputs[3][0]
            states.terminated[i] = outputs[4][0] != 0
            states.truncated[i] = history[0][0] >= last_period
            states.needs_reset[i] = outputs[4][0] != 0 or history[0][0] >= last_period

    return cuda.jit(kernel)
