"""The script of the guides' pictures waits for what the page computes beside its run."""

import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest
from package_walk import ROOT

from twin.analysis.feasibility.feasibility import rest_feasibility
from twin.page.panels.state import CHECKED_TASKS, strip


@pytest.fixture
def script(monkeypatch):
    """Return the script, which is in no package."""
    folder = ROOT / "docs" / "images"
    # The scripts import each other from their folder.
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    spec = spec_from_file_location("pictures_of_the_page", folder / "viewer.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_wait_for_all_verdicts(chromium, script, stewart):
    (margin, *_) = rest_feasibility(stewart, stewart.home[None], ("home",), "at rest").margins
    page, tasks = chromium.new_page(), list(CHECKED_TASKS)
    assert page.evaluate(script.ARE_JUDGED, tasks) is False
    half = np.full(6, 0.5)
    for verdicts, ready in (((None, None), False), ((margin, None), False), ((margin,) * 2, True)):
        page.set_content(strip(half, half, half, dict(zip(tasks, verdicts, strict=True))))
        assert bool(page.evaluate(script.ARE_JUDGED, tasks)) is ready
    page.close()
