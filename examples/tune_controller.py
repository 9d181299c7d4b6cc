"""Gains of a velocity loop from a step specification, and the step before and after.

The search changes both gains until the response keeps its bounds. The machine's weight is not
carried at the step, so that soft gains let it sag first. `control_snippet` is what goes into
platform.toml; on the command line: `twin tune stewart --out gains.toml`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.style
from matplotlib.figure import Figure

import twin
from twin.analysis.tuning.steps import VelocityStudy
from twin.analysis.tuning.tuning import VELOCITY_STEP, control_snippet, gains_text

platform = twin.load("stewart")
tuning = VelocityStudy().tune(platform)
trials = tuning.search.trials

rows = []
for number, trial in enumerate(trials):
    figures = tuning.figures(trial)
    numbers = (1e3 * figures.rise_time, 1e3 * figures.settling_time, 100.0 * figures.overshoot)
    gains = gains_text(tuning, trial.parameters)
    rows.append((str(number), gains, *(f"{value:.3g}" for value in numbers)))
titles = ("rise [ms]", "settling [ms]", "overshoot [%]")
print(f"{platform.name}: velocity loop")
for label, *values in (("iteration", "gains", *titles), *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))
print(control_snippet(platform, tuning))

matplotlib.style.use(Path(__file__).with_name("plots.mplstyle"))
figure = Figure()
axes = figure.subplots()
time = 1e3 * tuning.time
for name, trial in (("start", trials[0]), ("half-way", trials[2]), ("found", trials[-1])):
    axes.plot(time, trial.response, label=f"{name}: {gains_text(tuning, trial.parameters)}")
for bound in (VELOCITY_STEP.lower(tuning.time), VELOCITY_STEP.upper(tuning.time)):
    axes.plot(time, bound, color="#1b2733", linestyle=":", linewidth=1.0)
axes.set(xlabel="time [ms]", ylabel="speed per setpoint", xlim=(0.0, time[-1]))
axes.set_title("step of the velocity loop between its bounds (dotted)")
axes.legend()
picture = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "tune_controller.png"
figure.savefig(picture)
print(f"wrote {picture}")
