"""Speed and disturbance of every leg from its position and force: a Kalman filter per leg."""

from __future__ import annotations

from typing import Any

import numpy as np

from twin.basics.arrays import FloatArray, as_floats, as_vector
from twin.control.observer.gain import recursive_gains, steady_gains
from twin.control.observer.noise import ObserverDesign
from twin.errors import InputError
from twin.kernels.control.observer import LegModels, observe


class KalmanObserver:
    """Kalman filters of n legs, stepped together once per control period.

    Attributes:
        state: `(n, 3)` estimated coordinate [m], rate [m/s] and disturbance [N] (or [rad],
            [rad/s], [N m]) after the last measurement; overwritten by `update`.
        innovation: `(n,)` what the last prediction of the coordinate missed [m] or [rad].
        gain: `(k, n, 3)` gains of the first k periods; the last holds from there on.
    """

    state: FloatArray
    innovation: FloatArray
    gain: FloatArray

    def __init__(self, design: ObserverDesign, start_covariance: Any = None) -> None:
        """Compute the gains.

        Args:
            design: model and noise of the legs.
            start_covariance: `(n, 3, 3)` of the start state: the gains follow the covariance
                from there; default None, the steady gains from the first period on.

        Raises:
            InputError: the covariance has another shape, or is not symmetric and non-negative.
            StateError: the gains do not settle (`gain.CovarianceError`).
        """
        self.design = design
        n = len(design.measurement)
        if start_covariance is None:
            self.gain = steady_gains(design).gain
        else:
            start = as_floats(start_covariance, "start_covariance")
            if start.shape != (n, 3, 3) or not np.array_equal(start, np.swapaxes(start, 1, 2)):
                raise InputError("start_covariance", f"must be symmetric, ({n}, 3, 3)")
            size = np.sqrt(np.einsum("nii->ni", np.maximum(start, 0.0)))
            size[size == 0.0] = 1.0
            scaled = start / (size[:, :, None] * size[:, None, :])
            if not (np.linalg.eigvalsh(scaled) >= -1e-9).all():
                raise InputError("start_covariance", "must have no negative eigenvalue")
            self.gain = recursive_gains(design, start).gain
        self.state, self.innovation = np.zeros((n, 3)), np.zeros(n)
        model = design.model
        self._model = LegModels(model.transition, model.input, model.output, model.feedthrough)
        self._rows = list(self.gain)
        self._unheard = np.zeros((n, 3))
        self._last = len(self._rows) - 1
        self._count = 0

    def start(self, position: Any, rate: Any = None, disturbance: Any = None) -> None:
        """Begin from measured coordinates `(n,)`, rates and disturbances (default zero).

        At rest the disturbance is the force that holds the machine.

        Raises:
            InputError: wrong shape or not finite.
        """
        n = len(self.state)
        zero = np.zeros(n)
        self.state[:, 0] = as_vector(position, "position", n)
        self.state[:, 1] = zero if rate is None else as_vector(rate, "rate", n)
        self.state[:, 2] = zero if disturbance is None else as_vector(disturbance, "disturbance", n)
        self.innovation[:] = 0.0
        self._count = 0

    def update(self, position: FloatArray, force: FloatArray) -> FloatArray:
        """Return the state `(n, 3)` at a measurement of `position` `(n,)`; it is overwritten.

        `force` `(n,)` is what the actuators gave over the period before the measurement. Both
        come from the loop and are not checked again.

        Reference:
            Stewart thesis, equations (4.12).
        """
        row = self._rows[min(self._count, self._last)]
        observe(self._model, row, force, position, self.state, self.innovation)
        self._count += 1
        return self.state

    def predict(self, force: FloatArray) -> FloatArray:
        """Return the state `(n, 3)` a period later without a measurement; it is overwritten.

        The innovation keeps its last value: nothing was compared.
        """
        innovation = self.innovation.copy()
        observe(self._model, self._unheard, force, innovation, self.state, self.innovation)
        self.innovation[:] = innovation
        return self.state

    @property
    def position(self) -> FloatArray:
        """Estimated coordinates `(n,)`, a view."""
        return self.state[:, 0]

    @property
    def rate(self) -> FloatArray:
        """Estimated rates `(n,)`, a view."""
        return self.state[:, 1]

    @property
    def disturbance(self) -> FloatArray:
        """Estimated disturbance forces `(n,)`, a view."""
        return self.state[:, 2]
