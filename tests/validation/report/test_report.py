"""The report: complete, self-contained, escaped, and the same content in both files."""

import base64
import gzip
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from unsymmetric import content_without_symmetry

import twin
from twin.analysis.platform import Platform
from twin.machine.file.read import parameters_from
from twin.validation.case import (
    CaseResult,
    Curve,
    LeftOut,
    Measure,
    Panel,
    Plot,
    Quantity,
    Statement,
    overall,
)
from twin.validation.cases import CASES, load_case
from twin.validation.measures.comparison import ENGINE_LABELS, error_name, trajectory_comparison
from twin.validation.published.printed import PrintedValue, compared, read_errata
from twin.validation.report import page as report
from twin.validation.report.page import (
    CURVE_POINTS,
    SCHEMA_VERSION,
    margin,
    summary,
)
from twin.validation.runner import left_out

ATTACK = "</script><script>alert(1)</script><img src=https://example.org/x onerror=alert(1)>"
MACHINES = ("stewart", "driving_simulator")
ORIGIN = {
    "generated": "2026-01-02T03:04:05+00:00",
    "command": f"twin validate {ATTACK}",
    "system": "Test system",
    "processor": "Test processor",
    "cores": 2,
    "versions": {"platform-twin": twin.__version__, "numpy": np.__version__},
}

GOOD = Measure(
    "MuJoCo: largest position error in 0.3 s", 2e-8, 1e-6, "limit of the project", unit="m"
)
ORDER = Measure("order of convergence", 3.9, 3.5, "fourth-order method", at_least=True)
SCALE = Quantity("largest force", 120.0, "for scale", "N")
KEPT = Measure("largest rate", 0.1, 0.1, "its limit", unit="rad/s", at_bound=True)
BROKEN = Measure(f"broken {ATTACK}", 3e-3, 1e-6, f"reason {ATTACK}", unit="m")
LOST = Measure("lost", "nan", 1e-6, "a value that is not finite fails", unit="rad")


def plot(title="Motion"):
    """Return a plot with an error panel below."""
    time = np.linspace(0.0, 1.0, 5001)
    return Plot(
        title,
        "time [s]",
        Panel("z [m]", Curve("reference", time, np.cos(time))),
        Panel("error [m]", Curve(ATTACK, time, 1e-9 * (time + 1e-3), "dash"), log_y=True),
        caption=f"caption {ATTACK}",
    )


def good_case(machine):
    """Return a case that passes."""
    statements = (
        Statement("Thesis, figure 2.4", "57 mm", f"57.3 mm {ATTACK}", "reproduced"),
        Statement("Thesis, table 1", "58 mm", "57 mm", "differs", f"misprint {ATTACK}", "differs"),
        Statement("Thesis, figure 9", "a curve", "3 mm", "not given", "no numbers", "not given"),
    )
    words = (machine, "free_fall", "Free fall from rest", "Falls from home.")
    return CaseResult(*words, (GOOD, ORDER), (SCALE,), (plot(),), statements, seconds=1.5)


def bad_cases(machine):
    """Return a case with broken tolerances and one that could not be run."""
    return [
        CaseResult(machine, "broken", f"Title {ATTACK}", f"Text {ATTACK}", (BROKEN, LOST)),
        CaseResult(machine, "crashed", "Crashed", "Stops.", (), error=f"engine stopped {ATTACK}"),
    ]


class Page(HTMLParser):
    """Reads a page: its elements, the texts of scripts and styles, and all other text."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.raw = {"script": [], "style": []}
        self.text = ""
        self.inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Remember an element."""
        self.elements.append((tag, dict(attrs)))
        if tag in self.raw:
            self.inside = tag
            self.raw[tag].append("")

    def handle_endtag(self, tag):
        """Leave a script or a style."""
        if tag == self.inside:
            self.inside = ""

    def handle_data(self, data):
        """Collect text where it belongs."""
        if self.inside:
            self.raw[self.inside][-1] += data
        else:
            self.text += data

    def figures(self):
        """Return the plotly figures on the page."""
        scripts = [attributes for tag, attributes in self.elements if tag == "script"]
        return [
            json.loads(gzip.decompress(base64.b64decode(text)))
            for attributes, text in zip(scripts, self.raw["script"], strict=True)
            if attributes.get("type") == "text/plain" and "id" not in attributes
        ]


