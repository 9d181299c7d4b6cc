"""Two stages on one log: predictions never make an estimate worse than the forces alone do."""

from dataclasses import replace

import numpy as np
import pytest
from recorded_motion import HIDDEN, TIMESTEP, nominal, recorded

from twin.identification.result.identify import identify
from twin.logs import Log, log_of

pytestmark = pytest.mark.quick

MASS = "platform.body.mass"


def log_of_hidden(*names):
    """Return signals of the hidden machine at 1 kHz, forces with noise of 5 N."""
    log, every = log_of(recorded(duration=4.0)), round(1e-3 / TIMESTEP)
    steps = (log[name].kept(slice(None, None, every)) for name in ("coordinates", "forces"))
    log = log.with_channels(*steps)
    noise = np.random.default_rng(0).normal(scale=5.0, size=log["forces"].values.shape)
    forces = replace(log["forces"], values=log["forces"].values + noise)
    return Log(tuple(forces if name == "forces" else log[name] for name in names))


@pytest.mark.slow
def test_more_signals_do_not_make_the_estimate_worse():
    """Commands invite predictions, and the file's friction of the drives is wrong for them."""
    alone = identify(nominal(), [log_of_hidden("coordinates", "forces")], MASS)
    more = identify(nominal(), [log_of_hidden("measured", "forces", "command_forces")], MASS)
    first = more.forces
    assert abs(more.values[0] - HIDDEN[MASS]) < 2.0 * abs(alone.values[0] - HIDDEN[MASS]) + 0.1
    assert more.standard_errors[0] < 1.5 * alone.standard_errors[0]
    assert more.values[0] == first.estimate.starting_values(more.parameters)[0]
    assert any("data kept apart" in note and MASS in note for note in more.notes)


@pytest.mark.slow
def test_predictions_stay_where_they_are_better():
    """With the right drives encoders show the mass better than forces of 50 N noise do."""
    machine = nominal().with_(parameters={k: v for k, v in HIDDEN.items() if k != MASS})
    log = log_of(recorded(duration=4.0))
    noise = np.random.default_rng(0).normal(scale=50.0, size=log["forces"].values.shape)
    forces = replace(log["forces"], values=log["forces"].values + noise)
    found = identify(machine, [log.with_channels(forces)], MASS)
    assert not any("data kept apart" in note for note in found.notes)
    assert found.errors is not None
    assert abs(found.values[0] - HIDDEN[MASS]) < 0.2
