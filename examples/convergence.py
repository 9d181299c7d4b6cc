"""How much a smaller time step buys on each engine, and what it costs.

The error is the largest distance from the analytic reference within 0.2 s under constant forces. A
method of order k gains a factor of 2^k for half the step. Choose the cheapest one below your need.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure

import twin

DURATION = 0.2
STEPS = np.array([4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4])
METHODS = {
    "MuJoCo, accurate": ("mujoco", "accurate", "o-"),
    "MuJoCo, fast": ("mujoco", "fast", "s-"),
    "PyBullet, fast": ("bullet", "fast", "s--"),
    "PyBullet, accurate": ("bullet", "accurate", "o--"),
}

platform = twin.load("stewart")
forces = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
forces = forces * np.array([1.1, 0.9, 1.1, 0.95, 1.0, 1.05])
reference = platform.simulate(DURATION, forces=forces, timestep=DURATION).pose[-1]

matplotlib.style.use(Path(__file__).with_name("plots.mplstyle"))
figure = Figure(figsize=(9.0, 4.2))
over_step, over_cost = figure.subplots(1, 2, sharey=True)
for name, (engine, fidelity, style) in METHODS.items():
    errors, seconds = [], []
    for step in STEPS:
        simulator = twin.make_engine(engine, platform, timestep=float(step), fidelity=fidelity)
        simulator.reset()
        simulator.step(forces)  # what is compiled or loaded once does not count
        begin = process_time()
        end = platform.simulate(DURATION, forces=forces, engine=simulator).pose[-1]
        seconds.append((process_time() - begin) / DURATION)
        simulator.close()
        errors.append(float(np.linalg.norm(end[:3] - reference[:3])))
    order = np.log2(errors[1] / errors[2])
    print(f"{name}: {errors[2]:.1e} m at 1 ms, order {order:.1f} there")
    over_step.loglog(1e3 * STEPS, errors, style, label=name)
    over_cost.loglog(seconds, errors, style)

over_step.set(xlabel="time step [ms]", ylabel="error after 0.2 s [m]", title="error over time step")
over_step.set_xticks(1e3 * STEPS, [f"{1e3 * step:g}" for step in STEPS], minor=False)
over_step.minorticks_off()
over_cost.set(xlabel="computing time per simulated second [s]", title="error over computing time")
over_step.legend(loc="upper left", bbox_to_anchor=(0.0, 0.8))
picture = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "convergence.png"
figure.savefig(picture)
print(f"wrote {picture}")
