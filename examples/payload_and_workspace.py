"""What a machine can carry, and where it can go with it.

The largest payload at rest follows from two evaluations per pose, because forces grow in proportion
to the mass. The workspace is found along rays from home; a cut through it is drawn.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import twin
from twin.analysis.payload.static import static_payload
from twin.analysis.workspace.region import region
from twin.analysis.workspace.search import Chart

platform = twin.load("stewart")
still = static_payload(platform)
held = region(Chart.about(platform, ("x", "y", "z")), levels=(16, 32))
low, high = (1e3 * side for side in held.extremes)
rows = [
    ("largest payload at rest", f"{still.exact_limit_kg:.1f} kg"),
    ("reached first by", f"leg {still.exact_leg}"),
    ("volume with the attitude held", f"{1e3 * held.volume:.1f} dm3 to {held.uncertainty:.1%}"),
    *(
        (f"{axis} from home", f"{a:.0f} to {b:.0f} mm")
        for axis, a, b in zip("xyz", low, high, strict=True)
    ),
]
for label, *values in ((platform.name, "value"), *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))

grid = np.linspace(-0.3, 0.3, 241)
x, z = np.meshgrid(grid, grid)
poses = np.tile(platform.home, (*x.shape, 1))
poses[..., 0] += x
poses[..., 2] += z
lengths = platform.inverse_kinematics(poses)
middle = 0.5 * (platform.minimum_coordinates + platform.maximum_coordinates)
half = 0.5 * (platform.maximum_coordinates - platform.minimum_coordinates)
taken = np.abs((lengths - middle) / half).max(axis=-1)

matplotlib.style.use(Path(__file__).with_name("plots.mplstyle"))
figure = Figure(figsize=(8.0, 4.2))
axes = figure.subplots()
shown = np.ma.masked_greater(100.0 * taken, 100.0)
levels = axes.contourf(1e3 * x, 1e3 * z, shown, levels=np.arange(0, 101, 10), cmap="viridis_r")
figure.colorbar(levels, label="share of the stroke taken [%]")
axes.set(
    xlabel="x from home [mm]",
    ylabel="z from home [mm]",
    aspect="equal",
    xlim=(-300, 300),
    ylim=(-170, 170),
)
axes.set_title("stewart: places reached with the attitude held, and the leg nearest to its end")
picture = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "payload_and_workspace.png"
figure.savefig(picture)
print(f"wrote {picture}")
