"""The report in a real browser: nothing leaves the window sideways, and the print is short."""

import os
import re

import pytest

pytest.importorskip("playwright")
from browser_rig import TABLET, browser_command, open_browser

import twin
from twin.validation.case import CaseResult, Measure, Quantity, Statement, Table
from twin.validation.cases import CASES
from twin.validation.report.page import environment, html_page, summary

pytestmark = pytest.mark.pages

LONGEST_PRINT = 12
"""Pages of a summary on A4."""

WIDTH = 1280


def long_case(machine, key):
    """Return a case as long as the longest ones, with words and numbers that do not break."""
    name = f"{key}: a measure of {machine} against the reference over all of its poses"
    return CaseResult(
        machine,
        key,
        f"Case {key} of a machine",
        "What is compared with what. " * 8,
        tuple(
            Measure(f"{name} {k}", 1.23456e-9, 1e-8, "reason " * 12, "N m s/rad") for k in range(12)
        ),
        tuple(Quantity(f"{name} {k}", 1.0, "note " * 12) for k in range(8)),
        statements=tuple(
            Statement(f"Paper, section {k}", "printed " * 15, "ours " * 15, "reproduced")
            for k in range(4)
        ),
        tables=(
            Table("Beside", tuple("column" * 3 for _ in range(12)), (("1.2345678e-9",) * 12,)),
        ),
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report of all machines and cases, opened."""
    command = browser_command()
    if command is None:
        assert not os.environ.get("TWIN_TESTS_NEED_CHROMIUM"), "Chromium is missing"
        pytest.skip("Chromium is not installed")
    platforms = [twin.load(name) for name in twin.machine_names()]
    results = [long_case(platform.name, key) for platform in platforms for key in CASES]
    content = summary(results, platforms, environment("twin validate"), 40.0)
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(html_page(content, results, platforms), encoding="utf-8")
    with open_browser(command) as browser:
        opened = browser.new_page(viewport={"width": WIDTH, "height": 900})
        opened.goto(file.as_uri())
        yield opened


def pages_of(page):
    """Return how many pages the print has."""
    return len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4")))


def test_tables_scroll_inside_themselves(page):
    page.evaluate("document.querySelectorAll('main details').forEach(part => part.open = true)")
    wide = "[...document.querySelectorAll('main table')].some(t => t.scrollWidth > 940)"
    assert page.evaluate(wide), "no table is wider than its place: the test has lost its point"
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    page.evaluate("document.querySelectorAll('main details').forEach(part => part.open = false)")


def test_columns_of_a_case_keep_their_names_on_a_tablet(page):
    page.set_viewport_size({"width": TABLET[0], "height": TABLET[1]})
    page.evaluate("document.querySelectorAll('main details').forEach(part => part.open = true)")
    assert page.get_by_role("columnheader", name="column" * 3).first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= TABLET[0]
    page.evaluate("document.querySelectorAll('main details').forEach(part => part.open = false)")
    page.set_viewport_size({"width": WIDTH, "height": 900})


def test_print_is_a_summary_unless_details_are_wanted(page):
    assert pages_of(page) <= LONGEST_PRINT
    table = page.locator("main details table").first
    page.check("#print-details")
    page.emulate_media(media="print")
    errata = page.locator("#errata")
    assert not table.is_visible() and not errata.is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert table.is_visible() and errata.is_visible()
