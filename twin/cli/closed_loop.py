"""A machine that follows a motion under a controller, as options of commands describe it."""

from __future__ import annotations

from twin.control.controller import Controller
from twin.engines.base import dividing_step
from twin.machine.file.read import GENERIC_SOURCE
from twin.model.machine_model import MachineModel
from twin.plant.plant import Plant
from twin.simulation.simulate import Trajectory, simulate


def closed_loop(
    platform: MachineModel,
    controller: Controller,
    duration: float,
    *,
    engine: str,
    fidelity: str,
    timestep: float | None = None,
    seed: int = 0,
    every_period: bool = False,
) -> Trajectory:
    """Return the run of a controlled machine through its drives and sensors.

    Args:
        platform: the machine.
        controller: controller with its reference.
        duration: [s]; rounded to control periods.
        engine: name of the engine.
        fidelity: fidelity of the engine.
        timestep: time step of the engine [s]; None: that of `dividing_step`.
        seed: seed of the sensors' errors.
        every_period: keep one instant per control period, instead of every step.

    Raises:
        InputError: as `simulate`.
    """
    engine_step = dividing_step(platform, controller.period) if timestep is None else timestep
    return simulate(
        platform,
        max(1, round(duration / controller.period)) * controller.period,
        controller=controller,
        plant=Plant(platform, seed=seed),
        engine=engine,
        timestep=engine_step,
        fidelity=fidelity,
        every=round(controller.period / engine_step) if every_period else 1,
    )


def saturated(run: Trajectory) -> list[str]:
    """Return sentences on the actuators that reached their limits, and on limits that were off."""
    sentences = run.saturation.sentences(rotary=run.coordinate_unit == "rad")
    unlimited_note = (
        [] if run.limits else ["the actuators' limits of force and speed were left out"]
    )
    return unlimited_note + sentences


def generic_note(platform: MachineModel) -> list[str]:
    """Return the source of a generic configuration that the machine's file does not contain."""
    configuration = platform.parameters.configuration
    if configuration is None or not configuration.applied:
        return []
    source = configuration.source or ""
    return [f"{configuration.applied}: {source}"] if source.startswith(GENERIC_SOURCE) else []