@pytest.fixture(scope="module")
def platforms():
    """All shipped machines."""
    return [twin.load(name) for name in MACHINES]


def build(results, platforms):
    """Return content and page of a report."""
    content = summary(results, platforms, ORIGIN, 12.5)
    return content, Page(report.html_page(content, results, platforms))


@pytest.fixture(scope="module")
def passed(platforms):
    """A report without failures."""
    return build([good_case(name) for name in MACHINES], platforms)


@pytest.fixture(scope="module")
def failed(platforms):
    """A report whose last two cases fail."""
    return build([*(good_case(name) for name in MACHINES), *bad_cases(MACHINES[0])], platforms)


@pytest.mark.slow
def test_the_page_loads_nothing(failed):
    page = failed[1]
    loading = ("src", "srcset", "data", "poster", "action", "background", "xlink:href")
    for tag, attributes in page.elements:
        asked = [attributes[name] for name in loading if name in attributes]
        assert all(text.startswith("data:image/png;base64,") for text in asked), (tag, attributes)
        if tag in ("link", "use", "image"):
            assert (attributes.get("href") or "").startswith("data:")
    for style in page.raw["style"]:
        assert "@import" not in style
        assert "url(" not in style
    policies = [
        attributes["content"] or ""
        for tag, attributes in page.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policies) == 1
    # The browser itself then refuses whatever plotly.js or a plot might ask for.
    assert "default-src 'none'" in policies[0]
    assert not re.search(r"https?:|\*", policies[0])


@pytest.mark.slow
def test_nothing_from_a_case_becomes_markup(failed):
    page = failed[1]
    scripts = [attributes for tag, attributes in page.elements if tag == "script"]
    figures = page.figures()
    assert len(figures) == len(MACHINES)
    assert len(scripts) == len(figures) + 2, "plots, plotly.js and the page's own script"
    assert not [tag for tag, attributes in page.elements if "onerror" in attributes]
    own = [attributes["alt"] for tag, attributes in page.elements if tag == "img"]
    assert own == [f"{name} at home" for name in MACHINES], "pictures of the machines alone"
    assert ATTACK in page.text
    # Plotly reads names as a small subset of HTML: they must reach it escaped.
    for figure in figures:
        assert figure["data"][1]["name"].startswith("&lt;/script&gt;")


def test_every_case_measure_reason_and_statement_is_shown(failed):
    content, page = failed
    anchors = {attributes.get("id") for _, attributes in page.elements}
    links = {(a.get("href") or "")[1:] for tag, a in page.elements if tag == "a"}
    assert len(content["cases"]) == len(MACHINES) + 2
    for case in content["cases"]:
        assert f"{case['machine']}-{case['case']}" in anchors & links
        for text in (case["title"], case["description"], case["error"]):
            assert text in page.text
        for measure in case["measures"]:
            assert measure["name"] in page.text
            assert measure["reason"] in page.text
        for quantity in case["quantities"]:
            assert quantity["name"] in page.text
            assert quantity["note"] in page.text
        for statement in case["statements"]:
            assert all(text in page.text for text in statement.values())
    assert links <= anchors, "every link leads somewhere on the page"


@pytest.mark.slow
def test_every_parameter_is_shown_with_unit_and_source(passed):
    content, page = passed
    for machine in content["machines"]:
        assert len(machine["parameters"]) > 20
        for row in machine["parameters"]:
            assert row["description"] in page.text
            assert row["source"] in page.text
            assert row["unit"] in page.text
        assert machine["parameters_hash"] in page.text


def test_verdicts(passed, failed):
    assert passed[0]["verdict"] == "pass"
    assert f"Passed: all {2 * len(MACHINES)} judged measures" in passed[1].text
    assert passed[0]["headline"] == [
        "MuJoCo follows the reference within 20 nm over 0.3 s of free fall "
        f"on all {len(MACHINES)} machines."
    ]
    assert passed[0]["headline"][0] in passed[1].text
    assert failed[0]["verdict"] == "fail"
    assert "Failed: 2 of" in failed[1].text
    assert failed[0]["counts"]["failed_cases"] == 2
    assert failed[0]["counts"]["measures"]["fail"] == 2
    verdicts = {machine["name"]: machine["verdict"] for machine in failed[0]["machines"]}
    assert verdicts == {name: "fail" if name == MACHINES[0] else "pass" for name in MACHINES}


