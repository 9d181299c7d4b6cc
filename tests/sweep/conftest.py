"""Where measures in workers take notes."""

import own_measures
import pytest


@pytest.fixture
def notes(monkeypatch, tmp_path):
    """Return the folder in which `own_measures.deadly` notes what it begins and ends."""
    folder = tmp_path / "notes"
    folder.mkdir()
    monkeypatch.setenv(own_measures.FOLDER, str(folder))
    return folder
