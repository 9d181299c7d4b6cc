"""The script of the handbook's site, on pages that are made like those of the site."""

import os

import pytest
from browser_rig import browser_command, open_browser
from package_walk import ROOT

pytestmark = [
    pytest.mark.pages,
    pytest.mark.skipif(
        browser_command() is None and "TWIN_TESTS_NEED_CHROMIUM" not in os.environ,
        reason="no Chromium",
    ),
]

PAGE = (
    "<!doctype html><title>page</title>"
    "<div class=sidebar-scroll style='position: relative; height: 300px; overflow: auto'>{}</div>"
    "<div id=search-results></div><script src='{}'></script>"
)

ENTRIES = 100


def test_list_shows_the_current_page_and_an_empty_search_says_what_to_do(tmp_path):
    entries = [
        f"<p{' class=current-page' if k == ENTRIES // 2 else ''}>page {k}</p>"
        for k in range(ENTRIES)
    ]
    script = (ROOT / "docs" / "_static" / "site.js").as_uri()
    file = tmp_path / "page.html"
    file.write_text(PAGE.format("".join(entries), script))
    with open_browser(browser_command()) as browser:
        page = browser.new_page()
        for query, hint in (("", "Search"), ("?q=leg", "")):
            page.goto(file.as_uri() + query)
            place = page.evaluate(
                "() => document.querySelector('.current-page').getBoundingClientRect().top"
                " - document.querySelector('.sidebar-scroll').getBoundingClientRect().top"
            )
            assert 0.0 < place < 300.0
            assert page.locator("#search-results").inner_text().startswith(hint)
            assert bool(page.locator("#search-results").inner_text()) == bool(hint)
