"""Units that the tests of this folder share."""

from __future__ import annotations

from pathlib import Path

import pytest
from fmu_rig import UnitFile, unit_of

from twin.analysis.platform import Platform


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the units."""
    return tmp_path_factory.mktemp("units")


@pytest.fixture
def unit(platform: Platform, folder: Path) -> UnitFile:
    """Return the unit of every machine in FMI 3.0."""
    return unit_of(platform, folder)


@pytest.fixture
def stewart_unit(stewart: Platform, folder: Path) -> UnitFile:
    """Return the unit of one machine, for what does not depend on it."""
    return unit_of(stewart, folder)
