"""Figures of courses under control: errors over time, estimates of the Kalman observer."""

from __future__ import annotations

import numpy as np

from twin.validation.cases.tracking.tracked import Tracked
from twin.validation.results import Curve, Panel, Plot


def tracking_plots(
    courses: dict[tuple[str, str], Tracked],
    units: tuple[tuple[str, str], ...],
    names: tuple[str, ...],
) -> list[Plot]:
    """Return errors of the named controllers over time, and what the observer estimates.

    Args:
        courses: by plant and controller, with "hardware" and "PI + Kalman" among them.
        units: names and units of position and rotation errors, times a thousand.
        names: of the controllers to be shown.
    """
    errors = []
    for k, (what, unit) in enumerate(units[:2]):
        curves = []
        for name in names:
            course = courses["hardware", name]
            size = np.linalg.norm((course.position, course.rotation)[k], axis=1)
            curves.append(Curve(name, course.time[1:], 1e3 * size[1:]))
        errors.append(Panel(f"{what} error [{unit}]", *curves, log_y=True))
    course = courses["hardware", "PI + Kalman"]
    signals = course.trajectory.signals
    time, estimated = signals["time"], signals["estimated_rate"]
    actual = course.trajectory.rates[: len(time)]
    legs = range(estimated.shape[1])
    return [
        Plot(
            "Errors under control, hardware plant",
            "time [s]",
            *errors,
            caption="Thesis figure 4.40 shows the error in pitch on its ideal plant.",
        ),
        Plot(
            "Speed and disturbance estimated by the Kalman observer, hardware plant",
            "time [s]",
            Panel(
                "speed of leg 1 [mm/s]",
                Curve("actual", time, 1e3 * actual[:, 0]),
                Curve("estimated", time, 1e3 * estimated[:, 0], "dash"),
            ),
            Panel(
                "estimated minus actual [mm/s]",
                Curve("leg 1", time, 1e3 * (estimated - actual)[:, 0]),
            ),
            Panel(
                "disturbance force [N]",
                *(
                    Curve(f"leg {k + 1}", time, signals["estimated_disturbance"][:, k])
                    for k in legs
                ),
            ),
            caption="As thesis figures 4.41 to 4.44. The observer knows the motor's position; the "
            "leg's actual speed differs from it by play and wind-up of the transmission.",
        ),
    ]
