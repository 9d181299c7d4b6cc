"""Draw predictive_control.png: controllers compared by benchmarks/predictive_comparison.py."""

from __future__ import annotations

import json

import matplotlib.style
from folder import ROOT, picture_folder
from matplotlib.figure import Figure

TITLES = {
    "0.5 Hz": "sine of 0.5 Hz: the legs can follow",
    "1.2 Hz": "sine of 1.2 Hz: 1.5 times the largest speed of the legs",
    "ball": "ball whose target jumps at 1.5 s and 3 s; computed_torque is stopped after 1.6 s",
}

RESULTS = ROOT / "benchmarks" / "results" / "predictive_comparison.json"

matplotlib.style.use(ROOT / "examples" / "plots.mplstyle")
scenes = json.loads(RESULTS.read_text(encoding="utf-8"))
figure = Figure(figsize=(9.0, 8.0))
for axes, scene in zip(figure.subplots(len(scenes), 1), scenes, strict=True):
    for name, (time, shown) in scene["curves"].items():
        axes.plot(time, shown, label=name)
    axes.set(title=TITLES[scene["title"]], ylabel=scene["label"])
    axes.margins(x=0.0)
figure.axes[0].legend(ncols=4, loc="lower right", bbox_to_anchor=(1.0, 0.99))
figure.axes[-1].set_xlabel("time [s]")
picture = picture_folder() / "predictive_control.png"
figure.savefig(picture)
print(picture)
