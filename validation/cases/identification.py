"""Identification of a machine whose true numbers are known."""

from __future__ import annotations

import numpy as np

from twin.analysis.platform import Platform, load
from twin.identification.result.identify import identify
from twin.motion.profiles import MultiSineMotion
from twin.plant.plant import encoder_resolution
from twin.validation.case import CaseResult, Measure, validation_case
from twin.validation.rig import record

TRUE_VALUES = {
    "platform.body.mass": 104.6,
    "platform.body.center_of_mass.0": 0.01,
    "leg.drive.friction_torque": 0.25,
}
"""Numbers of the hidden machine that differ from the file's, in SI."""

SINE_AMPLITUDES = dict.fromkeys("xyz", 2e-3) | {"roll": 0.01, "pitch": 0.01, "yaw": 0.01}
"""[m, rad] Amplitude of each sine."""

TOLERANCE_REASON = "target of the study with known truth (benchmarks/known_truth.py)"


@validation_case(
    machines=("stewart",),
    because="one machine with drives of the data sheets stands for all: a run takes ten seconds",
    run_time=9.0,
)
def check_identification(platform: Platform) -> CaseResult:
    """Identification of a machine of known numbers.

    A second plant, with drives, friction, sensors, controller and integrator of its own, moves a
    machine with another payload and friction than the file for 3 s. Commands and encoders alone
    have to show these numbers, inside of their intervals.
    """
    file = load(platform.name, "hardware")
    motion = MultiSineMotion(
        file.home,
        frequencies=[0.5, 1.1, 2.3, 3.1],
        amplitude=SINE_AMPLITUDES,
        duration=3.0,
        phases="random",
        fade_in=0.5,
        fade_out=0.5,
    )
    log = record(file.with_(parameters=TRUE_VALUES), motion, model=file)
    result = identify(file, [log], list(TRUE_VALUES))
    true_values = np.array(list(TRUE_VALUES.values()))
    errors = np.abs(result.values - true_values)
    half_intervals = result.margins * result.standard_errors
    noise = encoder_resolution(file.parameters.legs[0]) / np.sqrt(12.0)
    return check_identification.result(
        platform,
        [
            Measure("mass: relative error", errors[0] / true_values[0], 2e-4, TOLERANCE_REASON),
            Measure("centre of mass: error", errors[1], 2e-4, TOLERANCE_REASON, "m"),
            Measure(
                "dry friction: relative error",
                errors[2] / true_values[2],
                1e-2,
                TOLERANCE_REASON,
            ),
            Measure(
                "largest error over half of its 95 % interval",
                (errors / half_intervals).max(),
                1.0,
                "intervals of a clean machine hold the true values",
            ),
            Measure(
                "prediction errors on data kept apart over the noise of the encoders",
                result.fits[-1].after / noise,
                1.2,
                TOLERANCE_REASON,
            ),
        ],
    )
