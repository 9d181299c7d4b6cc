"""Controllers of one local law per leg: integral force feedback, direct velocity feedback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray
from twin.control.active_damping.closed_loop import (
    LocalLaw,
    best_gain,
    closed_loop,
    force_feedback,
    position_force_feedback,
    structural_damping,
    velocity_feedback,
)
from twin.control.controller import Controller, Reference
from twin.control.gains import drive_model
from twin.control.linear.lqr import linearise
from twin.control.linear.machine import LinearMachine, spring_constants
from twin.errors import InputError
from twin.model.integrate import static_deflection
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.drives import round_step
from twin.plant.signals import Command, Measurement

SAMPLES_PER_PERIOD = 20
"""Control periods in a period of the fastest mode."""

LEAK_FRACTION = 0.05
"""Leak of strut force feedback relative to the slowest mode [rad/s]: a phase error of 3 deg there.
"""

SERIES_LEAK_FRACTION = 0.4
"""Leak relative to the slowest mode [rad/s] for actuators in series with springs. A larger leak
damps slow modes less; with a smaller one the legs are too soft to carry the platform above its
joints, and return slowly."""

SERIES_GAIN_FRACTION = 0.25
"""k_p of velocity feedback, as a fraction of the stiffness of the spring in series."""

TRACKING_FREQUENCY_FACTOR = 0.25
"""Natural frequency of the actuators' position loops times their lag (`local_loop_lag`)."""

TRACKING_DAMPING = 0.7


def suitable_period(linear: LinearMachine) -> float:
    """Return a control period [s] for a machine's springs.

    It is 1 ms, or the longest of 0.5, 0.2, 0.1, 0.05, ... ms that is short enough.
    """
    fastest_mode = fastest_pole(linear)
    return round_step(
        2.0 * np.pi / (SAMPLES_PER_PERIOD * fastest_mode) if fastest_mode > 0.0 else 1e-3
    )


def fastest_pole(linear: LinearMachine) -> float:
    """Return the largest pole [rad/s] under constant actuator forces."""
    return float(np.abs(linear.system("forces", "rates").poles).max())


def slowest_mode(linear: LinearMachine) -> float:
    """Return the lowest frequency [rad/s] at which the springs let the platform swing.

    With blocked actuators where springs are in series with them.

    Raises:
        InputError: nothing swings.
    """
    locked_machine = linear.locked() if linear.platform.n_deflections else linear
    poles = locked_machine.system("wrench", "twist").poles
    swinging = np.abs(poles[poles.imag > 0.0])
    if not swinging.size:
        raise InputError("platform", f"{linear.platform.name} does not swing on its springs")
    return float(swinging.min())


def suitable_leak(linear: LinearMachine) -> float:
    """Return the default leak of force feedback [1/s]."""
    return (
        SERIES_LEAK_FRACTION if linear.platform.n_deflections else LEAK_FRACTION
    ) * slowest_mode(linear)


def moved_masses(linear: LinearMachine) -> FloatArray:
    """Return the mass `(n,)` [kg] that each actuator alone accelerates."""
    return 1.0 / np.diag(linear.mobility)


def local_loop_lag(linear: LinearMachine, period: float) -> float:
    """Return the loop lag [s]: control period, drive delay, current lag, rate differencing."""
    drives = drive_model(linear.platform)
    differencing_lag = 0.5 * period if drives.resolution.any() else 0.0
    return period + drives.delay + drives.lag + differencing_lag


def series_stiffness(linear: LinearMachine) -> FloatArray:
    """Return the default k_p `(n,)` [N/m]: a quarter of springs in series, zero for struts."""
    stiffness_fraction = SERIES_GAIN_FRACTION if linear.platform.n_deflections else 0.0
    return stiffness_fraction * spring_constants(linear.platform)[0]


def force_law(linear: LinearMachine, gain: Any, period: float, leak: float) -> LocalLaw:
    """Return the integral force feedback that suits the machine's kind of leg.

    Raises:
        InputError: no such legs, or numbers that cannot be used.
    """
    platform = linear.platform
    if not platform.n_deflections:
        return force_feedback(platform, gain, period, leak=leak)
    tracking_frequency = TRACKING_FREQUENCY_FACTOR / local_loop_lag(linear, period)
    masses = moved_masses(linear)
    return position_force_feedback(
        platform,
        gain,
        period,
        leak=leak,
        stiffness=masses * tracking_frequency**2,
        damping=2.0 * TRACKING_DAMPING * masses * tracking_frequency,
    )


