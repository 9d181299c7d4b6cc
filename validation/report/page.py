"""The validation report: one self-contained HTML page, and the same content as JSON."""

from __future__ import annotations

import json as encoder
import re
import time as clock
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from twin.analysis.platform import Platform, load
from twin.basics.files import check_place, write_text
from twin.basics.optional import optional
from twin.charts import style
from twin.charts.text import number, value_text
from twin.model.batch import usable_cores
from twin.validation.cases import CASES
from twin.validation.report.environment import environment
from twin.validation.report.figures import drawn, packed
from twin.validation.report.summary import summary
from twin.validation.results import CaseResult
from twin.validation.runner import left_out, run
from twin.viewer.home_picture import home_picture

HERE = Path(__file__).parent
LIBRARIES = ("jinja2", "plotly", "markdown_it")
UNITS = (
    r"%|[mnµ]?m[²³23]?|[mµn]?s|k?N(?: m| s/m| s)?(?:/\w+)?|kg m[²2]?|k?g|k?Hz|deg(?:/s)?|dB|W|V|A|"
    r"[mµn]?rad(?:/s)?|m/s[²2]?|mm/s[²2]?|1/s"
)
"""What belongs to the number before it."""

NUMBER = r"-?\d[\d.]*(?:e[-+]?\d+)?"

WHOLE = re.compile(
    rf"<[^>]*>|((?<![\w.]){NUMBER}(?: ± {NUMBER}| (?:{UNITS})(?![\w/])| x \d+)|-?\d[\d.]*e-\d+)"
)
"""Tags, and numbers that stay on one line, with their units."""

NUMBERS_OF_LEGS = ("leg", "legs")
"""Columns whose cells are names, also where each has a single number."""

UNIT = re.compile(r"\[[^]]*\]")
"""In the name of a column."""

CODE = re.compile(r"(?<=<code>)[^<]*(?=</code>)")

LARGEST_MARGIN = 1000.0
"""Margins above it are shown as this one: their size has no meaning."""


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
            check_place(path)
    if html is not None:
        require_libraries()
    platforms = [load(machine) for machine in dict.fromkeys(machines)]
    start = clock.perf_counter()
    results = run(machines, cases or None, jobs=jobs or usable_cores())
    seconds = clock.perf_counter() - start
    without = left_out(platforms, cases or None)
    content = summary(results, platforms, environment(command), seconds, without)
    if html is not None:
        write_text(html, html_page(content, results, platforms))
    if json is not None:
        write_text(json, json_text(content))
    return content


def require_libraries() -> None:
    """Check that a page can be made.

    Raises:
        MissingDependencyError: a library of the `report` extra is not installed.
    """
    for library in LIBRARIES:
        optional(library, "The validation report")


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
    require_libraries()
    jinja2 = optional("jinja2")
    markup = optional("markupsafe").Markup
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
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
        "header": lambda text: markup(UNIT.sub(r'<span class="whole">\g<0></span>', escape(text))),
        "whole": lambda text: markup(whole_numbers(escape(text))),
        "markdown": lambda text: markup(inline_html(text)),
        "code_breaks": lambda html: markup(code_breaks(html)),
    }
    cases = [
        case
        | {
            "anchor": f"{result.machine}-{result.case}",
            "plots": [(plot, drawn(plot)) for plot in result.plots],
        }
        for case, result in zip(content["cases"], results, strict=True)
    ]
    machines = [
        machine
        | {
            "picture": b64encode(home_picture(platform)).decode(),
            "cases": (own := [case for case in cases if case["machine"] == platform.name]),
            "statements": [(case, words) for case in own for words in case["statements"]],
            "broken": sum(bool(case["error"]) for case in own),
        }
        for machine, platform in zip(content["machines"], platforms, strict=True)
    ]
    plotly = optional("plotly.offline").get_plotlyjs()
    page: str = templates.get_template("page.html").render(
        content | {"cases": cases, "machines": machines},
        rows=_case_rows(content),
        plotly=packed(plotly),
        style=style,
    )
    return page


def _case_rows(content: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return, per case that ran or was left out, its title and what became of each machine."""
    cells: dict[str, dict[str, Any]] = {}
    titles: dict[str, str] = {}
    for case in content["cases"]:
        titles[case["case"]] = case["title"]
        cells.setdefault(case["case"], {})[case["machine"]] = case
    for machine in content["machines"]:
        for case in machine["left_out"]:
            titles[case["case"]] = case["title"]
            cells.setdefault(case["case"], {})[machine["name"]] = case
    order = {key: place for place, key in enumerate(CASES)}
    keys = sorted(cells, key=lambda key: order.get(key, len(order)))
    return [(titles[key], cells[key]) for key in keys]


def margin_text(value: float | None) -> str:
    """Return a margin as text with a multiplication sign; None as an empty text."""
    if value is None:
        return ""
    if value > LARGEST_MARGIN:
        text = f"> {LARGEST_MARGIN:.0f}"
    else:
        text = f"{value:.0f}" if value >= 100.0 else f"{value:#.3g}"
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
    return CODE.sub(lambda code: re.sub("([_/])", r"\1<wbr>", code[0]), html)


def whole_numbers(html: str) -> str:
    """Return HTML of which numbers stay on one line, and the units behind them."""
    return WHOLE.sub(
        lambda found: f'<span class="whole">{found[1]}</span>' if found[1] else found[0], html
    )
