"""The content of a report as plain data: what the JSON file holds and what the page shows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from twin.analysis.machine_summary import machine_summary
from twin.analysis.platform import Platform
from twin.machine.catalogue import machine_names
from twin.machine.file.describe import describe
from twin.validation.measures.comparison import LABELS, error_name
from twin.validation.published.errata import read_errata
from twin.validation.report.environment import Environment
from twin.validation.results import CaseResult, LeftOut, Measure, Statement, Verdict, slowest

SCHEMA = 4
"""Version of the content's structure; grows when a key changes its meaning or goes."""


AT_BOUND = 0.85
"""Part of its bound from which on a value is shown as lying there: orders of 1 have to be 0.9."""

LENGTHS = (("mm", 1e-3), ("µm", 1e-6), ("nm", 1e-9))
"""Units and their sizes [m]."""


def summary(
    results: Sequence[CaseResult],
    platforms: Sequence[Platform],
    origin: Environment,
    seconds: float,
    without: Sequence[LeftOut] = (),
) -> dict[str, Any]:
    """Return everything a report says, without the curves; values that are not finite are None.

    Args:
        results: of all cases on all machines.
        platforms: the machines, in the order of the report.
        origin: where and when the cases ran.
        seconds: run time of all cases [s].
        without: cases that make no sense for a machine.
    """
    cases = [_case(result) for result in results]
    return {
        "schema": SCHEMA,
        "verdict": overall([result.verdict for result in results]),
        "headline": headline(results),
        "seconds": seconds,
        **asdict(origin),
        "counts": _counts(results),
        "machines": [_machine(platform, results, without) for platform in platforms],
        "cases": cases,
        "slowest": [
            {"machine": r.machine, "case": r.case, "seconds": _finite(r.seconds)}
            for r in slowest(results)
        ],
        "errata": [
            {**paper._asdict(), "entries": [entry._asdict() for entry in paper.entries]}
            for paper in (read_errata() if any(map(_is_shipped, platforms)) else ())
        ],
    }


def headline(results: Sequence[CaseResult]) -> list[str]:
    """Return one sentence per engine: its largest error in position over the free falls."""
    sentences = []
    for label in LABELS.values():
        errors = [
            (measure.value, found[1])
            for result in results
            if result.case == "free_fall"
            for measure in result.measures
            if (found := error_name(label, "position").fullmatch(measure.name))
        ]
        if errors and math.isfinite(sum(value for value, _ in errors)):
            worst, duration = max(errors)
            where = f" on all {len(errors)} machines" * (len(errors) > 1)
            sentences.append(
                f"{label} follows the reference within {_length(worst)} over {duration} s of free "
                f"fall{where}."
            )
    return sentences


def _length(value: float) -> str:
    """Return a length [m] with one digit, in a unit that suits it."""
    unit, size = next((each for each in LENGTHS if value >= each[1]), LENGTHS[-1])
    return f"{float(f'{value / size:.1g}'):g} {unit}"


def _is_shipped(platform: Platform) -> bool:
    return platform.name in machine_names()


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """Return "fail" if any verdict is, "pass" if any is and none fails; nothing judged: "info"."""
    if "fail" in verdicts:
        return "fail"
    return "pass" if "pass" in verdicts else "info"


def margin(measure: Measure) -> float | None:
    """Return the ratio by which a value is better than its tolerance; None where it has none.

    Below 1 the tolerance is broken. A value that keeps a bound at which it lies has none.
    """
    if not math.isfinite(measure.value):
        return None
    better, worse = measure.tolerance, measure.value
    if measure.at_least:
        better, worse = worse, better
    if _is_bounded(measure) and worse >= AT_BOUND * better:
        return None
    return better / worse if worse > 0.0 and better >= 0.0 else None


def _is_bounded(measure: Measure) -> bool:
    """Return whether a measure keeps a bound that holds its value by design."""
    return measure.at_bound and measure.verdict == "pass"


def _counts(results: Sequence[CaseResult]) -> dict[str, Any]:
    verdicts = Counter(measure.verdict for result in results for measure in result.measures)
    agreements = Counter(s.agreement for result in results for s in result.statements)
    return {
        "cases": len(results),
        "failed_cases": sum(result.verdict == "fail" for result in results),
        "measures": {name: verdicts[name] for name in ("pass", "fail")},
        "quantities": sum(len(result.quantities) for result in results),
        "statements": {
            "reproduced": agreements["reproduced"],
            "differs": agreements["differs"],
            "not_given": agreements["not given"],
            "changed": sum(s.verdict == "fail" for result in results for s in result.statements),
        },
    }


def _tightest(results: Sequence[CaseResult]) -> dict[str, Any] | None:
    """Return the measure that is closest to its tolerance, or furthest beyond it."""
    margins = [
        (times, result.case, measure.name)
        for result in results
        for measure in result.measures
        if not _is_bounded(measure) and (times := margin(measure)) is not None
    ]
    if not margins:
        return None
    return dict(zip(("margin", "case", "measure"), min(margins), strict=True))


def _machine(
    platform: Platform, results: Sequence[CaseResult], without: Sequence[LeftOut]
) -> dict[str, Any]:
    parameters = platform.parameters
    own = [result for result in results if result.machine == platform.name]
    return {
        "name": platform.name,
        "title": parameters.title,
        "source": parameters.source,
        "kind": platform.kind,
        "verdict": overall([result.verdict for result in own]),
        "shipped": _is_shipped(platform),
        "dof": platform.dof,
        "actuators": platform.n_actuators,
        "counts": _counts(own),
        "tightest": _tightest(own),
        "seconds": _finite(sum(result.seconds for result in own)),
        "left_out": [
            {"case": case.case, "title": case.title, "reason": case.reason}
            for case in without
            if case.machine == platform.name
        ],
        "parameters_hash": platform.hash,
        "summary": [entry._asdict() for entry in machine_summary(platform)],
        "parameters": [parameter._asdict() for parameter in describe(parameters)],
    }


def _case(result: CaseResult) -> dict[str, Any]:
    return {
        "machine": result.machine,
        "case": result.case,
        "title": result.title,
        "description": result.description,
        "verdict": result.verdict,
        "seconds": _finite(result.seconds),
        "error": result.error,
        "measures": [_measure(measure) for measure in result.measures],
        "quantities": [
            quantity._asdict() | {"value": _finite(quantity.value)}
            for quantity in result.quantities
        ],
        "statements": [_statement(statement) for statement in result.statements],
        "counts": _counts([result]),
        "tightest": _tightest([result]),
        "plots": [plot.title for plot in result.plots],
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": [list(row) for row in table.rows],
                "caption": table.caption,
            }
            for table in result.tables
        ],
    }


def _measure(measure: Measure) -> dict[str, Any]:
    return {
        "name": measure.name,
        "value": _finite(measure.value),
        "unit": measure.unit,
        "tolerance": _finite(measure.tolerance),
        "bound": "at least" if measure.at_least else "at most",
        "margin": _finite(margin(measure)),
        "at_bound": measure.at_bound,
        "verdict": measure.verdict,
        "reason": measure.reason,
    }


def _statement(statement: Statement) -> dict[str, str]:
    return {**asdict(statement), "verdict": statement.verdict}


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
