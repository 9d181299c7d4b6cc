"""HAC-LAC: local damping in every leg, and an outer loop on the pose."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from twin.basics.arrays import FloatArray, one_of
from twin.control.active_damping.local import (
    DirectVelocityFeedback,
    IntegralForceFeedback,
    LocalFeedback,
)
from twin.control.active_damping.local_design import TRACKING, reaction, slowest
from twin.control.active_damping.outer_design import outer_loop
from twin.control.reference import Reference
from twin.errors import InputError
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.signals import Measurement

INNER: dict[str, type[IntegralForceFeedback] | type[DirectVelocityFeedback]] = {
    "iff": IntegralForceFeedback,
    "dvf": DirectVelocityFeedback,
}

SHARE = 0.5
"""Bandwidth of the outer loop per slowest mode."""


class HacLac(LocalFeedback):
    """High authority control around low authority control; commands forces.

        f = f_ref + law(..) - K (x, z, s),   s: platform's displacement, summed up

    The local loops damp the modes and need no model; the outer one moves the platform as the
    reference says and holds it against constant loads, which force feedback alone gives way to.

    Attributes:
        outer: gains and Kalman filter.
        bandwidth: of the outer loop [Hz].
    """

    name: ClassVar[str] = "hac_lac"

    def __init__(
        self,
        platform: MachineModel,
        motion: Motion | Reference | None = None,
        *,
        inner: str | LocalFeedback = "iff",
        bandwidth: float | None = None,
        period: float | None = None,
        **options: Any,
    ) -> None:
        """Design both loops at home.

        Args:
            platform: with struts or viscoelastic legs, and six degrees of freedom.
            motion: where it shall go; default: stay at home.
            inner: "iff" or "dvf"; or a controller whose law shall be taken.
            bandwidth: of the outer loop [Hz]; default half of the slowest mode, or what late
                drives leave of it.
            period: of the controller [s]; default twenty to the fastest mode's, at most 1 ms.
            options: of the inner loop, such as its gain; none with a controller.

        Raises:
            InputError: no such legs, numbers that cannot be used, or drives behind which the inner
                law damps nothing.
            StateError: the outer loop's gains do not settle.
        """
        local = _local(platform, inner, period, options)
        super().__init__(platform, local.law, local.linear, motion)
        if platform.n_actuators != 6:
            raise InputError("platform", f"{platform.name} must have six actuators")
        late = TRACKING / reaction(local.linear, local.period)
        usual = min(SHARE * slowest(local.linear), late) / (2.0 * np.pi)
        self.bandwidth = usual if bandwidth is None else bandwidth
        self.outer = outer_loop(local.linear, local.law, self.bandwidth)
        self._estimate = np.zeros(len(self.outer.machine.A))
        self._sum = np.zeros(6)

    def start(self, measurement: Measurement) -> None:
        """Begin with the force of the reference, nothing summed up."""
        super().start(measurement)
        self._estimate[:] = 0.0
        self._sum[:] = 0.0

    def signals(self) -> dict[str, FloatArray]:
        """Return what the legs' load cells read [N] and the estimated displacement `(6,)`."""
        moved = self.outer.displacement @ self._estimate
        return super().signals() | {"estimated_displacement": moved}

    def _added(self, seen: FloatArray, deviation: FloatArray) -> FloatArray | float:
        outer = self.outer
        machine = outer.machine
        estimate = self._estimate + outer.filter @ (seen - machine.C @ self._estimate)
        added = -outer.gain @ np.concatenate([estimate, self._memory, self._sum])
        # From what is measured: a load that the filter does not know biases its estimate.
        n = len(added)
        moved = outer.inverse @ (seen[:n] + outer.springs @ seen[2 * n :])
        self._sum = self._sum + self.period * moved
        self._estimate = machine.A @ estimate + machine.B @ (deviation + added)
        return np.asarray(added)


def _local(
    platform: MachineModel,
    inner: str | LocalFeedback,
    period: float | None,
    options: dict[str, Any],
) -> LocalFeedback:
    if not isinstance(inner, LocalFeedback):
        kind = INNER[one_of(inner, "inner", INNER)]
        return kind(platform, None, period=period, **options)
    if options or period is not None or inner.platform.hash != platform.hash:
        raise InputError("inner", "must be of this machine, and brings its own period and options")
    return inner
