"""The same motion on three engines, and what MuJoCo's default constraint settings do to it.

A machine is loaded by name, moved by forces that swing about those that carry it, and compared with
the analytic reference. The loop gap is how far the legs come off the platform: zero in reality.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import twin
from twin.model.engine import State
from twin.simulation.simulate import Trajectory

DURATION = 0.3
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "analytic reference": ("analytic", {}),
    "MuJoCo": ("mujoco", {}),
    "MuJoCo, fidelity fast": ("mujoco", {"fidelity": "fast"}),
    "MuJoCo, its default constraint settings": ("mujoco", {"engine_defaults": True}),
    "PyBullet": ("bullet", {}),
}

platform = twin.load("stewart")
holding = platform.inverse_dynamics(platform.home, np.zeros(6), np.zeros(6))
print(f"{platform.name}: holding forces {holding.round(1)} N")


def move(kind: str, options: dict[str, Any]) -> tuple[Trajectory, float]:
    """Return the motion under swinging forces, and the largest loop gap [m]."""
    engine = twin.make_engine(kind, platform, timestep=1e-3, **options)
    gaps = []

    def swinging(time: float, state: State) -> Any:
        """Return forces `(6,)` [N] that carry the machine and shake it by a fifth of that."""
        gaps.append(engine.loop_gap)
        return holding * (1.0 + 0.2 * np.sin(2.0 * np.pi * 5.0 * time + np.arange(6)))

    run = platform.simulate(DURATION, forces=swinging, engine=engine)
    engine.close()
    return run, max(gaps)


rows = []
reference, _ = move("analytic", {})
for name, (kind, options) in RUNS.items():
    run, gap = move(kind, options)
    apart = np.linalg.norm(run.pose[:, :3] - reference.pose[:, :3], axis=1).max()
    rows.append((name, f"{run.pose[-1, 2]:.9f}", f"{apart:.1e}", f"{gap:.1e}"))

titles = ("height at the end [m]", "from the reference [m]", "largest loop gap [m]")
for label, *values in (("engine", *titles), *rows):
    print(f"  {label!s:<30}", *(f"{value!s:>18}" for value in values))
