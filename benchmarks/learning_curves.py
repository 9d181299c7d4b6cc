"""Learning curves: the trainings of the shipped policies, repeated with other seeds.

    nice python benchmarks/learning_curves.py --seeds 5 --page docs/benchmarks.md

The policies stay in the folder `--policies`, for `robustness.py`; curves and scores stay in
`benchmarks/results/learning_curves.json`. What is in both is not trained again; `--seeds 0` only
draws `--picture` and writes the table between the page's marks.
Every policy is evaluated in the same episodes on the analytic engine.
"""

from __future__ import annotations

import argparse
import csv
import json
import time as clock
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from page_section import write_section

from twin.basics.files import write_text
from twin.training import evaluate, load_policy, train
from twin.training.evaluation import Mean

RESULTS = Path(__file__).parent / "results" / "learning_curves.json"
ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "learning_curves.png"
STYLE = ROOT / "examples" / "plots.mplstyle"


class Judged(NamedTuple):
    """What the evaluation of a policy has beside it."""

    law: str
    """baseline of the returns"""
    title: str
    """of the metric of the task"""
    rival: str
    """baseline of this metric"""


BASELINES = {
    "stewart_isolation": Judged("isolation_law", "transmissibility", "isolation_law"),
    "stewart_tracking": Judged("zero", "position error [mm]", "zero"),
    "stewart_ball": Judged("balance_law", "return", "balance_law"),
    "stewart_cueing": Judged("tilt_law", "perceived error [thresholds]", "adaptive"),
}
EPISODES, FIRST = 10, 5_000_000
"""Of the evaluation: their number, and the seed of the first."""


def trained(name: str, seed: int, file: Path) -> dict[str, Any]:
    """Return curve and processor time of one more training like that of a policy; keep its file.

    Raises:
        SystemExit: the training was interrupted.
    """
    origin = load_policy(name).origin
    with TemporaryDirectory() as place:
        folder, began = Path(place) / "run", clock.process_time()
        found = train(
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
        seconds = clock.process_time() - began
        if not found.finished:
            raise SystemExit(f"{name}, seed {seed}: interrupted; run the command again")
        with (folder / "learning.csv").open(newline="", encoding="utf-8") as table:
            rows = list(csv.DictReader(table))
        file.parent.mkdir(parents=True, exist_ok=True)
        found.policy.save(file)
    return {
        "seconds": round(seconds),
        "steps": [int(float(row["steps"])) for row in rows],
        "curve": [round(float(row["return 50 %"]), 2) for row in rows],
    }


def judged(name: str, file: Path) -> dict[str, Any]:
    """Return the mean returns of a policy and of its law, and the difference of its metric.

    The difference is that from the rival, episode by episode: mean and half width.
    """
    law, title, rival = BASELINES[name]
    names = tuple(dict.fromkeys((rival, law)))
    environment = load_policy(name).origin.environment
    found = evaluate(environment, (*names, file), episodes=EPISODES, seed=FIRST)
    below, own = (found.mean(each, "analytic", "return").value for each in (law, str(file)))
    apart = found.difference(str(file), "analytic", title)
    return {"baseline": round(below, 2), "return": round(own, 2), "difference": apart}


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
    """Return the evaluations in Markdown; the last but one column is of the policies kept."""
    lines = [
        "| policy | seeds | return, mean | spread | least | baseline | metric of the worst seed "
        "minus that of a baseline | processor time [s] |"
    ]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, seeds in results.items():
        runs, (law, title, rival) = list(seeds.values()), BASELINES[name]
        found = np.array([run["return"] for run in runs])
        spread = f"{found.std(ddof=1):.1f}" if len(found) > 1 else "-"
        leads = [Mean(*run["difference"]) for run in runs if "difference" in run]
        worst = (min if title == "return" else max)(leads, key=lambda lead: lead.value)
        seconds = sorted({run["seconds"] for run in runs})
        lines.append(
            f"| `{name}` | {len(runs)} | {found.mean():.1f} | {spread} | {found.min():.1f} "
            f"| {runs[0]['baseline']:.1f} (`{law}`) "
            f"| {title}, {worst.text().replace('+-', '±')} (`{rival}`) "
            f"| {' to '.join(map(str, dict.fromkeys((seconds[0], seconds[-1]))))} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Train the seeds that are missing; draw the picture; write the table into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--policy", choices=BASELINES, action="append")
    parser.add_argument("--policies", type=Path, default=Path("build/policies"))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    given = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in given.policy or BASELINES:
        for seed in range(1, given.seeds + 1):
            file, runs = given.policies / f"{name}_{seed}.npz", results.setdefault(name, {})
            run = runs.get(str(seed), {})
            if not (run and file.exists()):
                run = trained(name, seed, file)
            if "difference" not in run:
                runs[str(seed)] = run | judged(name, file)
                write_text(RESULTS, json.dumps(results) + "\n")
                print(name, seed, runs[str(seed)]["return"], flush=True)
    results = {name: results[name] for name in BASELINES if results.get(name)}
    draw(results, given.picture)
    if given.page is not None:
        write_section(given.page, "seeds", table(results))


if __name__ == "__main__":
    main()