def chosen_gain(
    linear: LinearMachine, gain: Any, law_of: Callable[[Any], LocalLaw], highest: float
) -> Any:
    """Return the user's gain; by default the one that damps the least damped mode best.

    Raises:
        InputError: a machine without springs in its legs, or drives through which no gain adds
            damping.
    """
    if not linear.platform.leg.has_spring:
        raise InputError(
            "platform", f"{linear.platform.name} has no springs in its legs to be damped"
        )
    if gain is not None:
        return gain
    # The gain is searched over three decades below `highest`.
    optimum = best_gain(linear, law_of, 1e-3 * highest, highest)
    passive_ratio = structural_damping(linear, closed_loop(linear, law_of(0.0)).rates)
    if optimum.ratio <= max(passive_ratio, 0.0):
        raise InputError(
            "platform",
            f"no gain damps {linear.platform.name} through its drives (smallest damping ratio "
            f"{optimum.ratio:.3g} at best, {passive_ratio:.3g} without control): the drives are "
            "too late or swing on their transmissions; shorten delay and lag, or take a controller "
            "of coordinates",
        )
    return optimum.gain


class ForceSensor:
    """Load cells of a machine's legs, derived from other measurements.

    Struts: the cell is in line with actuator and spring, F = f + k (l_0 - q) - c q', with the
    leg's parameters k, c and l_0. Viscoelastic legs: the cell is between housing and follower, in
    line with the actuator alone, F = f: series elements carry the same force (the cell's own place
    matters, for below the housing its mass would come in). All other legs: F = f. Positive pushes
    the platform. A real cell would not depend on parameters; here they are the model's own, so
    that errors in k and c are not seen.
    """

    def __init__(self, platform: MachineModel) -> None:
        self._rest_lengths = platform.home_coordinates
        self._stiffness, self._damping = np.zeros((2, platform.n_actuators))
        if platform.leg.has_axial_spring:
            self._stiffness, self._damping, self._rest_lengths = platform.leg_springs

    def read(self, measurement: Measurement) -> FloatArray:
        """Return the forces `(n,)` [N] of a measurement."""
        return self.forces(measurement.coordinates, measurement.rates, measurement.forces)

    def forces(self, coordinates: FloatArray, rates: FloatArray, forces: FloatArray) -> FloatArray:
        """Return the forces `(..., n)` [N] of coordinates, rates and actuator forces."""
        spring = self._stiffness * (self._rest_lengths - coordinates) - self._damping * rates
        return forces + spring


def forward_forces(platform: MachineModel, reference: Reference) -> FloatArray:
    """Return the forces `(k, n)` [N] along a reference, one row per control instant.

    Springs in series follow without swinging; at rest that is exact. Rows that cannot be reached,
    at which the loop stops, are those of home.

    Raises:
        InputError: motions the machine cannot have.
        SingularPoseError: the reference passes a singular pose.
    """
    reachable = reference.reachable[:, None] > 0.0
    pose = np.where(reachable, reference.pose, platform.home)
    twist = np.where(reachable, reference.twist, 0.0)
    acceleration = np.where(reachable, reference.acceleration, 0.0)
    deflection = (
        static_deflection(platform, pose, twist, acceleration) if platform.n_deflections else None
    )
    return platform.inverse_dynamics(pose, twist, acceleration, deflection=deflection)


