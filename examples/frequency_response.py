"""How fast a controlled machine follows, measured with a sweep as one would on the real one.

The platform pitches along a chirp; angle over setpoint gives magnitude, phase and coherence.
Gains that were found without the motors' inertia make the real machine swing; forces of a model,
sent ahead, take the loop out of the way.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import twin
from twin.analysis.frequency.measured import measure_response
from twin.analysis.frequency.response import response_figures
from twin.control import make_controller

RUNS = {
    "ideal plant, cascade": (None, "cascade"),
    "hardware, cascade": ("hardware", "cascade"),
    "hardware, feedforward": ("hardware", "feedforward"),
}

matplotlib.style.use(Path(__file__).with_name("plots.mplstyle"))
figure = Figure(figsize=(8.0, 5.4))
above, below = figure.subplots(2, 1, sharex=True)
rows = []
for name, (configuration, law) in RUNS.items():
    platform = twin.load("stewart", configuration)
    controller = partial(make_controller, law)
    measured = measure_response(
        platform,
        axis="pitch",
        low=1.0,
        high=100.0,
        length=5.0,
        speed=0.1,
        controller=controller,
        fidelity="fast",
        timestep=5e-4,
    )
    response = measured.platform.trusted
    found = response_figures(response)
    bandwidth = f"{found.bandwidth:.3g}" if np.isfinite(found.bandwidth) else "beyond 100"
    numbers = (found.peak, found.peak_frequency, 1e3 * found.delay)
    rows.append((name, bandwidth, *(f"{value:.2f}" for value in numbers)))
    above.semilogx(response.frequency, response.magnitude, label=name)
    below.semilogx(response.frequency, np.degrees(response.phase), label=name)

titles = ("bandwidth [Hz]", "peak [dB]", "at [Hz]", "delay [ms]")
columns = ("loop", *titles)
print("stewart: pitch per setpoint pitch")
for label, *values in (columns, *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))

above.axhline(-3.0, color="#1b2733", linestyle=":", linewidth=1.0)
above.set(ylabel="magnitude [dB]", title="stewart: pitch per setpoint pitch")
above.legend()
below.set(xlabel="frequency [Hz]", ylabel="phase [deg]", xlim=(1.0, 100.0))
below.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
picture = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "frequency_response.png"
figure.savefig(picture)
print(f"wrote {picture}")
