"""Learning curves: the trainings of the shipped policies, repeated with other seeds.

    nice python benchmarks/learning_curves.py --seeds 5 --page docs/training.md

Trained seeds stay in `benchmarks/results/learning_curves.json` and are not trained again; `--seeds
0` only draws `--picture` and writes the table between the page's marks.
Every policy is then evaluated in the same episodes on the analytic engine.
"""

from __future__ import annotations

import argparse
import csv
import json
import time as clock
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from page_section import write_section

from twin.basics.files import write_text
from twin.training import evaluate, load_policy, train

RESULTS = Path(__file__).parent / "results" / "learning_curves.json"
ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "learning_curves.png"
STYLE = ROOT / "examples" / "plots.mplstyle"
BASELINES = {
    "stewart_isolation": "isolation_law",
    "stewart_tracking": "zero",
    "stewart_ball": "balance_law",
    "stewart_cueing": "tilt_law",
}
"""Policy -> what its evaluation has beside it."""
EPISODES, FIRST = 10, 5_000_000
"""Of the evaluation: their number, and the seed of the first."""


def trained(name: str, seed: int) -> dict[str, Any]:
    """Return curve, returns and processor time of one more training like that of a policy.

    Raises:
        SystemExit: the training was interrupted.
    """
    origin = load_policy(name).origin
    with TemporaryDirectory() as place:
        folder, began = Path(place) / "run", clock.process_time()
        train(
            origin.environment,
            folder,
            steps=origin.steps,
            algorithm=origin.algorithm,
            envs=origin.settings["envs"],
            seed=seed,
            options=origin.options,
            hyperparameters=origin.settings["hyperparameters"],
            progress=False,
        )
        seconds, policy = clock.process_time() - began, folder / "policy.npz"
        with (folder / "learning.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        if float(rows[-1]["steps"]) < origin.steps:
            raise SystemExit(f"{name}, seed {seed}: interrupted; run the command again")
        pair = (BASELINES[name], policy)
        found = evaluate(origin.environment, pair, episodes=EPISODES, seed=FIRST)
    law, own = (found.mean(str(each), "analytic", "return").value for each in pair)
    return {
        "seconds": round(seconds),
        "baseline": round(law, 2),
        "return": round(own, 2),
        "steps": [int(float(row["steps"])) for row in rows],
        "curve": [round(float(row["return 50 %"]), 2) for row in rows],
    }


def draw(results: dict[str, dict[str, Any]], picture: Path) -> None:
    """Draw mean and range of the seeds' median returns over the steps."""
    import matplotlib.style
    from matplotlib.figure import Figure

    matplotlib.style.use(STYLE)
    figure = Figure(figsize=(9.0, 6.0))
    for axis, (name, seeds) in zip(figure.subplots(2, 2).flat, results.items(), strict=False):
        runs = list(seeds.values())
        steps = np.array(runs[0]["steps"])
        curves = np.array([np.interp(steps, run["steps"], run["curve"]) for run in runs])
        low, high = curves.min(axis=0), curves.max(axis=0)
        axis.fill_between(steps / 1e6, low, high, alpha=0.3, label="range of the seeds")
        axis.plot(steps / 1e6, curves.mean(axis=0), label="mean")
        axis.set_title(f"{name}, {len(runs)} seeds" if len(runs) > 1 else f"{name}, 1 seed")
        axis.set_xlabel("steps [million]")
        axis.set_ylabel("return in the training")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=2, loc="outside lower center")
    figure.savefig(picture, metadata={"Software": None})


def table(results: dict[str, dict[str, Any]]) -> str:
    """Return the evaluations in Markdown."""
    lines = ["| policy | seeds | return, mean | spread | least | baseline | processor time [s] |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for name, seeds in results.items():
        runs = list(seeds.values())
        found = np.array([run["return"] for run in runs])
        spread = f"{found.std(ddof=1):.1f}" if len(found) > 1 else "-"
        law = f"{runs[0]['baseline']:.1f} (`{BASELINES[name]}`)"
        seconds = sorted({run["seconds"] for run in runs})
        lines.append(
            f"| `{name}` | {len(runs)} | {found.mean():.1f} | {spread} | {found.min():.1f} | {law} "
            f"| {' to '.join(map(str, dict.fromkeys((seconds[0], seconds[-1]))))} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Train the seeds that are missing; draw the picture; write the table into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--policy", choices=BASELINES, action="append")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    given = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in given.policy or BASELINES:
        for seed in range(1, given.seeds + 1):
            if str(seed) not in results.setdefault(name, {}):
                results[name][str(seed)] = trained(name, seed)
                write_text(RESULTS, json.dumps(results) + "\n")
                print(name, seed, results[name][str(seed)]["return"], flush=True)
    results = {name: results[name] for name in BASELINES if results.get(name)}
    draw(results, given.picture)
    if given.page is not None:
        write_section(given.page, "seeds", table(results))


if __name__ == "__main__":
    main()
