"""Error of each engine over the time step: charts and a table."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import twin
from handbook.log_chart import log_chart
from handbook.markdown import plain, table
from twin.validation.case import Plot
from twin.validation.cases.general.convergence import check_convergence

CHARTED = ("stewart", "micro_hexapod")
"""A soft machine and the stiffest."""

MARK = ": order of convergence"


def convergence_fragment(report: dict[str, Any], charts: Path) -> str:
    """Return charts for some machines and a table for all that the report has.

    Args:
        report: content of report.json.
        charts: folder for the charts, which are drawn again when the report's numbers change.
    """
    cases = [case for case in report["cases"] if case["case"] == check_convergence.key]
    parts = [
        _chart(case["machine"], charts, str(_rows(case)))
        for name in CHARTED
        for case in cases
        if case["machine"] == name
    ]
    rows = [row for case in cases for row in _rows(case)]
    columns = ("Machine", "Engine", "Order")
    return "\n".join([*parts, table(columns, rows)])


def _rows(case: dict[str, Any]) -> Sequence[tuple[str, ...]]:
    """Return the judged order of convergence of each engine of a machine."""
    return [
        (
            f"`{case['machine']}`",
            plain(measure["name"].removesuffix(MARK)),
            f"{measure['value']:.2f}",
        )
        for measure in case["measures"]
        if measure["name"].endswith(MARK)
    ]


def _chart(name: str, folder: Path, numbers: str) -> str:
    platform = twin.load(name)
    file = folder / f"convergence_{name}_{sha256(numbers.encode()).hexdigest()[:16]}.svg"
    if not file.is_file():
        (figure,) = check_convergence.run(platform).plots
        assert isinstance(figure, Plot)
        panel = figure.panels[0]
        title = f"{name}: error of position over time step"
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(log_chart(title, panel.curves, figure.x_label, panel.y_label))
    caption = (
        f"<code>{name}</code> under constant forces: largest error of position against the "
        "reference, over the time step."
    )
    return f'<figure class="sketch">{file.read_text()}<figcaption>{caption}</figcaption></figure>\n'
