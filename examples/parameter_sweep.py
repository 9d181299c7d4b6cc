"""Many closed loops at once: what does a wrong model of the payload cost a controller?

A sweep runs every combination and makes one table. With a folder that stays it goes on where it was
interrupted, and `workers` or `backend="ray"` spread it over cores or computers.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.style
from matplotlib.figure import Figure

from twin.sweep import Sweep, run_sweep

MASS = "platform.body.mass"
CONTROLLERS = [
    {"name": "feedforward", "label": "feedforward, knows the mass"},
    {"name": "feedforward", "label": "feedforward, expects 97 kg", "model": "nominal"},
    {"name": "computed_torque", "label": "computed torque, expects 97 kg", "model": "nominal"},
]

sweep = Sweep.model_validate(
    {
        "machine": "stewart",
        "fidelity": "fast",
        "controllers": CONTROLLERS,
        "motion": {"axis": "z", "amplitude": 0.02, "frequency": 1.0, "duration": 1.0},
        "parameters": {MASS: [67, 82, 97, 112, 127]},
    }
)
with TemporaryDirectory() as folder:
    runs = run_sweep(sweep, folder, backend="serial").to_pylist()

rows = [
    (run["controller"], f"{run[MASS]:g}", f"{1e6 * run['position_rms']:.2f}", run["status"])
    for run in runs
]
titles = ("mass [kg]", "root mean square error [um]")
columns = (
    "controller",
    *titles,
    "status",
)
print("stewart, heave of 20 mm at 1 Hz")
for label, *values in (columns, *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))

matplotlib.style.use(Path(__file__).with_name("plots.mplstyle"))
figure = Figure(figsize=(7.0, 4.0))
axes = figure.subplots()
for choice in CONTROLLERS:
    chosen = [run for run in runs if run["controller"] == choice["label"]]
    errors = [1e6 * run["position_rms"] for run in chosen]
    axes.plot([run[MASS] for run in chosen], errors, "o-", label=choice["label"])
axes.set(xlabel="mass of platform and payload [kg]", ylabel="position error, root mean square [um]")
axes.set_title("stewart, heave of 20 mm at 1 Hz")
axes.legend()
picture = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "parameter_sweep.png"
figure.savefig(picture)
print(f"wrote {picture}")