def test_the_page_of_an_own_machine_says_what_it_cannot_know(passed):
    words = "this report cannot know"
    assert words not in passed[1].text and passed[0]["errata"]
    own = Platform(parameters_from(content_without_symmetry("ups"), "platform.toml"))
    content, page = build([good_case(own.name)], [own])
    assert words in page.text
    assert not content["errata"] and "Errata" not in page.text


def test_cases_of_some_machines_are_not_left_out_of_the_reports_of_others(description):
    own = Platform(parameters_from(description | {"name": "mine"}, "platform.toml"))
    without = {entry.case for entry in left_out([own])}
    assert not without & {key for key in CASES if load_case(key).machines}


def test_names_of_errors_are_those_of_the_headline(srspm):
    measures, _ = trajectory_comparison(srspm, 2e-3, "Short")
    names = [measure.name for measure in measures if measure.unit == "m"]
    assert names
    for name in names:
        assert any(
            error_name(label, "position").fullmatch(name) for label in ENGINE_LABELS.values()
        )


def test_plots_keep_their_data(passed):
    assert len(passed[1].figures()) == len(MACHINES)
    for figure in passed[1].figures():
        reference, error = figure["data"]
        x, y = (
            np.frombuffer(
                base64.b64decode(reference[axis]["bdata"]), dtype=reference[axis]["dtype"]
            )
            for axis in ("x", "y")
        )
        assert len(x) <= CURVE_POINTS
        assert (x[0], x[-1]) == (0.0, 1.0)
        # Stored as float32: seven digits.
        assert_allclose(y, np.cos(x), rtol=3e-7)
        assert figure["layout"]["yaxis2"]["type"] == "log"
        assert error["line"]["dash"] == "dash"


def test_json_holds_the_same_content(failed):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    content = json.loads(report.json_text(failed[0]), parse_constant=refuse)
    assert content == failed[0]
    assert content["schema"] == SCHEMA_VERSION
    assert content["versions"]["numpy"] == np.__version__
    assert content["command"] == ORIGIN["command"]
    for machine in content["machines"]:
        assert machine["parameters_hash"] == twin.load(machine["name"]).hash
    broken, lost = content["cases"][-2]["measures"]
    assert (broken["value"], broken["tolerance"], broken["verdict"]) == (3e-3, 1e-6, "fail")
    assert (lost["value"], lost["verdict"]) == (None, "fail")


def test_margin_is_below_one_exactly_when_a_measure_fails(subtests):
    for measure, times in [
        (GOOD, 50.0),
        (ORDER, 3.9 / 3.5),
        (KEPT, None),
        (BROKEN, 1e-6 / 3e-3),
        (LOST, None),
        (replace(GOOD, tolerance=np.inf), None),
    ]:
        with subtests.test(f"{measure}"):
            found = margin(measure)
            assert found == (None if times is None else pytest.approx(times))
            assert found is None or (found < 1.0) == (measure.verdict == "fail")


def test_nothing_judged_is_no_pass():
    assert overall([]) == "info"
    assert overall(["info"]) == "info"
    assert overall(["info", "pass"]) == "pass"
    assert overall(["pass", "fail", "info"]) == "fail"


@pytest.fixture
def one_case(monkeypatch):
    """Put a case that takes no time in place of the real ones; counts the runs."""
    runs = []

    def run(machines, cases, jobs):
        runs.append(jobs)
        return [good_case(name) for name in machines]

    # The cases themselves take minutes.
    monkeypatch.setattr(report, "run", run)
    return runs


