"""The validation report: one self-contained HTML page, and the same content as JSON."""

from __future__ import annotations

import gzip
import json as encoder
import math
import os
import platform as system
import re
import time as clock
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from twin.analysis.machine_summary import machine_summary
from twin.analysis.platform import Platform, load
from twin.basics.files import check_writable, write_text
from twin.basics.optional import library_versions, optional
from twin.charts import style
from twin.charts.panels import Axes, number, panels_figure, thin_out, value_text
from twin.machine.file.read import describe
from twin.machine.machine import machine_names
from twin.model.batch import usable_cores
from twin.validation.case import (
    CaseResult,
    Curve,
    LeftOut,
    Measure,
    Plot,
    overall,
    slowest,
)
from twin.validation.cases import CASES
from twin.validation.measures.comparison import ENGINE_LABELS, error_name
from twin.validation.published.printed import read_errata
from twin.validation.runner import left_out, run
from twin.viewer.film import home_png

PROCESSOR_FILE = Path("/proc/cpuinfo")

CURVE_POINTS = 400
"""Maximum number of points of a curve, peaks included: six machines have a thousand curves on one
page."""

SCHEMA_VERSION = 4
"""Version of the content's structure; grows when a key changes its meaning or goes."""

AT_BOUND = 0.85
"""Fraction of its bound from which on a value is shown as lying at the bound: orders of convergence
of 1 have to be at least 0.9."""

LENGTH_UNITS = (("mm", 1e-3), ("µm", 1e-6), ("nm", 1e-9))
"""Units of length and their sizes [m]."""

TEMPLATE_FOLDER = Path(__file__).parent

REPORT_LIBRARIES = ("jinja2", "plotly", "markdown_it")

UNIT_PATTERN = (
    r"%|[mnµ]?m[²³23]?|[mµn]?s|k?N(?: m| s/m| s)?(?:/\w+)?|kg m[²2]?|k?g|k?Hz|deg(?:/s)?|dB|W|V|A|"
    r"[mµn]?rad(?:/s)?|m/s[²2]?|mm/s[²2]?|1/s"
)
"""Pattern of the units that belong to the number before them."""

NUMBER_PATTERN = r"-?\d[\d.]*(?:e[-+]?\d+)?"

UNBROKEN_PATTERN = re.compile(
    rf"<[^>]*>|((?<![\w.]){NUMBER_PATTERN}"
    rf"(?: ± {NUMBER_PATTERN}| (?:{UNIT_PATTERN})(?![\w/])| x \d+)|-?\d[\d.]*e-\d+)"
)
"""Pattern of HTML tags, and of numbers with their units that stay on one line."""

NUMBERS_OF_LEGS = ("leg", "legs")
"""Columns whose cells are leg numbers, which are names: they are aligned to the left like text."""

BRACKET_PATTERN = re.compile(r"\[[^]]*\]")
"""Pattern of a unit in the name of a column."""

CODE_PATTERN = re.compile(r"(?<=<code>)[^<]*(?=</code>)")

MAX_MARGIN = 1000.0
"""Largest margin that is shown; of larger ones only that they are larger."""


def environment(command: str) -> dict[str, Any]:
    """Return the data needed to repeat a run; `command` as the user typed it."""
    return {
        "generated": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "system": f"{system.system()} {system.release()}, {system.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "versions": library_versions(),
    }


def _processor() -> str:
    try:
        text = PROCESSOR_FILE.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    model = re.search(r"^model name\s*:\s*(\S.*?)\s*$", text, re.MULTILINE)
    return model[1] if model else system.processor() or system.machine()


class PlotFigure(NamedTuple):
    """A plotly figure in the form that the page contains."""

    height: int
    """[pixels] height of the figure"""
    content: str
    """plotly's JSON, compressed and in base64"""


def draw_plot(plot: Plot) -> PlotFigure:
    """Return a figure ready to be put into a page.

    Raises:
        MissingDependencyError: plotly is not installed.
    """
    panels = [
        Axes(panel.y_label, list(map(_thinned, panel.curves)), panel.log_y) for panel in plot.panels
    ]
    figure = panels_figure(panels, plot.x_label, log_x=plot.log_x)
    return PlotFigure(int(figure.layout.height), compressed(figure.to_json()))


def _thinned(curve: Curve) -> Curve:
    shown = thin_out(curve.x, curve.y, CURVE_POINTS)
    return curve._replace(x=curve.x[shown], y=curve.y[shown])


def compressed(text: str) -> str:
    """Return a text compressed by gzip, in base64; the same text always gives the same result."""
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def summary(
    results: Sequence[CaseResult],
    platforms: Sequence[Platform],
    origin: dict[str, Any],
    seconds: float,
    left_out_cases: Sequence[LeftOut] = (),
) -> dict[str, Any]:
    """Return everything a report says, without the curves; values that are not finite are None.

    Args:
        results: results of all cases on all machines.
        platforms: the machines, in the order of the report.
        origin: where and when the cases ran, as from `environment`.
        seconds: run time of all cases [s].
        left_out_cases: cases that make no sense for a machine.
    """
    return {
        "schema": SCHEMA_VERSION,
        "verdict": overall([result.verdict for result in results]),
        "headline": headline(results),
        "seconds": seconds,
        **origin,
        "counts": _counts(results),
        "machines": [_machine(platform, results, left_out_cases) for platform in platforms],
        "cases": list(map(_case, results)),
        "slowest": [
            {"machine": r.machine, "case": r.case, "seconds": r.seconds} for r in slowest(results)
        ],
        "errata": [
            {**paper._asdict(), "entries": [entry._asdict() for entry in paper.entries]}
            for paper in (read_errata() if any(map(_is_shipped, platforms)) else ())
        ],
    }


