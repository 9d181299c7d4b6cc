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
"""Of cascades: runs rise from rest faster than the thesis' velocity feedforward sets in."""

VARIANTS: dict[str, dict[str, Any]] = {
    "feedback alone": {"compensation": False, "estimated_speed": False},
    "estimated speed": {"compensation": False},
    "estimated disturbance too": {},
}
"""Of the cascade in torque mode."""

Evidence = dict[str, dict[str, tuple[float, float, float]]]
"""By plant and variant: root mean squares of position [m], rotation [rad], actuators."""

LACKING = ("hardware, no friction", "hardware, no backlash")
"""Plants without something; used for the gain by the disturbance alone."""


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
    plants = {**machines, **dict(zip(LACKING, (smooth, tight), strict=True))}
    found: Evidence = {}
    for plant, machine in plants.items():
        reference = sample_reference(machine, motion, period)
        engine = make_engine("analytic", machine, timestep, "fast")
        found[plant] = {}
        for variant, options in VARIANTS.items():
            if variant == "feedback alone" and plant in LACKING:
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
        "What the observer's estimates bring",
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
            "friction that is found and fed forward leaves less to feedback; with the other sign "
            "it would count twice"
            if judged
            else "beside that with both",
            at_least=judged,
        )
    yield Quantity(
        "ideal plant: errors with and without estimates apart, in parts of the motion",
        _apart(found, motion),
        "largest of position, rotation and actuators: the plant has nothing to be estimated",
    )


class LinearEncoderPlant(Plant):
    """Drives of a machine with linear encoders at its actuators, behind play and transmission."""

    def measure(self, state: State) -> Measurement:
        """Return the measurement, with the actuators' own coordinates in counts as fine."""
        counts = np.round(self.actuated(state)[0] / self.drives.resolution)
        self._last = super().measure(state)._replace(coordinates=counts * self.drives.resolution)
        return self._last


Errors = dict[str, tuple[float, float, float]]
"""By controller and place of the encoders: root mean squares as in `Evidence`."""


def linear_encoders(
    hardware: Platform, motion: Motion, run: float, period: float, timestep: float
) -> Errors:
    """Return errors with encoders at the motors and at the actuators; arguments as above."""
    reference = sample_reference(hardware, motion, period)
    engine = make_engine("analytic", hardware, timestep, "fast")
    found = {}
    for name, kind in (("cascade", Cascade), ("observer", ObserverCascade)):
        for place, plant in (("motor", Plant), ("linear", LinearEncoderPlant)):
            controller = kind(hardware, reference, **FROM_THE_START)
            course = tracked(hardware, controller, engine, run, plant(hardware))
            found[f"{name}, {place}"] = course.rms
    engine.close()
    return found


def evidence_statements(found: Evidence, linear: Errors) -> tuple[Statement, ...]:
    """Return the thesis' sentences about the observer and about linear encoders beside ours."""
    ideal, real = found["ideal"], found["hardware"]
    said = [1e3 * ideal[name][1] for name in VARIANTS]
    rubbing = [1e3 * real[name][1] for name in VARIANTS]
    smooth = _share(found, "hardware, no friction")
    tight = _share(found, "hardware, no backlash")
    alone, both = "feedback alone", "estimated disturbance too"
    return (
        THESIS["observer_in_simulation"].judged(
            f"On the ideal plant rotation errs by {said[0]:.4f} mrad with feedback alone in torque "
            f"mode, {said[1]:.4f} on estimated speeds, {said[2]:.4f} with the disturbance. That PI "
            "+ Kalman errs less than the cascade there too is no merit of its estimates but of "
            "torque mode: there the controller closes the velocity loop, while the cascade's "
            "drives follow, at their shorter step, a speed that is held for a control period.",
            _smaller(ideal[alone], ideal[both]),
        ),
        THESIS["observer_in_real_time"].judged(
            f"On the hardware plant the errors of position and rotation are "
            f"{1e3 * real[both][0]:.4f} mm and {rubbing[2]:.4f} mrad with both estimates, "
            f"{1e3 * real[alone][0]:.4f} mm and {rubbing[0]:.4f} mrad with feedback alone, which "
            "has the drives' exact speeds. On estimated speeds, feeding the disturbance forward "
            f"divides the rotation error by {rubbing[1] / rubbing[2]:.2f}; by {smooth:.2f} without "
            f"friction, {tight:.2f} without backlash: it finds friction, not play, since encoders "
            "are on the motors' side of it.",
            _smaller(real[both], real[alone]),
        ),
        THESIS["linear_encoders"].judged(
            f"With linear encoders the thesis' cascade errs by {_errors(linear['cascade, linear'])}"
            f", with encoders on the motors by {_errors(linear['cascade, motor'])}.",
            _smaller(linear["cascade, linear"], linear["cascade, motor"]),
        ),
        THESIS["linear_encoder_torque"].judged(
            "With linear encoders, the cascade with observer in torque mode errs by "
            f"{_errors(linear['observer, linear'])}, with encoders on the motors by "
            f"{_errors(linear['observer, motor'])}.",
            _smaller(linear["observer, linear"], linear["observer, motor"]),
            "the velocity loop then closes over play and transmission, whose stiffness is adopted, "
            "and swings with these gains; encoders on the motors leave both outside",
        ),
    )


def _smaller(errors: tuple[float, float, float], others: tuple[float, float, float]) -> bool:
    """Return whether all errors are smaller than others."""
    return all(one < other for one, other in zip(errors, others, strict=True))


def _errors(errors: tuple[float, float, float]) -> str:
    return f"{1e3 * errors[0]:.3f} mm and {1e3 * errors[1]:.3f} mrad"


def _share(found: Evidence, plant: str) -> float:
    return found[plant]["estimated speed"][1] / found[plant]["estimated disturbance too"][1]


def _apart(found: Evidence, motion: tuple[float, float, float]) -> float:
    """Return by how much variants differ on the ideal plant, in parts of the motion."""
    errors = np.array(list(found["ideal"].values()))
    return float((np.ptp(errors, axis=0) / np.array(motion)).max())
