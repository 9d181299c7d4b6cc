"""Identification of a hidden machine, from the run of its controller to files."""

import numpy as np
import pytest
from recorded_motion import HIDDEN, nominal, part, recorded
from refusals import refused

import twin
from twin.charts.results import write_page
from twin.cli.console import show
from twin.identification.result.identify import identify, write_identified
from twin.identification.result.report import identification_results
from twin.logs import log_of

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def found():
    return identify(nominal(), [log_of(recorded())], list(HIDDEN))


@pytest.mark.slow
def test_hidden_numbers_are_found(found):
    truth = np.array(list(HIDDEN.values()))
    error = np.abs(found.values - truth)
    assert (error < found.margins * found.standard_errors).all()
    assert error[0] < 5e-3 * truth[0]
    assert error[1] < 1e-3
    assert error[2] < 0.05 * truth[2]
    assert error[3] < 2e-5


@pytest.mark.slow
def test_errors_on_data_kept_apart_fall_to_the_noise(found):
    """Rounding to whole counts of 1.24 um leaves 0.36 um."""
    apart = found.fits[-1]
    assert apart.before > 5e-6
    assert apart.after < 0.5e-6
    assert "kept apart fall from" in found.summary


@pytest.mark.slow
def test_the_file_makes_the_identified_machine(found, tmp_path):
    path = write_identified(found, "stewart", tmp_path / "mine.toml")
    again = twin.load(path, configuration="hardware").parameters
    for parameter in found.parameters:
        assert twin.load(path).parameters.platform == again.platform
        own = found.platform.parameters
        assert again.platform.body.mass == own.platform.body.mass, parameter.path
        assert again.legs[2].drive == own.legs[2].drive.model_copy(
            update={"source": again.legs[2].drive.source}
        )
    with refused("exists"):
        write_identified(found, "stewart", path)
    assert write_identified(found, "stewart", path, replace=True) == path


@pytest.mark.seconds
def test_friction_of_motors_is_shown_at_the_leg(found, capsys):
    """0.23 N m through a lead of 5.08 mm are 284.5 N."""
    show(identification_results(found))
    told = capsys.readouterr().out.split("at the leg")[1]
    assert "284.47" in told
    assert "leg.drive.friction_torque" in told


@pytest.mark.seconds
def test_the_page_has_every_number(found, tmp_path):
    page = write_page(identification_results(found), tmp_path / "page.html").read_text()
    assert all(parameter.path in page for parameter in found.parameters)
    assert "http-equiv" in page
    assert "<script src" not in page


@pytest.mark.slow
def test_what_does_not_show_is_refused():
    """Legs that are never unloaded do not show their play."""
    log = log_of(recorded())
    with refused("backlash"):
        identify(nominal(), [log], "platform.body.mass,leg.drive.backlash")
    held = identify(
        nominal(), [log], "platform.body.mass,leg.drive.backlash", if_unobservable="hold"
    )
    assert [parameter.path for parameter in held.fixed] == ["leg.drive.backlash"]


@pytest.mark.slow
def test_a_model_that_misses_something_is_named(found):
    """A machine with half the friction cannot follow, and says that its interval is too narrow."""
    assert not any("times the noise" in note for note in found.notes)
    wrong = nominal().with_(parameters={"leg.drive.friction_torque": 0.1})
    poor = identify(wrong, [log_of(recorded())], "leg.drive.delay")
    assert any("times the noise" in note for note in poor.notes)


def test_an_unknown_choice_names_its_option():
    with refused("if_unobservable"):
        identify(nominal(), [log_of(recorded())], "payload", if_unobservable="bogus")


def test_missing_signals_are_named():
    log = log_of(recorded())
    short = part(log, *[name for name in log.names if not name.endswith("forces")])
    with refused("command_forces"):
        identify(nominal(), [short], "payload")