def headline(results: Sequence[CaseResult]) -> list[str]:
    """Return one sentence per engine: its largest error in position over the free falls."""
    sentences = []
    for label in ENGINE_LABELS.values():
        errors = [
            (measure.value, hit[1])
            for result in results
            if result.case == "free_fall"
            for measure in result.measures
            if (hit := error_name(label, "position").fullmatch(measure.name))
        ]
        if errors and math.isfinite(sum(value for value, _ in errors)):
            worst, duration = max(errors)
            machines_text = f" on all {len(errors)} machines" * (len(errors) > 1)
            sentences.append(
                f"{label} follows the reference within {_length(worst)} over {duration} s of free "
                f"fall{machines_text}."
            )
    return sentences


def _length(value: float) -> str:
    """Return a length [m] with one digit, in a unit that suits it."""
    unit, unit_size = next((entry for entry in LENGTH_UNITS if value >= entry[1]), LENGTH_UNITS[-1])
    return f"{float(f'{value / unit_size:.1g}'):g} {unit}"


def _is_shipped(platform: Platform) -> bool:
    return platform.name in machine_names()


def margin(measure: Measure) -> float | None:
    """Return the ratio by which a value is better than its tolerance; None where it is undefined.

    Below 1 the tolerance is broken. A value that keeps a bound at which it lies has none.
    """
    if not math.isfinite(measure.value):
        return None
    smaller, larger = measure.tolerance, measure.value
    if measure.at_least:
        smaller, larger = larger, smaller
    if _is_bounded(measure) and larger >= AT_BOUND * smaller:
        return None
    return _finite(smaller / larger) if larger > 0.0 and smaller >= 0.0 else None


