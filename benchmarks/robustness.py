"""Robustness: baselines and policies outside the conditions of the training.

    python benchmarks/robustness.py --policies build/policies

Each row changes one thing; the rest is as in the policy's training. All columns have the same
episodes on the analytic engine. Policies are those of all trainings that `learning_curves.py` has
kept in a folder; without one, the shipped policies. Rows go to
`twin/training/policies/robustness.json`, which the report of the validation and the handbook show.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twin.basics.files import write_text
from twin.training import evaluate, policies
from twin.training.evaluation import Mean, mean_of, mean_over_trainings

RESULTS = Path(policies.__path__[0]) / "robustness.json"
SEED = 4_000_000
"""Of the first episode: of no training and of no shipped evaluation."""


def times(path: str, factor: float) -> dict[str, Any]:
    """Return the option that multiplies numbers of the machine, with nothing else varied."""
    table = {"kind": "choice", "values": [factor], "relative": True}
    return {"randomisation": {path: table}}


def late(period: float) -> dict[str, Any]:
    """Return the options that make observations and actions late by a control period [s] each."""
    return {"observation_delay": period, "action_delay": period}


def lasting(seconds: float, period: float) -> dict[str, Any]:
    """Return the options of episodes that last so long [s]."""
    return {"duration": seconds, "max_episode_steps": round(seconds / period)}


BODY = "platform.body.mass, platform.body.inertia.*.*"
HARDWARE = {"configuration": "hardware", "randomisation": "hardware_spread"}
IDEAL = {"configuration": None, "randomisation": None}
NOISE = {"observation_noise": 0.02, "action_noise": 0.02}
MINUTE = lasting(60.0, 0.005)


class Block(NamedTuple):
    """A policy, its baseline, and the conditions in which both are judged by one number."""

    environment: str
    title: str
    baseline: str
    policy: str
    changes: dict[str, dict[str, Any]]
    """condition -> options that it changes"""


BLOCKS = (
    Block(
        "twin/VibrationIsolation-v0",
        "transmissibility",
        "isolation_law",
        "stewart_isolation",
        {
            "as trained": {},
            "ideal plant": IDEAL,
            "real drives that vary": HARDWARE,
            "payload doubled": {**HARDWARE, **times(BODY, 2.0)},
            "episodes of 20 s": {**HARDWARE, **lasting(20.0, 0.005)},
            "shaking of 0.2 m/s²": {**HARDWARE, "acceleration": 0.2},
            "shaking of 1 m/s²": {**HARDWARE, "acceleration": 1.0},
            "shaking of 2 to 10 Hz": {
                **HARDWARE,
                "lowest_frequency": 2.0,
                "highest_frequency": 10.0,
            },
            "shaking of 0.5 to 40 Hz": {
                **HARDWARE,
                "lowest_frequency": 0.5,
                "highest_frequency": 40.0,
            },
            "friction doubled": {**HARDWARE, **times("leg.drive.friction_torque", 2.0)},
            "delay doubled": {**HARDWARE, **times("leg.drive.delay", 2.0)},
            "noise of 2 %": {**HARDWARE, **NOISE},
            "late by a period each way": {**HARDWARE, **late(0.005)},
        },
    ),
    Block(
        "twin/VibrationIsolation-v0",
        "displacement [mm]",
        "isolation_law",
        "stewart_isolation",
        {
            "a minute, ideal plant": {**IDEAL, **MINUTE},
            "a minute, real drives that vary": {**HARDWARE, **MINUTE},
            "a minute, shaking of 0.2 m/s²": {**HARDWARE, **MINUTE, "acceleration": 0.2},
        },
    ),
    Block(
        "twin/PoseTracking-v0",
        "position error [mm]",
        "computed_torque",
        "stewart_tracking",
        {
            "as trained": {},
            "ideal plant": IDEAL,
            "real drives that vary": HARDWARE,
            "payload doubled": times(BODY, 2.0),
            "episodes of 20 s": {**HARDWARE, **lasting(20.0, 0.01)},
            "motions half as large": {**HARDWARE, "amplitude": 0.2},
            "motions twice as large": {**HARDWARE, "amplitude": 0.8},
            "motions up to 4 Hz": {**HARDWARE, "highest_frequency": 4.0},
            "no backlash": times("leg.drive.backlash", 0.0),
            "backlash doubled": times("leg.drive.backlash", 2.0),
            "delay doubled": times("leg.drive.delay", 2.0),
            "friction doubled": times("leg.drive.friction_torque", 2.0),
            "noise of 2 %": {**HARDWARE, **NOISE},
            "late by a period each way": {**HARDWARE, **late(0.01)},
        },
    ),
    Block(
        "twin/BallBalance-v0",
        "return",
        "balance_law",
        "stewart_ball",
        {
            "as trained": {},
            "real drives that vary": HARDWARE,
            "payload doubled": times(BODY, 2.0),
            "target on a circle": {"target": "circle"},
            "targets for 2 s": {"hold": 2.0},
            "noise of 2 %": NOISE,
            "late by a period each way": late(0.01),
        },
    ),
    Block(
        "twin/MotionCueing-v0",
        "perceived error [thresholds]",
        "adaptive",
        "stewart_cueing",
        {
            "as trained": {},
            "ideal plant": IDEAL,
            "payload doubled": {**HARDWARE, **times(BODY, 2.0)},
            "strongest drives": {"lowest_intensity": 1.0},
            "weakest drives": {"intensity": 0.4},
            "friction doubled": {**HARDWARE, **times("leg.drive.friction_torque", 2.0)},
            "delay doubled": {**HARDWARE, **times("leg.drive.delay", 2.0)},
            "noise of 2 %": NOISE,
            "late by a period each way": late(0.01),
        },
    ),
)


def measured(
    block: Block, condition: str, episodes: int, trained: tuple[str, ...]
) -> dict[str, Any]:
    """Return the row of a condition; `trained` are a policy's trainings, by name or file."""
    names, title = (block.baseline, "zero", *trained), block.title
    options = block.changes[condition]
    found = evaluate(block.environment, names, episodes=episodes, seed=SEED, options=options)
    law, still, *own = (found.results[name, "analytic"][title] for name in names)
    return {
        "environment": block.environment,
        "title": title,
        "baseline name": block.baseline,
        "policy name": block.policy,
        "condition": condition,
        "zero": mean_of(still),
        "baseline": mean_of(law),
        "policy": mean_over_trainings(own),
        "difference": mean_over_trainings(np.array(own) - law),
    }


def line(row: dict[str, Any]) -> str:
    """Return a row as text."""
    means = (Mean(*row[name]).text() for name in ("zero", "baseline", "policy", "difference"))
    return " | ".join((row["condition"], *means))


def note(episodes: int, trainings: str) -> str:
    """Return what the table is made of."""
    return (
        f"{episodes} episodes, seeds from {SEED}; trainings of each policy: {trainings}. Means "
        "have 95 % confidence intervals. With several trainings they cover the scatter of "
        "trainings and that of episodes."
    )


def main() -> None:
    """Measure and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--policies", type=Path)
    given = parser.parse_args()
    rows, trainings = [], set()
    for block in BLOCKS:
        files = sorted((given.policies or Path()).glob(f"{block.policy}_*.npz"))
        trained = tuple(map(str, files)) if given.policies else (block.policy,)
        trainings.add(len(trained))
        for condition in block.changes:
            rows.append(measured(block, condition, given.episodes, trained))
            print(line(rows[-1]), flush=True)
    count = "/".join(map(str, sorted(trainings)))
    told = note(given.episodes, count)
    write_text(RESULTS, json.dumps({"note": told, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
