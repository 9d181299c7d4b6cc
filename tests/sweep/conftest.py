"""Where measures in workers take notes."""

from __future__ import annotations

from pathlib import Path

import own_measures
import pytest


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder in which `own_measures.deadly` notes what it begins and ends."""
    folder = tmp_path / "notes"
    folder.mkdir()
    monkeypatch.setenv(own_measures.FOLDER, str(folder))
    return folder
