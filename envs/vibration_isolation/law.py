"""An analytic law for `VibrationIsolation`: what a trained policy has to beat."""

from __future__ import annotations

from twin.basics.arrays import as_vector
from twin.envs.linear_law import LinearLaw
from twin.envs.vibration_isolation.task import VibrationIsolation
from twin.errors import InputError

BEHIND_SPRINGS = {"base": 1.1, "delay": -0.004, "velocity": 0.3, "acceleration": 0.004}
RIGID = {"base": 1.0, "delay": 0.003, "velocity": 0.0, "acceleration": 0.0}
"""Usual gains: found by trial on `compliant_stewart` with its hardware, and on rigid machines."""


class IsolationLaw(LinearLaw):
    """Isolation law, linear in the observation: feedforward of the base's motion and feedback.

    In directions of the base, with the Jacobian J at home, the actuators' speeds are

        speeds = -J (base (v_b + delay a_b) + velocity v_p + acceleration a_p)

    from the velocities v and accelerations a, measured by inertial sensors of base and platform.
    The first part moves the platform against its base; feedback of velocity stiffens, behind a
    spring, against inertial space what feedback of acceleration damps there (skyhook). It needs
    speeds as actions.

    Reference: D. Karnopp, M. J. Crosby, R. A. Harwood, Vibration control using semi-active force
    generators, Journal of Engineering for Industry 96 (1974), for the skyhook.
    """

    def __init__(
        self,
        task: VibrationIsolation,
        *,
        base: float | None = None,
        delay: float | None = None,
        velocity: float | None = None,
        acceleration: float | None = None,
    ) -> None:
        """Compute the gains for the spaces of a task.

        Args:
            task: of an environment, `env.unwrapped.task`.
            base: part of the base's velocity compensated; default 1.1 behind springs, else 1.
            delay: [s] of the base's measured velocity, less than zero where it leads, as velocities
                that fade do; default -4 ms behind springs, else 3 ms.
            velocity: part of the platform's that is opposed; default 0.3 behind springs, else none.
            acceleration: of the platform that is opposed [s]; default 4 ms behind springs, else
                none: where legs are rigid it is their own.

        Raises:
            InputError: another task, forces as actions, a gain that is not finite.
        """
        if not isinstance(task, VibrationIsolation):
            raise InputError("task", f"must be of VibrationIsolation, not {type(task).__name__}")
        if task.settings.action != "velocities":
            raise InputError(
                "task", "the law commands velocities; make it with action='velocities'"
            )
        jacobian = task.platform.jacobian(task.platform.home)[:, :3]
        usual = BEHIND_SPRINGS if task.platform.n_deflections else RIGID
        given = {
            name: usual[name] if value is None else float(as_vector([value], name, 1)[0])
            for name, value in zip(usual, (base, delay, velocity, acceleration), strict=True)
        }
        weights = {
            "base velocity": given["base"],
            "base acceleration": given["base"] * given["delay"],
            "platform velocity": given["velocity"],
            "platform acceleration": given["acceleration"],
        }
        super().__init__(task, {name: -gain * jacobian for name, gain in weights.items()})
