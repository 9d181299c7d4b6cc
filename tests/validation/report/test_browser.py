"""The report in a real browser: its print is short."""

import os
import re

import pytest

pytest.importorskip("playwright")
from browser_rig import browser_command, open_browser

import twin
from twin.validation.case import CaseResult, Measure, Quantity, Table
from twin.validation.cases import CASES
from twin.validation.report.page import environment, html_page, summary

pytestmark = pytest.mark.pages

LONGEST_PRINT = 12
"""Pages of a summary on A4."""


def long_case(machine, key):
    """Return a case as long as the longest ones."""
    name = f"{key}: a measure of {machine} against the reference over all of its poses"
    measures = [Measure(f"{name} {k}", 1.2e-9, 1e-8, "reason " * 12, "N m") for k in range(12)]
    quantities = [Quantity(f"{name} {k}", 1.0, "note " * 12) for k in range(8)]
    table = Table("Beside", ("column",) * 12, (("1.2345678e-9",) * 12,))
    words = (machine, key, f"Case {key} of a machine", "What is compared with what. " * 8)
    return CaseResult(*words, tuple(measures), tuple(quantities), tables=(table,))


@pytest.fixture
def page(tmp_path):
    """A report of all machines and cases, opened."""
    command = browser_command()
    if command is None:
        assert not os.environ.get("TWIN_TESTS_NEED_CHROMIUM"), "Chromium is missing"
        pytest.skip("Chromium is not installed")
    platforms = [twin.load(name) for name in twin.machine_names()]
    results = [long_case(platform.name, key) for platform in platforms for key in CASES]
    content = summary(results, platforms, environment("twin validate"), 40.0)
    file = tmp_path / "report.html"
    file.write_text(html_page(content, results, platforms), encoding="utf-8")
    with open_browser(command) as browser:
        opened = browser.new_page()
        opened.goto(file.as_uri())
        yield opened


def test_print_is_a_summary_unless_details_are_wanted(page):
    assert len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4"))) <= LONGEST_PRINT
    table = page.locator("main details table").first
    page.check("#print-details")
    page.emulate_media(media="print")
    errata = page.locator("#errata")
    assert not table.is_visible() and not errata.is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert table.is_visible() and errata.is_visible()
