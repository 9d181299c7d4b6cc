"""Step studies: the step response of one loop of a machine, and gains that shape it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from twin.analysis.tuning.search import Trial, search_bounds
from twin.analysis.tuning.specification import StepSpecification
from twin.analysis.tuning.tuning import Gain, Tuning
from twin.basics.arrays import FloatArray, as_floats, positive
from twin.control.controller import Controller
from twin.control.positions import takes_positions
from twin.errors import InputError, SimulationStoppedError
from twin.model.machine_model import MachineModel
from twin.plant.plant import Plant
from twin.simulation.simulate import simulate
from twin.simulation.trajectory import Trajectory


@dataclass(frozen=True, kw_only=True)
class StepStudy(ABC):
    """Step of one loop of a machine, and its simulation. Cannot be changed.

    Raises:
        InputError: size, duration or timestep not above zero.
    """

    loop: ClassVar[str]
    specification: ClassVar[StepSpecification]
    """default of `tune`"""

    size: float | None = None
    """of the step; None: a round share of the machine's speed or travel"""
    duration: float
    """[s] of the response after the step"""
    timestep: float
    """[s] of the engine"""
    engine: str = "analytic"
    """name"""
    fidelity: str = "accurate"
    """of the engine"""

    def __post_init__(self) -> None:
        for name in ("size", "duration", "timestep"):
            if name != "size" or self.size is not None:
                object.__setattr__(self, name, positive(getattr(self, name), name))

    @abstractmethod
    def gains(self, platform: MachineModel) -> tuple[Gain, ...]:
        """Return the gains of the loop with their bounds and starts."""

    @abstractmethod
    def step_size(self, platform: MachineModel) -> float:
        """Return the size of the step that a machine makes."""

    @abstractmethod
    def response(self, platform: MachineModel, *gains: float) -> tuple[FloatArray, FloatArray]:
        """Return time [s] and response per step `(k,)`, infinite where the loop was stopped."""

    def lasting(self, specification: StepSpecification) -> Self:
        """Return the study with a duration that shows whether a specification is met."""
        return self

    @property
    def time(self) -> FloatArray:
        """Times `(k,)` [s] after the step."""
        steps = np.arange(round(self.duration / self.timestep) + 1)
        return np.asarray(steps * self.timestep, dtype=np.float64)

    def tune(
        self,
        platform: MachineModel,
        *,
        specification: StepSpecification | None = None,
        start: Any = None,
        low: Any = None,
        high: Any = None,
        margin: float = 0.0,
        iterations: int = 30,
        watch: Callable[[Trial], None] | None = None,
    ) -> Tuning:
        """Return gains whose step response meets a specification.

        Args:
            platform: the machine, with or without drives in its parameters.
            specification: of the response, default that of the study.
            start: gains `(m,)`, SI; default those of `gains`, as for the bounds.
            low: smallest gains `(m,)`.
            high: largest gains `(m,)`.
            margin: distance from the bounds that the response keeps, per step.
            iterations: at most.
            watch: called with every trial.

        Raises:
            InputError: an argument that cannot be used, a start at which the loop is unstable, or
                drives that take positions.
        """
        if takes_positions(platform):
            raise InputError(
                "machine", f"the drives of {platform.name} take positions: no loop to tune"
            )
        rule = self.specification if specification is None else specification
        gains = _chosen(self.gains(platform), low, high, start)
        study = self.lasting(rule)
        time, study = study.time, replace(study, size=study.step_size(platform))
        found = search_bounds(
            lambda values: study.response(platform, *values.tolist())[1],
            lambda response: rule.violations(time, response),
            [gain.start for gain in gains],
            [gain.low for gain in gains],
            [gain.high for gain in gains],
            margin=margin,
            iterations=iterations,
            watch=watch,
        )
        return Tuning(platform.name, self.engine, self.loop, gains, rule, time, found)

    def simulated(
        self,
        platform: MachineModel,
        controller: Controller,
        duration: float,
        plant: Plant | None = None,
    ) -> Trajectory | None:
        """Return the motion under a controller; None where the simulation was stopped."""
        try:
            run = simulate(
                platform,
                duration,
                controller=controller,
                plant=plant,
                engine=self.engine,
                fidelity=self.fidelity,
                timestep=self.timestep,
                progress=False,
            )
        except SimulationStoppedError:
            return None
        return None if run.stopped else run

    def no_response(self) -> tuple[FloatArray, FloatArray]:
        """Return time and response of a loop that was stopped: infinite."""
        return self.time, np.full(len(self.time), np.inf)


def _chosen(gains: tuple[Gain, ...], low: Any, high: Any, start: Any) -> tuple[Gain, ...]:
    """Return gains with other bounds and starts, `(m,)` each; None keeps what they have.

    Raises:
        InputError: another size, not finite.
    """
    columns = {"low": low, "high": high, "start": start}
    for name, values in columns.items():
        if values is not None:
            chosen = as_floats(values, name, len(gains)).tolist()
            gains = tuple(
                gain._replace(**{name: value}) for gain, value in zip(gains, chosen, strict=True)
            )
    return gains
