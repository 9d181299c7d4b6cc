"""Every kind of fault is found on a page that has it, and none on a page that has none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from browser_rig import browser_command

from legible.__main__ import faults_of, pages_of

pytestmark = pytest.mark.skipif(
    browser_command() is None and "TWIN_TESTS_NEED_CHROMIUM" not in os.environ,
    reason="no Chromium",
)

PAGE = "<!doctype html><html lang=en><title>page</title><main><h1>page</h1>{}</main></html>"

FAULTS = {
    "pixels wide": "<div style='width: 2000px'>wide</div>",
    "clipped": "<div style='width: 40px; overflow: hidden; white-space: nowrap'>a long text</div>",
    "lies on": "<svg width=200 height=60 role=img aria-label=picture>"
    "<text x=5 y=20>one</text><text x=10 y=22>two</text></svg>",
    "said so": "<script>console.error('said so')</script>",
    "color-contrast": "<p style='color: #999'>pale</p>",
    "image-alt": "<img src='data:,'>",
    "more than": "x " * 600,
}


def test_faults_are_found(tmp_path: Path) -> None:
    for name, text in (*FAULTS.items(), ("none", "<p>text</p>")):
        (tmp_path / f"{name}.html").write_text(PAGE.format(text))
    found = list(faults_of(pages_of(tmp_path), 1000.0))
    for name in FAULTS:
        mine = [fault for fault in found if f"{name}.html" in fault]
        assert mine, name
        assert all(name in fault.rpartition(".html")[2] for fault in mine), mine
    assert not [fault for fault in found if "none.html" in fault]
