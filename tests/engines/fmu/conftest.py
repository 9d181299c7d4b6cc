"""Units that the tests of this folder share."""

import pytest
from fmu_rig import unit_of


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Folder of the units."""
    return tmp_path_factory.mktemp("units")


@pytest.fixture
def unit(platform, folder):
    """Return the unit of every machine in FMI 3.0."""
    return unit_of(platform, folder)


@pytest.fixture
def stewart_unit(stewart, folder):
    """Return the unit of one machine, for what does not depend on it."""
    return unit_of(stewart, folder)
