"""The content of a report as plain data: what the JSON file holds and what the page shows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from twin.facts import machine_facts
from twin.parameters.describe import describe
from twin.platform import Platform
from twin.validation.environment import Environment
from twin.validation.results import CaseResult, Measure, Statement, Verdict

SCHEMA = 1
"""Version of the content's structure; grows when a key changes its meaning or goes."""


def summary(
    results: Sequence[CaseResult],
    platforms: Sequence[Platform],
    origin: Environment,
    seconds: float,
) -> dict[str, Any]:
    """Return everything a report says, without the curves; values that are not finite are None.

    Args:
        results: of all cases on all machines.
        platforms: the machines, in the order of the report.
        origin: where and when the cases ran.
        seconds: run time of all cases [s].
    """
    cases = [_case(result) for result in results]
    statements = Counter(s.agreement for result in results for s in result.statements)
    return {
        "schema": SCHEMA,
        "verdict": overall([result.verdict for result in results]),
        "seconds": seconds,
        **asdict(origin),
        "counts": {
            "cases": len(results),
            "failed_cases": sum(result.verdict == "fail" for result in results),
            "measures": _count([m.verdict for result in results for m in result.measures]),
            "statements": {
                "reproduced": statements["reproduced"],
                "differs": statements["differs"],
                "not_given": statements["not given"],
            },
        },
        "machines": [_machine(platform, results) for platform in platforms],
        "cases": cases,
    }


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """Return "fail" if any verdict is, "pass" if any is and none fails; nothing judged: "info"."""
    if "fail" in verdicts:
        return "fail"
    return "pass" if "pass" in verdicts else "info"


def margin(measure: Measure) -> float | None:
    """Return how many times better a value is than its tolerance; None where that says nothing.

    Below 1 the tolerance is broken.
    """
    if measure.tolerance is None or not math.isfinite(measure.value):
        return None
    better, worse = measure.tolerance, measure.value
    if measure.at_least:
        better, worse = worse, better
    return better / worse if worse > 0.0 and better >= 0.0 else None


def _count(verdicts: Sequence[Verdict]) -> dict[str, int]:
    counter = Counter(verdicts)
    return {"pass": counter["pass"], "fail": counter["fail"], "info": counter["info"]}


def _machine(platform: Platform, results: Sequence[CaseResult]) -> dict[str, Any]:
    parameters = platform.parameters
    verdicts = [result.verdict for result in results if result.machine == platform.name]
    return {
        "name": platform.name,
        "title": parameters.title,
        "source": parameters.source,
        "verdict": overall(verdicts),
        "freedoms": platform.dof,
        "actuators": platform.n_actuators,
        "parameters_hash": platform.hash,
        "facts": [fact._asdict() for fact in machine_facts(platform)],
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
        "statements": [_statement(statement) for statement in result.statements],
        "plots": [plot.title for plot in result.plots],
    }


def _measure(measure: Measure) -> dict[str, Any]:
    return {
        "name": measure.name,
        "value": _finite(measure.value),
        "unit": measure.unit,
        "tolerance": _finite(measure.tolerance),
        "bound": "at least" if measure.at_least else "at most",
        "margin": _finite(margin(measure)),
        "verdict": measure.verdict,
        "reason": measure.reason,
    }


def _statement(statement: Statement) -> dict[str, str]:
    return asdict(statement)


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
