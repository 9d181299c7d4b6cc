"""A shadow beside a source: ring, replay of its log, telemetry, and the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from twin.analysis.platform import Platform, load
from twin.cli import app
from twin.cli.tables.shadow import counts
from twin.errors import InputError
from twin.link.emulated import parse_fault
from twin.link.protocol import Sample
from twin.link.transport.arrivals import Counts
from twin.logs import read_log, write_log
from twin.shadow.derive import NEVER, write_thresholds
from twin.shadow.session import ShadowSession
from twin.shadow.shadow import Shadow
from twin.shadow.thresholds import Thresholds
from twin.shadow.working import work, working_motion

pytestmark = pytest.mark.quick


class Listed:
    """A source of given samples."""

    def __init__(self, samples: list[Sample]) -> None:
        self.counts, self.ended = Counts(), False
        self._samples = iter(samples)

    def receive(self, timeout: float) -> Sample | None:
        """Return the next one."""
        found = next(self._samples, None)
        self.ended = found is None
        return found

    def close(self) -> None:
        """Nothing is open."""


class Kept:
    """Telemetry that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[Sample] = []

    def send(self, sample: Sample) -> None:
        """Keep it."""
        self.sent.append(sample)

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture(scope="module")
def stewart() -> Platform:
    """The machine with its drives."""
    return load("stewart", "hardware")


@pytest.fixture(scope="module")
def samples(stewart: Platform) -> list[Sample]:
    """Half a second of work."""
    return list(work(stewart, working_motion(stewart, 0.5, 1)))


def test_a_ring_holds_the_last_samples(stewart: Platform, samples: list[Sample]) -> None:
    """Its log has what was measured last, and the estimates beside it."""
    telemetry = Kept()
    shadow = Shadow(stewart, thresholds=NEVER)
    session = ShadowSession(shadow, Listed(samples), ring=0.2, telemetry=telemetry)
    while session.receive(0.0):
        pass
    assert session.ring is not None
    log = session.ring.log()
    assert session.updates == len(samples) == 500
    assert log["coordinates"].time == pytest.approx([each.time for each in samples[-200:]])
    assert (log["coordinates"].values[-1] == samples[-1].values["coordinates"]).all()
    assert np.abs(log["estimated_pose"].values[-1] - log["pose"].values[-1]).max() < 2e-4
    half, most = session.durations(50.0, 100.0)
    assert 0.0 < half <= most
    assert [each.sequence for each in telemetry.sent] == [each.sequence for each in samples]
    assert set(telemetry.sent[-1].values) >= {"residuals", "alarms", "pose", "wrench"}
    with pytest.raises(InputError, match="ring"):
        ShadowSession(shadow, Listed([]), ring=0.0)


def test_the_command_replays_a_log(
    stewart: Platform, samples: list[Sample], tmp_path: Path
) -> None:
    """The log of a ring is a source; alarms and estimates are written."""
    session = ShadowSession(Shadow(stewart, thresholds=NEVER), Listed(samples))
    while session.receive(0.0):
        pass
    assert session.ring is not None
    log = write_log(session.ring.log(), tmp_path / "run.csv")
    limits = write_thresholds(NEVER, tmp_path / "limits.toml")
    out, alarms = tmp_path / "again.csv", tmp_path / "alarms.csv"
    given = ["--source", f"replay:{log}", "--thresholds", str(limits), "--log", str(out)]
    done = CliRunner().invoke(app, ["shadow", "stewart", *given, "--alarms", str(alarms)])
    assert done.exit_code == 0, done.output
    assert "samples: 500, missed 0, late 0" in done.output
    assert "of 20 s of motion are learned" in " ".join(done.output.split())
    assert alarms.read_text().startswith("time [s],kind,leg,size,unit")
    again, first = read_log(out), read_log(log)
    assert set(again.names) == set(first.names)
    for name in first.names:  # all that follows from the samples is the same again
        assert (again[name].values == first[name].values).all(), name


LIMITS = Thresholds(friction=25.0, backlash=2e-5, payload=6.0, force=30.0, jump=6.0)


@pytest.mark.slow
def test_a_stream_shorter_than_the_learning_time_is_judged(
    stewart: Platform, tmp_path: Path
) -> None:
    """Six seconds of a machine whose second leg begins to rub after four, learning 20 s."""
    fault = parse_fault("friction@4s:leg=2,factor=3")
    samples = list(work(stewart, working_motion(stewart, 6.0, 1), faults=[fault]))
    session = ShadowSession(Shadow(stewart, thresholds=LIMITS), Listed(samples))
    while session.receive(0.0):
        pass
    assert session.shadow.alarms == []
    assert session.judge_short()
    assert {(alarm.kind, alarm.leg) for alarm in session.shadow.alarms} == {("friction", 2)}
    assert session.shadow.learning == pytest.approx(2.5, abs=0.3)
    assert "of motion count as healthy and the rest was judged" in counts(session)[0]
    assert not session.judge_short(), "it is judged once"


def test_a_stream_of_half_a_second_is_not_judged(stewart: Platform, samples: list[Sample]) -> None:
    session = ShadowSession(Shadow(stewart, thresholds=LIMITS), Listed(samples))
    while session.receive(0.0):
        pass
    assert not session.judge_short()
    assert "only encoders and dead sensors are judged" in counts(session)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["driving_simulator", "esa_hydra"])
def test_machines_with_redundant_legs_are_watched(name: str) -> None:
    """Readings of more legs than degrees of freedom contradict each other by their noise."""
    machine = load(name, "hardware")
    limits = Thresholds(friction=1e4, backlash=1e-4, payload=3e3, force=6e3, jump=10.0)
    shadow = Shadow(machine, thresholds=limits, learning=2.0)
    fault = parse_fault("counts@3.5s:leg=3,counts=40")
    errors = []
    for sample in work(machine, working_motion(machine, 3.7, 1), faults=[fault]):
        state = shadow.update(sample)
        if 1.5 < sample.time < 3.5:
            errors.append(np.abs(state.pose[:3] - sample.values["pose"][:3]).max())
    # Readings and tracker with 20 um of noise each, of which the largest are five times as much.
    assert max(errors) < 2e-4
    assert [(alarm.kind, alarm.leg) for alarm in shadow.alarms] == [("counts", 3)]
    assert shadow.restarts == 1


def test_pillars_work_along_their_own_axes() -> None:
    machine = load("driving_simulator", "hardware")
    motion = working_motion(machine, 1.0, 1)
    moved = np.abs(motion.coordinates - motion.coordinates[0]).max(axis=0)
    assert (moved > 1e-3).all()
