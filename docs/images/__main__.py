"""Draw all pictures of the guides: `make pictures`, or `python docs/images FOLDER`.

`PYTHONPATH` is `tests:tests/support`. Without a folder they take the place of the committed ones.
Charts are those of the last report.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from browser_rig import browser_command
from folder import HERE, ROOT, picture_folder

from twin.cli.console import line

FOLDER = picture_folder()

SCRIPTS: dict[Path, list[str]] = {
    HERE / "machines.py": [str(FOLDER)],
    HERE / "legs.py": [str(FOLDER)],
    HERE / "moving.py": [str(FOLDER)],
    HERE / "balancing.py": [str(FOLDER)],
    HERE / "environments.py": [str(FOLDER)],
    HERE / "predictive_control.py": [str(FOLDER)],
    ROOT / "examples" / "convergence.py": [str(FOLDER)],
    ROOT / "benchmarks" / "learning_curves.py": [
        *("--seeds", "0", "--picture"),
        str(FOLDER / "learning_curves.png"),
    ],
}
"""Scripts and their arguments."""

OF_PAGES = {HERE / "viewer.py": [str(FOLDER)], HERE / "report.py": [str(FOLDER)]}
"""These need a browser."""


def spent() -> float:
    """Return the processor time [s] of this process and of those that it has started."""
    used = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def run(script: Path, arguments: list[str]) -> None:
    """Run a script in this process: what is imported once serves all."""
    began, sys.argv = spent(), [str(script), *arguments]
    sys.path.insert(0, str(script.parent))
    runpy.run_path(str(script), run_name="__main__")
    line(f"{script.relative_to(ROOT)}: {spent() - began:.1f} s of processor time")


for each, words in SCRIPTS.items():
    run(each, words)
if browser_command() is None:
    line("Without Chromium the pictures of pages stay as they were committed.")
else:
    for each, words in OF_PAGES.items():
        run(each, words)