class LocalFeedback(Controller):
    """A local law in every leg about the forces of a reference; commands forces.

        f = f_ref + law(q - q_ref, q' - q'_ref, F - F_ref)

    Drives get their motors' inertia and friction on top, ahead of their delay and lag; motors lead
    their legs by what the transmissions wind up. Velocity loops of the drives are not used; their
    gains are one.

    Attributes:
        law: what runs in every leg.
        linear: the machine at home, that the law was designed on.
    """

    name: ClassVar[str] = "local"

    def __init__(
        self, platform: MachineModel, law: LocalLaw, linear: LinearMachine, motion: Any = None
    ) -> None:
        """Prepare the forces of the reference; `law` gives the control period.

        Raises:
            InputError: a motion of another period or machine.
            SingularPoseError: the reference passes a singular pose.
        """
        super().__init__(platform, motion, period=law.period, velocity_gain=1.0, velocity_time=1.0)
        self.law, self.linear = law, linear
        self._drives = drive_model(platform)
        self._prepare(self.reference)
        self._lead_periods = round(self._drives.lead / self.period)
        self._sensor = ForceSensor(platform)
        self._state = self._previous_state = np.zeros(platform.n_actuators)
        self._previous_force = np.zeros(platform.n_actuators)
        self._last_reading = np.zeros(platform.n_actuators)

    def _prepare(self, reference: Reference) -> None:
        drives, forward = self._drives, forward_forces(self.platform, reference)
        inertia_forces = drives.inertia * reference.accelerations
        self._leg_feedforward = forward
        self._reference_force = forward + inertia_forces + drives.friction_force(reference.rates)
        self._coordinates = reference.coordinates + drives.wind_up(forward)
        super()._prepare(reference)

    def start(self, measurement: Measurement) -> None:
        """Start at rest; the first forces that are measured are their own reference."""
        self._state = np.zeros_like(self._state)
        self._previous_force = measurement.forces.copy()

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the forces of control period `step`."""
        row_index, reference = self.reference.row(step), self.reference
        errors = (
            measurement.coordinates - self._coordinates[row_index],
            measurement.rates - reference.rates[row_index],
            measurement.forces - self._previous_force,
        )
        self._previous_state = self._state
        law_force, self._state = self.law.update(self._previous_state, *errors)
        self._last_reading = self._sensor.read(measurement)
        self._previous_force = self._leg_feedforward[row_index]
        outer_force = self._outer_force(np.concatenate(errors), law_force)
        reference_force = self._reference_force[reference.row(step + self._lead_periods)]
        return Command(reference_force + law_force + outer_force, "force")

    def signals(self) -> dict[str, FloatArray]:
        """Return the readings of the legs' load cells [N]."""
        return {"leg_forces": self._last_reading}

    def _outer_force(self, errors: FloatArray, law_force: FloatArray) -> FloatArray | float:
        """Return the forces `(n,)` [N] of an outer loop; `errors` are those of (q, q', F)."""
        return 0.0


class IntegralForceFeedback(LocalFeedback):
    """Integral of each leg's force, fed back: df = -g / (s + leak) dF.

    Struts: `force_feedback`; springs in series: `position_force_feedback`. The force sensor is
    derived from coordinate, rate and actuator force with the leg's parameters, see `ForceSensor`.

    Attributes:
        gain: g [1/s], one number or one per leg.
        leak: [1/s].
    """

    name: ClassVar[str] = "iff"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        gain: Any = None,
        leak: float | None = None,
        period: float | None = None,
    ) -> None:
        """Design the law at home.

        Args:
            platform: with struts or viscoelastic legs.
            motion: reference motion; default: stay at home.
            gain: [1/s]; default the one that damps the worst mode best.
            leak: [1/s]; default a twentieth of the slowest mode, 0.4 with springs in series.
            period: control period [s]; default twenty to the fastest mode's, at most 1 ms.

        Raises:
            InputError: no such legs, numbers that cannot be used, or drives behind which no gain
                damps more than none.
        """
        linear = linearise(platform)
        sample_time = suitable_period(linear) if period is None else period
        self.leak = suitable_leak(linear) if leak is None else leak
        # The gain is a rate [1/s]: well above the fastest pole it no longer changes the modes.
        highest_gain = 10.0 * fastest_pole(linear)

        def law_of(value: Any) -> LocalLaw:
            return force_law(linear, value, sample_time, self.leak)

        self.gain = chosen_gain(linear, gain, law_of, highest_gain)
        super().__init__(platform, law_of(self.gain), linear, motion)


class DirectVelocityFeedback(LocalFeedback):
    """The actuators' rates, fed back: df = -g dq' - k_p dq.

    The spring k_p holds actuators in series with a spring; struts have their own.

    Attributes:
        gain: g [N s/m], one number or one per leg.
        stiffness: k_p [N/m].
    """

    name: ClassVar[str] = "dvf"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        gain: Any = None,
        stiffness: Any = None,
        period: float | None = None,
    ) -> None:
        """Design the law at home.

        Args:
            platform: with struts or viscoelastic legs.
            motion: reference motion; default: stay at home.
            gain: [N s/m]; default the one that damps the worst mode best.
            stiffness: k_p [N/m]; default a quarter of the spring's in series, none for struts.
            period: control period [s]; default twenty to the fastest mode's, at most 1 ms.

        Raises:
            InputError: no such legs, numbers that cannot be used, or drives behind which no gain
                damps more than none.
        """
        linear = linearise(platform)
        sample_time = suitable_period(linear) if period is None else period
        self.stiffness = series_stiffness(linear) if stiffness is None else stiffness
        # A damper of twice mass times pole is critical; ten times that bounds the search.
        highest_gain = 20.0 * fastest_pole(linear) * float(moved_masses(linear).max())

        def law_of(value: Any) -> LocalLaw:
            return velocity_feedback(platform, value, sample_time, stiffness=self.stiffness)

        self.gain = chosen_gain(linear, gain, law_of, highest_gain)
        super().__init__(platform, law_of(self.gain), linear, motion)
