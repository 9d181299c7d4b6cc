"""A car brakes; how much of it does the driver on a platform feel?

Three algorithms turn the manoeuvre into a motion inside the actuators' limits. Errors are of what
is perceived, in thresholds of perception; the platform at rest is what they have to beat.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.style
from matplotlib.figure import Figure

import twin
from twin.motion.cueing import compare, make_manoeuvre, standstill_error

platform = twin.load("stewart")
manoeuvre = make_manoeuvre("braking")
outcomes = compare(platform, manoeuvre)

rows = [
    (
        name,
        f"{one.error.total:.2f}",
        f"{one.error.total_correlation:.2f}",
        f"{one.error.total_false_cue:.2f}",
        f"{100.0 * one.use.largest:.0f}",
    )
    for name, one in outcomes.items()
]
still = standstill_error(manoeuvre)
rows.append(("at rest", f"{still.total:.2f}", "-", f"{still.total_false_cue:.2f}", "0"))
titles = ("error", "correlation", "false cues", "largest share of a limit [%]")
columns = ("algorithm", *titles)
print(f"{platform.name}: {manoeuvre.name}")
for label, *values in (columns, *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))

matplotlib.style.use(Path(__file__).with_name("plots.mplstyle"))
figure = Figure(figsize=(8.0, 5.4))
felt, moved = figure.subplots(2, 1, sharex=True)
first = next(iter(outcomes.values())).error
felt.plot(first.time, first.vehicle[0][:, 0], color="#1b2733", linewidth=2.2, label="in the car")
for name, one in outcomes.items():
    felt.plot(one.error.time, one.error.platform[0][:, 0], label=name)
    moved.plot(one.use.time, 1e3 * one.cue.motion.axes(one.use.time).values[:, 0], label=name)
felt.set(ylabel="perceived surge [m/s²]", title="braking: what the driver feels")
felt.legend(ncols=4)
moved.set(xlabel="time [s]", ylabel="surge of the platform [mm]", xlim=(0.0, manoeuvre.duration))
picture = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "motion_cueing.png"
figure.savefig(picture)
print(f"wrote {picture}")
