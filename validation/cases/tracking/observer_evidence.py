"""Errors with and without the speed and disturbance estimates of the Kalman observer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from twin.analysis.platform import Platform
from twin.control.cascade import Cascade
from twin.control.observer.cascade import ObserverCascade
from twin.control.reference import sample_reference
from twin.engines import make_engine
from twin.model.engine import State
from twin.motion.motion import Motion
from twin.plant.plant import Plant
from twin.plant.signals import Measurement
from twin.validation.cases.tracking.tracked import motion_size, tracked, with_drive
from twin.validation.published.papers import THESIS
from twin.validation.results import Entry, Quantity, Statement, Table, entry_of

FROM_THE_START: dict[str, Any] = {"feedforward_start": 0.0, "feedforward_rise": 0.0}
"""Options of cascades: velocity feedforward from the start, since runs rise fast from rest."""

VARIANTS: dict[str, dict[str, Any]] = {
    "feedback alone": {"compensation": False, "estimated_speed": False},
    "estimated speed": {"compensation": False},
    "estimated disturbance too": {},
}
"""Options of the cascade in torque mode, by variant."""

Evidence = dict[str, dict[str, tuple[float, float, float]]]
"""By plant and variant: root mean squares of position [m], rotation [rad], actuators."""

REDUCED_PLANTS = ("hardware, no friction", "hardware, no backlash")
"""Plants without friction or backlash, on which only the disturbance fed forward is judged."""


def observer_evidence(
    machines: dict[str, Platform], motion: Motion, run: float, period: float, timestep: float
) -> tuple[Evidence, tuple[float, float, float]]:
    """Return errors of all variants on plants with and without friction and backlash.

    Args:
        machines: "ideal" and "hardware".
        motion: longer than the run.
        run: [s]
        period: of the controllers [s].
        timestep: of the analytic engine [s].

    Returns:
        The errors, and root mean squares of the motion itself about its begin.
    """
    hardware = machines["hardware"]
    smooth = with_drive(hardware, friction_torque=0.0, viscous_torque=0.0)
    tight = with_drive(hardware, backlash=0.0)
    plants = {**machines, **dict(zip(REDUCED_PLANTS, (smooth, tight), strict=True))}
    found: Evidence = {}
    for plant, machine in plants.items():
        reference = sample_reference(machine, motion, period)
        engine = make_engine("analytic", machine, timestep, "fast")
        found[plant] = {}
        for variant, options in VARIANTS.items():
            if variant == "feedback alone" and plant in REDUCED_PLANTS:
                continue
            controller = ObserverCascade(machine, reference, **options, **FROM_THE_START)
            found[plant][variant] = tracked(machine, controller, engine, run).rms
        engine.close()
    return found, motion_size(reference, round(run / period) + 1)


def evidence_table(found: Evidence) -> Table:
    """Return position and rotation errors by plant and variant."""
    rows = [
        (
            plant,
            *(
                f"{1e3 * variants[name][k]:.4f}" if name in variants else ""
                for k in range(2)
                for name in VARIANTS
            ),
        )
        for plant, variants in found.items()
    ]
    units = ("position [mm]", "rotation [mrad]")
    return Table(
        "Tracking errors with and without the observer's estimates",
        ("plant", *(f"{name}: {unit}" for unit in units for name in VARIANTS)),
        tuple(rows),
        "Root mean squares on the analytic engine; the same gains in torque mode, on speeds that "
        "drives measure, on estimated speeds, and with the estimated disturbance fed forward.",
    )


def evidence_measures(found: Evidence, motion: tuple[float, float, float]) -> Iterator[Entry]:
    """Yield the gain by feeding the disturbance forward."""
    for plant, judged, name in (
        ("hardware", True, "hardware plant"),
        ("hardware, no backlash", False, "hardware plant without backlash"),
        ("hardware, no friction", False, "hardware plant without friction"),
    ):
        yield entry_of(
            f"{name}: rotation error without disturbance fed forward per that with it",
            _share(found, plant),
            1.0 if judged else None,
            "friction that is estimated and fed forward leaves less error to feedback; with the "
            "opposite sign it would act twice"
            if judged
            else "for comparison with the hardware plant",
            at_least=judged,
        )
    yield Quantity(
        "ideal plant: difference of the errors with and without estimates, per motion",
        _apart(found, motion),
        "largest of position, rotation and actuators; the ideal plant has no disturbance",
    )


class LinearEncoderPlant(Plant):
    """Drives of a machine with linear encoders on the legs, behind transmission and backlash."""

    def measure(self, state: State) -> Measurement:
        """Return the measurement with the legs' coordinates, in counts of the same resolution."""
        counts = np.round(self.actuated(state)[0] / self.drives.resolution)
        self._last = super().measure(state)._replace(coordinates=counts * self.drives.resolution)
        return self._last