@pytest.mark.slow
def test_make_report_writes_both_files(tmp_path, one_case):
    html, data = tmp_path / "report.html", tmp_path / "report.json"
    content = report.make_report(["stewart"], None, html, data, 3, "command")
    assert one_case == [3]
    assert json.loads(data.read_text(encoding="utf-8")) == content
    assert len(Page(html.read_text(encoding="utf-8")).figures()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.json"]


def test_a_bad_place_is_told_before_the_cases_run(tmp_path, one_case):
    for place in (tmp_path / "missing" / "report.html", tmp_path):
        with refused("path"):
            report.make_report(["stewart"], None, place)
        with refused("path"):
            report.make_report(["stewart"], None, None, place)
    assert not one_case


def test_errata_are_on_the_page(passed):
    content, page = passed
    assert len(content["errata"]) == len(read_errata()) > 1
    for paper in read_errata():
        for text in (paper.paper, paper.reference, paper.note):
            assert re.sub(r"[*]", "", text) in page.text
        for entry in paper.entries:
            assert entry.test in page.text
            for text in (entry.where, entry.printed, entry.right):
                assert text.replace("`", "") in page.text


def test_machine_index_tells_each_machine_at_a_glance(failed):
    content, page = failed
    for machine in content["machines"]:
        broken = machine["name"] == MACHINES[0]
        assert machine["kind"] == twin.load(machine["name"]).kind
        assert machine["counts"]["measures"] == {"pass": 2, "fail": 2 * broken}
        assert machine["seconds"] == 1.5
        # The least margin is that of the broken measure, else that of the order: 3.9 / 3.5.
        worst, times = (BROKEN.name, 1e-6 / 3e-3) if broken else (ORDER.name, 3.9 / 3.5)
        assert machine["tightest"]["measure"] == worst
        assert machine["tightest"]["margin"] == pytest.approx(times)
        assert worst in page.text
    pictures = [attributes["src"] for tag, attributes in page.elements if tag == "img"]
    assert len(set(pictures)) == len(MACHINES)


@pytest.mark.slow
def test_cases_that_do_not_apply_are_told_with_their_reason(platforms):
    without = [LeftOut(MACHINES[1], "tilting", "Tilting table", f"no tilt {ATTACK}")]
    results = [good_case(name) for name in MACHINES]
    content = summary(results, platforms, ORIGIN, 12.5, without)
    page = Page(report.html_page(content, results, platforms))
    assert [len(machine["left_out"]) for machine in content["machines"]][:2] == [0, 1]
    assert "Tilting table" in page.text
    assert f"no tilt {ATTACK}" in page.text
    assert page.text.count("does not apply") == 1


@pytest.mark.parametrize("agreement", ["differs", "not given"])
def test_statements_that_do_not_agree_say_why(agreement):
    with refused("nothing says why"):
        Statement("Paper", "1", "2", agreement)
    assert Statement.judged("Paper", "1", "1", True) == Statement("Paper", "1", "1", "reproduced")
    other = Statement.judged("Paper", "1", "2", False, "misprint")
    assert (other.agreement, other.why) == ("differs", "misprint")
    assert Statement.judged("Paper", "1", "2", False).why


def test_printed_values_are_judged_by_their_last_digit():
    printed = PrintedValue("Paper, table 1", "peak torque", "12.3", "N m")
    for ours, verdict, agreement in ((12.34, "pass", "reproduced"), (12.36, "fail", "differs")):
        measure, statement = compared(printed, ours)
        assert (measure.verdict, statement.agreement) == (verdict, agreement)


def test_printed_digits_are_a_band_with_two_sides(subtests):
    for text, low, high in [
        ("12.3", 12.25, 12.35),
        ("-0.50", -0.505, -0.495),
        ("50", 49.5, 50.5),
        ("about 220", 215.0, 225.0),
        ("1e-8", 0.5e-8, 1.5e-8),
    ]:
        with subtests.test(f"{text}"):
            printed = PrintedValue("Paper", "quantity", text)
            width = high - low
            assert printed.holds(low) and printed.holds(high)
            assert not printed.holds(low - 0.01 * width) and not printed.holds(high + 0.01 * width)


def test_a_statement_that_changes_its_verdict_fails():
    for same, recorded, verdict in (
        (True, "reproduced", "pass"),
        (False, "reproduced", "fail"),
        (True, "differs", "fail"),
        (False, "differs", "pass"),
    ):
        statement = Statement.judged("Paper", "1", "1", same, "misprint", recorded)
        assert statement.verdict == verdict
        result = CaseResult("m", "case", "Case", "text", (), statements=(statement,))
        assert result.verdict == verdict


def test_markdown_becomes_safe_html():
    text = f"*a* `b` {ATTACK} ![x](https://example.org/x.png)"
    page = Page(report.inline_html(text))
    tags = [tag for tag, _ in page.elements]
    assert {"em", "code"} <= set(tags)
    assert not {"script", "img"} & set(tags)
    assert ATTACK in page.text
