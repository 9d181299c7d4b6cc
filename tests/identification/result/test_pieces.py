"""Logs with gaps are cut there; nothing is made up for samples that are missing."""

import numpy as np
import pytest
from recorded_motion import HIDDEN, nominal, recorded
from refusals import refused

from twin.identification.result.identify import identify, log_segments
from twin.logs import Channel, Log, log_of

pytestmark = pytest.mark.quick

TIME = 1e-3 * np.arange(5001)


def with_gaps(*gaps):
    """Return 5 s at 1 kHz, where channels have no samples between two times."""
    channels = []
    for name in ("measured", "command_forces", "setpoint"):
        kept = np.ones(len(TIME), dtype=bool)
        for own, start, stop in gaps:
            kept &= (own != name) | (start >= TIME) | (stop <= TIME)
        channels.append(Channel(name, TIME[kept], np.zeros(kept.sum()), "m"))
    return Log(tuple(channels))


def test_logs_without_gaps_stay_as_they_are():
    log = with_gaps(("measured", 2.0, 2.009), ("setpoint", 1.0, 4.0))
    assert log_segments([log], 0.1) == ([log], [])


def test_pieces_end_with_the_last_sample_before_a_gap():
    """Overlapping gaps of two signals are one; a piece that is too short is left out."""
    log = with_gaps(
        ("measured", 1.5, 1.7), ("command_forces", 1.6, 1.9), ("command_forces", 2.4, 2.5)
    )
    kept, [note] = log_segments([log], 0.1)
    assert [each.span for each in kept] == [(0.0, 1.5), (2.5, 5.0)]
    assert len(kept[0]["measured"]) == 1501
    assert "3 gaps in command_forces, measured, the first of them at 1.5 s" in note
    assert "1 s are left out" in note


def test_a_log_of_short_pieces_is_refused():
    gaps = [("measured", 0.5 + k, 0.7 + k) for k in range(5)]
    with refused(r"no piece without gaps is 1\.2 s long"):
        log_segments([with_gaps(*gaps)], 0.1)


@pytest.mark.slow
def test_a_gap_does_not_spoil_an_identification():
    log = log_of(recorded(duration=4.0))
    encoders = log["measured"]
    lost = encoders.kept((encoders.time < 1.9) | (encoders.time > 2.05))
    log = Log((lost, log["command_forces"]))
    found = identify(nominal(), [log], list(HIDDEN))
    error = np.abs(found.values - list(HIDDEN.values()))
    assert (error < 1.5 * found.margins * found.standard_errors).all()
    assert found.fits[-1].after < 0.5e-6
    assert "was cut there" in found.notes[0]
