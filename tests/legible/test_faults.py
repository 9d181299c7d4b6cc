"""Every kind of fault is found on a page that has it, and none on a page that has none."""

import os

import pytest
from browser_rig import browser_command

from legible.__main__ import faults_of, pages_of

pytestmark = [
    pytest.mark.pages,
    pytest.mark.skipif(
        browser_command() is None and "TWIN_TESTS_NEED_CHROMIUM" not in os.environ,
        reason="no Chromium",
    ),
]

PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8>"
    "<title>page</title><main><h1>page</h1>{}</main></html>"
)

HIDDEN = "overflow: hidden; white-space: nowrap"

DARK = "@media (prefers-color-scheme: dark) {"

LARGEST = 1500
"""[byte] of a page"""

FAULTS = (
    ("pixels wide", "<div style='width: 2000px'>wide</div>"),
    ("clipped", f"<div style='width: 40px; {HIDDEN}'>a long text</div>"),
    ("clipped", f"<div style='width: 40px; {HIDDEN}; text-overflow: ellipsis'>a long text</div>"),
    ("clipped", f"<div style='width: 40px; {HIDDEN}'><b>a long text</b></div>"),
    ("clipped", "<div style='height: 8px; overflow: hidden'>text</div>"),
    ("clipped", "<input aria-label=number size=2 value='123456.789'>"),
    (
        "clipped",
        "<svg width=40 height=30 role=img aria-label=cut><text y=20>a long text</text></svg>",
    ),
    (
        "lies on",
        "<svg width=200 height=60 role=img aria-label=picture>"
        "<text x=5 y=20>one</text><text x=10 y=22>two</text></svg>",
    ),
    ("lies on", "<p>one</p><p style='margin-top: -32px'>two</p>"),
    (
        "lies on",
        "<p>one</p><p style='position: absolute; top: 0; left: 0; font-size: 80px'>two</p>",
    ),
    (
        "a table wider than its column",
        "<div style='width: 90px; overflow: auto'><table><td>aligned<td>columns</table></div>",
    ),
    ("lost blanks", "<pre>if x:\n<span style='white-space: nowrap'>    </span>y</pre>"),
    ("a number on two lines", "<p style='width: 2em'>1.5e-10</p>"),
    ("said so", "<script>console.error('said so')</script>"),
    ("color-contrast", "<p style='color: #999'>pale</p>"),
    ("color-contrast", "<details><summary>more</summary><p style='color: #999'>pale</p></details>"),
    ("dark: color-contrast", f"<style>{DARK} body {{background: #222}} }}</style><p>text</p>"),
    ("not two dashes", "<code>train -resume</code>"),
    ("not two dashes", "<p>go on with \u2013resume</p>"),
    ("image-alt", "<img src='data:,'>"),
    ("more than", "x " * 1000),
    ("more than", "<script src=large.js></script>"),
)

SOUND = (
    "<input aria-label=name size=2 value='a long text'>",
    "<p>text with <b>bold</b>, <code>code</code> and x<sup>2</sup></p>",
    "<div style='width: 40px; overflow: auto; white-space: nowrap'>a long text</div>",
    "<div style='overflow: auto'><table><td>aligned<td>columns</table></div>",
    "<p style='width: 2em'><span style='white-space: nowrap'>1.5e-10</span></p>",
    "<div style='height: 20px; overflow: auto'><p>one</p><p>two</p></div><p>three</p>",
    f"<i style='position: absolute; width: 1px; height: 1px; {HIDDEN}'>read aloud</i><p>text</p>",
    "<p>text</p><p style='margin-top: -32px; visibility: hidden'>unseen</p>",
    "<p>text</p><p role=tooltip style='margin-top: -32px'>hint</p>",
    "<math><mover><mi>x</mi><mo>\u0307</mo></mover><mfrac><mi>a</mi><mi>b</mi></mfrac></math>",
    "<p>one \u2013 two; <code>--resume -n</code></p>",
    "<script src=searchindex.js></script>",
    "<img src=large.png alt=picture>",
)


def test_faults_are_found(tmp_path):
    for name in ("large.js", "searchindex.js", "large.png"):
        (tmp_path / name).write_text("//" + LARGEST * "x")
    for number, (_, text) in enumerate(FAULTS):
        (tmp_path / f"{number}.html").write_text(PAGE.format(text))
    for number, text in enumerate(SOUND):
        (tmp_path / f"sound{number}.html").write_text(PAGE.format(text))
    found = list(faults_of(pages_of(tmp_path), LARGEST))
    for number, (name, text) in enumerate(FAULTS):
        mine = [fault for fault in found if f"/{number}.html" in fault]
        assert mine, text
        assert all(name in fault.rpartition(".html")[2] for fault in mine), mine
    assert not [fault for fault in found if "sound" in fault]
