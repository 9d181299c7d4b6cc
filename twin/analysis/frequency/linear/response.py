"""Frequency responses of the linearised machine: transmissibility, compliance, modes.

Frequencies and damping ratios of a motion that dies away, from its samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from twin.basics.arrays import ComplexArray, FloatArray, as_floats, positive
from twin.charts.panels import Axes, Line, panels_figure
from twin.control.active_damping.closed_loop import Law, closed_loop, damping_ratios
from twin.control.linear.machine import LinearMachine
from twin.control.linear.state_space import StateSpace
from twin.errors import InputError, brief


class LinearModes(NamedTuple):
    """Poles of a linearised machine, alone or in a loop, slowest first."""

    poles: ComplexArray
    """`(s,)` [1/s], one of each complex pair"""
    frequencies: FloatArray
    """`(s,)` [Hz]: |s| / 2 pi"""
    damping_ratios: FloatArray
    """`(s,)` one for poles that do not swing, below zero for unstable ones"""

    @property
    def swinging(self) -> LinearModes:
        """Those that oscillate."""
        chosen = self.poles.imag > 1e-9 * np.abs(self.poles)
        return LinearModes(
            self.poles[chosen], self.frequencies[chosen], self.damping_ratios[chosen]
        )


def frequency_response(
    linear: LinearMachine | StateSpace,
    input: str | Sequence[str],
    output: str | Sequence[str],
    frequencies: Any,
    *,
    law: Law | None = None,
) -> ComplexArray:
    """Return the complex response `(k, outputs, inputs)` at frequencies `(k,)` [Hz].

    Args:
        linear: a linearised machine; or a state space, whose input and output must then be empty.
        input: name or names, see `LinearMachine`.
        output: name or names.
        frequencies: from zero on.
        law: a local law that acts meanwhile. A sampled one holds inputs over its period:
            the response is that of frequencies far below its rate.

    Raises:
        InputError: no such input or output, or frequencies that cannot be used.
    """
    inputs, outputs = _names(input), _names(output)
    if isinstance(linear, StateSpace):
        if inputs or outputs or law is not None:
            raise InputError("input, output, law", "must be empty with a state space")
        return linear.response(frequencies)
    if not isinstance(linear, LinearMachine):
        raise InputError("linear", f"must be what linearise returns, not {brief(linear)}")
    if law is None:
        return linear.system(inputs, outputs).response(frequencies)
    loop = closed_loop(linear, law, inputs, outputs)
    return np.asarray(loop.response(frequencies)[:, :, linear.platform.n_actuators :])


def transmissibility(
    linear: LinearMachine, frequencies: Any, *, law: Law | None = None
) -> ComplexArray:
    """Return how the platform follows a shaken base, `(k, 6, 3)`: 1 is as one body.

    Motion of the platform (three translations of the reference point [1], three rotations [rad/m])
    per translation of the base along x, y, z; of machines on pillars `(k, 6, 1)`, along z.

    Raises:
        InputError: no linearised machine, or frequencies that cannot be used.
    """
    shaken = "base_acceleration" if linear.platform.dof == 6 else "base_heave_acceleration"
    return frequency_response(linear, shaken, "absolute_acceleration", frequencies, law=law)


def compliance(linear: LinearMachine, frequencies: Any, *, law: Law | None = None) -> ComplexArray:
    """Return the displacement per wrench `(k, 6, 6)`: [m/N], [m/(N m)]; [rad/N], [rad/(N m)].

    Raises:
        InputError: no linearised machine, or frequencies that cannot be used.
    """
    return frequency_response(linear, "wrench", "displacement", frequencies, law=law)


def linear_modes(linear: LinearMachine, *, law: Law | None = None) -> LinearModes:
    """Return frequencies and damping of a linearised machine, with a local law or without.

    Raises:
        InputError: no linearised machine.
    """
    if not isinstance(linear, LinearMachine):
        raise InputError("linear", f"must be what linearise returns, not {brief(linear)}")
    system = linear.system("forces", "rates") if law is None else closed_loop(linear, law)
    poles = system.rates
    poles = poles[(poles.imag >= 0.0) & (np.abs(poles) < 1e9)]
    poles = poles[np.argsort(np.abs(poles))]
    return LinearModes(poles, np.abs(poles) / (2.0 * np.pi), damping_ratios(poles))


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) and names else tuple(names)


def decay_poles(values: Any, period: Any, order: int) -> ComplexArray:
    """Return the poles `(order,)` [1/s] whose exponentials make up samples `(k,)`, largest first.

    Matrix pencil: the shift of the signal's Hankel matrix, on its `order` strongest directions.
    Sorted by the amplitude that each has in the samples.

    Args:
        values: of one quantity that decays to zero.
        period: between samples [s].
        order: how many exponentials, a swinging one counts twice.

    Raises:
        InputError: too few samples for the order, not finite, or all zero.

    Reference:
        Hua and Sarkar, Matrix pencil method, IEEE TASSP 38 (1990).
    """
    samples, step = as_floats(values, "values"), positive(period, "period")
    if type(order) is not int or order < 1 or samples.ndim != 1 or len(samples) < 4 * order:
        raise InputError("order", "must be a whole number, with four samples or more for each")
    size = float(np.abs(samples).max())
    if size == 0.0:
        raise InputError("values", "must not all be zero")
    width = min(len(samples) // 2, 8 * order)
    hankel = np.lib.stride_tricks.sliding_window_view(samples / size, width)
    right = np.linalg.svd(hankel, full_matrices=False)[2][:order].T
    roots = np.linalg.eigvals(np.linalg.lstsq(right[:-1], right[1:], rcond=None)[0])
    powers = roots.astype(complex)[None] ** np.arange(len(samples))[:, None]
    amplitudes = np.abs(np.linalg.lstsq(powers, samples / size, rcond=None)[0])
    roots = roots[np.argsort(-amplitudes)].astype(complex)
    return np.asarray(np.log(np.where(roots == 0.0, 1e-300, roots)) / step)


def slowest_shape(linear: LinearMachine) -> tuple[FloatArray, FloatArray]:
    """Return the slowest undamped mode: displacement `(6,)`, and the row that picks it out.

    With actuators locked where springs are in series with them. The row `(6,)` times the shape is
    one, and times the shapes of the other modes zero.

    Raises:
        InputError: not a machine of six degrees of freedom.
    """
    held = linear.locked() if linear.platform.n_deflections else linear
    if held.size != 6:
        raise InputError("linear", "must have six degrees of freedom")
    from scipy.linalg import eigh

    stiffness = 0.5 * (held.stiffness + held.stiffness.T)
    shape = eigh(stiffness, held.mass)[1][:, 0]
    moved = held.free @ shape
    return moved, np.asarray(held.mass @ shape @ np.linalg.inv(held.free))


AXES = ("x", "y", "z", "rx", "ry", "rz")


def response_figure(
    frequencies: Any, responses: Mapping[str, ComplexArray], unit: str, title: str = ""
) -> Any:
    """Return a plotly figure of magnitude and phase over frequency, one curve per response.

    Args:
        frequencies: `(k,)` [Hz], above zero.
        responses: name to complex values `(k,)`.
        unit: of the magnitude.
        title: of the figure.

    Raises:
        InputError: no responses, or other lengths.
        MissingDependencyError: plotly is not installed.
    """
    grid = as_floats(frequencies, "frequencies")
    if not responses or any(np.shape(one) != grid.shape for one in responses.values()):
        raise InputError("responses", "must be one or more, as long as the frequencies")
    sizes, phases = [], []
    for name, one in responses.items():
        values = np.asarray(one)
        sizes.append(Line(name, grid, np.abs(values)))
        phases.append(Line(name, grid, np.degrees(np.unwrap(np.angle(values)))))
    panels = [Axes(f"magnitude [{unit}]", sizes, log_y=True), Axes("phase [deg]", phases)]
    return panels_figure(panels, "frequency [Hz]", log_x=True, title=title)


def swinging(gains: FloatArray, poles: ComplexArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return gain, frequency [Hz] and damping ratio of all poles `(k, s)` that swing, flat."""
    found = (poles.imag > 1e-6 * np.abs(poles)) & (np.abs(poles) < 1e8)
    rows = np.broadcast_to(gains[:, None], poles.shape)[found]
    chosen = poles[found]
    return rows, np.abs(chosen) / (2.0 * np.pi), -chosen.real / np.abs(chosen)