Errors = dict[str, tuple[float, float, float]]
"""By controller and place of the encoders: root mean squares as in `Evidence`."""


def linear_encoders(
    hardware: Platform, motion: Motion, run: float, period: float, timestep: float
) -> Errors:
    """Return the errors with linear encoders, and of the cascade also with motor encoders.

    Args:
        hardware: the machine with its drives.
        motion: longer than the run.
        run: [s]
        period: of the controllers [s].
        timestep: of the analytic engine [s].
    """
    reference = sample_reference(hardware, motion, period)
    engine = make_engine("analytic", hardware, timestep, "fast")
    found = {}
    for name, kind, plant in (
        ("cascade, motor", Cascade, Plant),
        ("cascade, linear", Cascade, LinearEncoderPlant),
        ("observer, linear", ObserverCascade, LinearEncoderPlant),
    ):
        controller = kind(hardware, reference, **FROM_THE_START)
        found[name] = tracked(hardware, controller, engine, run, plant(hardware)).rms
    engine.close()
    return found


def evidence_statements(found: Evidence, linear: Errors) -> tuple[Statement, ...]:
    """Return the thesis' statements about the observer and about linear encoders beside ours."""
    ideal, real = found["ideal"], found["hardware"]
    ideal_errors = [1e3 * ideal[name][1] for name in VARIANTS]
    real_errors = [1e3 * real[name][1] for name in VARIANTS]
    without_friction = _share(found, "hardware, no friction")
    without_backlash = _share(found, "hardware, no backlash")
    alone, both = "feedback alone", "estimated disturbance too"
    return (
        THESIS["observer_in_simulation"].judged(
            f"On the ideal plant in torque mode the rotation error is {ideal_errors[0]:.4f} mrad "
            f"with feedback alone, {ideal_errors[1]:.4f} mrad on estimated speeds and "
            f"{ideal_errors[2]:.4f} mrad with the disturbance fed forward. That PI + Kalman has a "
            "smaller error than the cascade there is due to torque mode, not to its estimates: the "
            "controller closes the velocity loop itself, while the cascade's drives follow a speed "
            "that is held for a control period.",
            _smaller(ideal[alone], ideal[both]),
        ),
        THESIS["observer_in_real_time"].judged(
            f"On the hardware plant the errors of position and rotation are "
            f"{_errors(real[both])} with both estimates, and {_errors(real[alone])} with feedback "
            "alone on the drives' exact speeds. On estimated speeds, the disturbance fed forward "
            f"divides the rotation error by {real_errors[1] / real_errors[2]:.2f}, without "
            f"friction by {without_friction:.2f}, without backlash by {without_backlash:.2f}: the "
            "observer estimates friction, but not backlash, which encoders on motors do not see.",
            _smaller(real[both], real[alone]),
        ),
        THESIS["linear_encoders"].judged(
            "The errors of the thesis' cascade are "
            f"{_errors(linear['cascade, linear'])} with linear encoders, and "
            f"{_errors(linear['cascade, motor'])} with encoders on the motors.",
            _smaller(linear["cascade, linear"], linear["cascade, motor"]),
        ),
        THESIS["linear_encoder_torque"].judged(
            "In torque mode the errors of the cascade with observer are "
            f"{_errors(linear['observer, linear'])} with linear encoders, and "
            f"{_errors(real[both])} with encoders on the motors.",
            _smaller(linear["observer, linear"], real[both]),
            "with linear encoders the velocity loop contains backlash and transmission, whose "
            "stiffness is adopted, and oscillates with these gains; with encoders on the motors it "
            "contains neither",
        ),
    )


def _smaller(errors: tuple[float, float, float], others: tuple[float, float, float]) -> bool:
    """Return whether each error is smaller than the other one."""
    return all(one < other for one, other in zip(errors, others, strict=True))


def _errors(errors: tuple[float, float, float]) -> str:
    return f"{1e3 * errors[0]:.4f} mm and {1e3 * errors[1]:.4f} mrad"


def _share(found: Evidence, plant: str) -> float:
    return found[plant]["estimated speed"][1] / found[plant]["estimated disturbance too"][1]


def _apart(found: Evidence, motion: tuple[float, float, float]) -> float:
    """Return by how much variants differ on the ideal plant, in parts of the motion."""
    errors = np.array(list(found["ideal"].values()))
    return float((np.ptp(errors, axis=0) / np.array(motion)).max())