def _is_bounded(measure: Measure) -> bool:
    """Return whether a measure may lie at its bound by design and does."""
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
    platform: Platform, results: Sequence[CaseResult], left_out_cases: Sequence[LeftOut]
) -> dict[str, Any]:
    parameters = platform.parameters
    machine_results = [result for result in results if result.machine == platform.name]
    return {
        "name": platform.name,
        "title": parameters.title,
        "source": parameters.source,
        "kind": platform.kind,
        "verdict": overall([result.verdict for result in machine_results]),
        "shipped": _is_shipped(platform),
        "dof": platform.dof,
        "actuators": platform.n_actuators,
        "counts": _counts(machine_results),
        "tightest": _tightest(machine_results),
        "seconds": sum(result.seconds for result in machine_results),
        "left_out": [
            {"case": case.case, "title": case.title, "reason": case.reason}
            for case in left_out_cases
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
        "seconds": result.seconds,
        "error": result.error,
        "measures": [_measure(measure) for measure in result.measures],
        "quantities": [
            quantity._asdict() | {"value": _finite(quantity.value)}
            for quantity in result.quantities
        ],
        "statements": [
            asdict(statement) | {"verdict": statement.verdict} for statement in result.statements
        ],
        "counts": _counts([result]),
        "tightest": _tightest([result]),
        "plots": [plot.title for plot in result.plots],
        "tables": [asdict(table) for table in result.tables],
    }


def _measure(measure: Measure) -> dict[str, Any]:
    return {
        "name": measure.name,
        "value": _finite(measure.value),
        "unit": measure.unit,
        "tolerance": _finite(measure.tolerance),
        "bound": "at least" if measure.at_least else "at most",
        "margin": margin(measure),
        "at_bound": measure.at_bound,
        "verdict": measure.verdict,
        "reason": measure.reason,
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def make_report(
    machines: Sequence[str | Path],
    cases: Sequence[str] | None = None,
    html: str | Path | None = None,
    json: str | Path | None = None,
    jobs: int | None = None,
    command: str = "",
) -> dict[str, Any]:
    """Run cases on machines, write the report; returns its content as `summary` does.

    Args:
        machines: names or paths of platform.toml.
        cases: names of cases, default all.
        html: where the page goes, None for nowhere.
        json: where the content goes as JSON, None for nowhere.
        jobs: processes to use, default one per core.
        command: as the user typed it, for the report.

    Raises:
        InputError: unknown case, or a path that cannot be written to (raised before the cases run).
        MachineNotFoundError: not a known name and not a file.
        ParameterError: a platform.toml that cannot be used.
        MissingDependencyError: a page is requested and a library of the `report` extra is missing.
    """
    for path in (html, json):
        if path is not None:
            check_writable(path)
    if html is not None:
        for library in REPORT_LIBRARIES:
            optional(library, "The validation report")
    platforms = [load(machine) for machine in dict.fromkeys(machines)]
    start = clock.perf_counter()
    results = run(machines, cases or None, jobs=jobs or usable_cores())
    seconds = clock.perf_counter() - start
    left_out_cases = left_out(platforms, cases or None)
    content = summary(results, platforms, environment(command), seconds, left_out_cases)
    if html is not None:
        write_text(html, html_page(content, results, platforms))
    if json is not None:
        write_text(json, json_text(content))
    return content


def json_text(content: dict[str, Any]) -> str:
    """Return the content of `summary` as JSON text."""
    return encoder.dumps(content, indent=1, allow_nan=False) + "\n"


def html_page(
    content: dict[str, Any], results: Sequence[CaseResult], platforms: Sequence[Platform]
) -> str:
    """Return the page; it loads nothing, and its content policy forbids it to.

    Args:
        content: from `summary` of the same results and platforms.
        results: whose plots are drawn.
        platforms: that are drawn.

    Raises:
        MissingDependencyError: a library of the `report` extra is not installed.
    """
    jinja2 = optional("jinja2")
    markup = optional("markupsafe").Markup
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATE_FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= {
        "number": number,
        "value": value_text,
        "margin": margin_text,
        "seconds": seconds_text,
        "texts": texts,
        "breakable": lambda name: markup(re.sub("([_/])", r"\1<wbr>", escape(name))),
        "header": lambda text: markup(
            BRACKET_PATTERN.sub(r'<span class="whole">\g<0></span>', escape(text))
        ),
        "whole": lambda text: markup(whole_numbers(escape(text))),
        "markdown": lambda text: markup(inline_html(text)),
        "code_breaks": lambda html: markup(code_breaks(html)),
    }
    cases = [
        case
        | {
            "anchor": f"{result.machine}-{result.case}",
            "plots": [(plot, draw_plot(plot)) for plot in result.plots],
        }
        for case, result in zip(content["cases"], results, strict=True)
    ]
    machines = [
        machine
        | {
            "picture": b64encode(home_png(platform)).decode(),
            "cases": (own_cases := [case for case in cases if case["machine"] == platform.name]),
            "statements": [
                (case, statement) for case in own_cases for statement in case["statements"]
            ],
            "broken": sum(bool(case["error"]) for case in own_cases),
        }
        for machine, platform in zip(content["machines"], platforms, strict=True)
    ]
    page: str = templates.get_template("page.html").render(
        content | {"cases": cases, "machines": machines},
        rows=_case_rows(content),
        plotly=compressed(optional("plotly.offline").get_plotlyjs()),
        style=style,
    )
    return page


def _case_rows(content: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return one row per case: its title, and its result or reason for omission by machine."""
    cells: dict[str, dict[str, Any]] = {}
    titles: dict[str, str] = {}
    for case in content["cases"]:
        titles[case["case"]] = case["title"]
        cells.setdefault(case["case"], {})[case["machine"]] = case
    for machine in content["machines"]:
        for case in machine["left_out"]:
            titles[case["case"]] = case["title"]
            cells.setdefault(case["case"], {})[machine["name"]] = case
    order = (*CASES, *cells)
    return [(titles[key], cells[key]) for key in sorted(cells, key=order.index)]


def margin_text(value: float | None) -> str:
    """Return a margin as text with a multiplication sign; None as an empty text."""
    if value is None:
        return ""
    text = f"{value:.0f}" if value >= 100.0 else f"{value:#.3g}"
    if value > MAX_MARGIN:
        text = f"> {MAX_MARGIN:.0f}"
    return f"{text} \N{MULTIPLICATION SIGN}"


def seconds_text(value: float) -> str:
    """Return a duration [s] to tenths, below one second to hundredths."""
    return f"{value:.{1 if value >= 1.0 else 2}f} s"


def texts(rows: Sequence[Sequence[str]], names: Sequence[str]) -> list[bool]:
    """Return for every column of a table whether it has words, which stand to the left."""
    return [
        name in NUMBERS_OF_LEGS or any(cell[:1].isalpha() or ", " in cell for cell in column)
        for name, column in zip(names, zip(*rows, strict=True), strict=True)
    ]


def inline_html(text: str) -> str:
    """Return the HTML of a line of Markdown: emphasis, code and links.

    Raises:
        MissingDependencyError: markdown-it-py is not installed.
    """
    parser = optional("markdown_it").MarkdownIt("commonmark", {"html": False})
    # Images would be fetched when the page is opened.
    parser.disable("image")
    return whole_numbers(str(parser.renderInline(text)))


def code_breaks(html: str) -> str:
    """Return HTML whose code may end a line after an underscore or a slash."""
    return CODE_PATTERN.sub(lambda code: re.sub("([_/])", r"\1<wbr>", code[0]), html)


def whole_numbers(html: str) -> str:
    """Return HTML of which numbers stay on one line, and the units behind them."""
    return UNBROKEN_PATTERN.sub(
        lambda match: f'<span class="whole">{match[1]}</span>' if match[1] else match[0], html
    )
