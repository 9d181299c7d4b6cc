"""A function of the user as a controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from twin.basics.arrays import as_vector, call_name, check_arguments, one_of
from twin.control.controller import PERIOD, Controller
from twin.control.reference import Reference
from twin.control.supervisor import Supervisor
from twin.errors import InputError, brief
from twin.model.machine_model import MachineModel
from twin.motion import Motion
from twin.plant.signals import MODES, Command, Measurement

ControlFunction = Callable[[float, Measurement], Any]
"""Time [s] and measurement to the command: `(n,)` numbers or a `Command`."""

WHOLE_STROKE = 1.0
"""Distance from home, in parts of the stroke, that no actuator within its limits has."""


class FunctionController(Controller):
    """A function `(time, measurement) -> command`, called once a control period.

    The command is `(n,)` forces [N] or torques [N m], speeds [m/s, rad/s] with `mode="velocity"`,
    or a `Command`, which says for itself which of the two it has.

    Attributes:
        function: of the user.
        mode: of commands that are plain arrays.
    """

    name = "function"

    def __init__(
        self,
        platform: MachineModel,
        function: ControlFunction,
        motion: Motion | Reference | None = None,
        *,
        mode: Literal["force", "velocity"] = "force",
        period: float = PERIOD,
    ) -> None:
        """Prepare the calls.

        Args:
            platform: the machine.
            function: called with the time [s] since the start and the `Measurement`.
            motion: where it means to go, for the records and the supervisor; the function itself
                does not get it. Default: none; the records then have home as reference.
            mode: of plain arrays: "force", or "velocity" for speeds that the drives keep.
            period: of the calls [s].

        Raises:
            InputError: no function of two arguments, or an argument that cannot be used.
        """
        super().__init__(platform, motion, period=period)
        if not callable(function) or isinstance(function, type):
            raise InputError(
                "controller",
                "must be one of twin.control or a function (time, measurement) -> command, not "
                f"{brief(function)}",
            )
        check_arguments(function, "controller", "time", "measurement")
        self.function, self.mode = function, one_of(mode, "mode", MODES)
        self._aimless = motion is None
        self._call = f"controller {call_name(function)}(time, measurement)"

    def start(self, measurement: Measurement) -> None:
        """Do nothing: the function has what state it keeps."""

    def update(self, step: int, measurement: Measurement) -> Command:
        """Return the function's command in control period `step`, checked.

        Raises:
            InputError: it returns no command, or one of another shape or that is not finite; names
                the function.
        """
        found: Any = self.function(step * self.period, measurement)
        if not isinstance(found, Command):
            return Command(self._checked(found), self.mode)  # type: ignore[arg-type]
        if found.mode not in MODES:
            raise InputError(self._call, f"unknown mode {brief(found.mode)} of its Command")
        for part in (found.values, found.feedforward, found.brakes):
            if part is not None:
                self._checked(part)
        return found

    def redirect(self, reference: Reference) -> None:
        """Record and watch another reference from now on; see `Controller.redirect`."""
        super().redirect(reference)
        self._aimless = False

    def supervisor(self) -> Supervisor:
        """Return the supervisor; without a motion it watches the strokes, no following error."""
        bounds = {"following": WHOLE_STROKE} if self._aimless else {}
        return Supervisor(self.platform, self.reference, self.period, **bounds)

    def _checked(self, values: Any) -> Any:
        return as_vector(values, self._call, self.platform.n_actuators)


def as_controller(platform: MachineModel, given: Any, period: float | None = None) -> Controller:
    """Return a controller of a machine as it is, or a function as a controller.

    Args:
        platform: the machine.
        given: a controller, or a function; see `FunctionController`.
        period: of a function [s], default 1 ms.

    Raises:
        InputError: neither of the two, of a machine with other actuators, or a period for a
            controller, which has its own.
    """
    if not isinstance(given, Controller):
        return FunctionController(platform, given, period=PERIOD if period is None else period)
    if period is not None:
        raise InputError("period", "is for a function; a controller is made with its own")
    if given.platform.n_actuators != platform.n_actuators:
        raise InputError("controller", "is of a machine with other actuators")
    return given
