"""A shadow beside a source: ring, replay of its log, telemetry, and the command."""

import errno
import signal

import numpy as np
import pytest
from refusals import refused
from tolerance import assert_within, max_abs
from typer.testing import CliRunner

from twin.analysis.platform import load
from twin.cli import app
from twin.cli.console import interruption
from twin.cli.tables import shadow as tables
from twin.cli.tables.shadow import AlarmTable, counts
from twin.errors import InputError
from twin.link.emulated import parse_fault
from twin.link.recording import Recording
from twin.link.transport.address import Counts
from twin.logs import read_log, write_log
from twin.logs.recorder import LogRecorder
from twin.shadow import session as sessions
from twin.shadow.detectors import Alarm
from twin.shadow.rehearsal import work, working_motion
from twin.shadow.session import ShadowSession
from twin.shadow.shadow import Shadow
from twin.shadow.thresholds import INFINITE_THRESHOLDS, Thresholds, write_thresholds

pytestmark = pytest.mark.quick


class Listed:
    """A source of given samples."""

    def __init__(self, samples):
        self.counts, self.ended = Counts(), False
        self.samples = iter(samples)

    def receive(self, timeout):
        """Return the next one."""
        found = next(self.samples, None)
        self.ended = found is None
        return found

    def close(self):
        """Nothing is open."""


class Kept:
    """Telemetry that keeps what is sent."""

    def __init__(self):
        self.sent = []
        self.counts = Counts()

    def send(self, sample):
        """Keep it."""
        self.sent.append(sample)

    def close(self):
        """Nothing is open."""


@pytest.fixture(scope="module")
def samples(stewart):
    """Half a second of work."""
    return list(work(stewart, working_motion(stewart, 0.5, 1)))


def test_the_log_has_the_last_samples(stewart, samples, tmp_path):
    """Its log has what was measured last, and the estimates beside it."""
    telemetry = Kept()
    shadow = Shadow(stewart, thresholds=INFINITE_THRESHOLDS)
    recorder = LogRecorder(tmp_path / "run.csv", {}, keep=0.2)
    session = ShadowSession(shadow, Listed(samples), telemetry=telemetry, recorder=recorder)
    while session.receive(0.0):
        pass
    log = read_log(session.finish() or "")
    assert session.updates == len(samples) == 500
    assert log["coordinates"].time == pytest.approx([each.time for each in samples[-201:]])
    assert (log["coordinates"].values[-1] == samples[-1].values["coordinates"]).all()
    assert_within(log["estimated_pose"].values[-1], log["pose"].values[-1], 2e-4)
    assert [each.sequence for each in telemetry.sent] == [each.sequence for each in samples]
    assert set(telemetry.sent[-1].values) >= {"residuals", "alarms", "pose", "wrench"}


def test_the_command_replays_a_log(stewart, samples, tmp_path):
    """The log of a session is a source; alarms and estimates are written."""
    shadow, log = Shadow(stewart, thresholds=INFINITE_THRESHOLDS), tmp_path / "run.csv"
    session = ShadowSession(shadow, Listed(samples), recorder=LogRecorder(log, {}))
    while session.receive(0.0):
        pass
    session.finish()
    limits = write_thresholds(INFINITE_THRESHOLDS, tmp_path / "limits.toml")
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


def replayed(log, limits, *options):
    """Run the command on a log."""
    words = ["--source", f"replay:{log}", "--thresholds", limits, *options]
    return CliRunner().invoke(app, ["shadow", "stewart", *map(str, words)])


@pytest.fixture(scope="module")
def files(stewart, samples, tmp_path_factory):
    """A log of work, in which a few samples are none of the machine's, and thresholds."""
    recording = Recording(stewart, 1e-3)
    spoiled = {0: 0.0, 3: -1.0, 200: 100.0, 300: 1e140}
    for k, each in enumerate(samples):
        values = dict(each.values)
        if k in spoiled:
            values["coordinates"] = np.full(6, spoiled[k])
        recording.add(each._replace(values=values))
    folder = tmp_path_factory.mktemp("replayed")
    limits = write_thresholds(INFINITE_THRESHOLDS, folder / "limits.toml")
    return write_log(recording.log(), folder / "run.csv"), limits


def test_samples_of_no_machine_do_not_end_the_command(files, tmp_path):
    """They are counted and said, and the log is written; the first sample is one of them."""
    out = tmp_path / "last.csv"
    done = replayed(*files, "--log", out)
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "refused: 3 coordinates out of reach; home the machine" in text
    assert "refused: 1 coordinates that are not finite, or beyond 1e+09" in text
    assert "model put beside the machine 1 times" in text
    assert len(read_log(out)["coordinates"]) == 499


@pytest.mark.parametrize("option", ["--log", "--alarms"])
def test_a_replayed_file_is_not_written_to(files, option):
    before = files[0].read_bytes()
    done = replayed(*files, option, files[0], "--replace")
    assert done.exit_code == 2 and "is the file that is replayed" in done.output
    assert files[0].read_bytes() == before
    assert not list(files[0].parent.glob("*.part"))


def test_alarms_are_added_to_those_of_other_runs(tmp_path):
    path = tmp_path / "alarms.csv"
    alarms = [Alarm(0.5, "counts", 4, 30.0, "counts"), Alarm(1.5, "payload", None, 9.7, "kg")]
    AlarmTable(path).add(alarms[:1])
    with path.open("a") as file:
        file.write("1.2,fricti")  # of a process that was killed
    AlarmTable(path).add(alarms[1:])
    first, *rows = path.read_text().splitlines()
    assert first.startswith("time [s],kind,leg,size,unit")
    assert [row[:16] for row in rows] == ["0.5,counts,4,30,", "1.2,fricti", "1.5,payload,,9.7"]
    other = tmp_path / "other.csv"
    other.write_text("time [s],kind\n1,2\n")
    with refused("no table of alarms"):
        AlarmTable(other)
    assert other.read_text() == "time [s],kind\n1,2\n"


def test_alarms_wait_for_a_full_disk(tmp_path, monkeypatch):
    """The twin goes on, and they are written when there is room again."""
    table = AlarmTable(tmp_path / "alarms.csv")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as without:
        without.setattr(tables, "append_text", full)
        table.add([Alarm(0.5, "counts", 4, 30.0, "counts")])
        assert "No space left" in table.fault
    table.add([])
    assert not table.fault
    assert (tmp_path / "alarms.csv").read_text().splitlines()[1].startswith("0.5,counts")


def test_signals_request_an_end(subtests):
    for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
        with subtests.test(f"{number}"):
            # The tests themselves may have been started by nohup.
            found = signal.signal(number, signal.default_int_handler)
            try:
                with interruption() as requested:
                    assert not requested()
                    signal.raise_signal(number)
                    assert requested()
                assert signal.getsignal(number) is signal.default_int_handler
            finally:
                signal.signal(number, found)


def test_a_command_that_runs_without_its_terminal_goes_on():
    """As nohup starts it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruption() as requested:
            signal.raise_signal(signal.SIGHUP)
            assert not requested()
    finally:
        signal.signal(signal.SIGHUP, before)


class Interrupted(Listed):
    """A source that has no sample now and then, and does not end."""

    is_silent = True

    def receive(self, timeout):
        """Return every other time the next one."""
        self.is_silent = not self.is_silent
        found = None if self.is_silent else next(self.samples, None)
        self.ended = False
        return found


def test_silence_is_an_alarm_that_is_raised_once(stewart, samples, constants):
    constants(sessions, SILENCE_TIMEOUT=0.0)
    session = ShadowSession(
        Shadow(stewart, thresholds=INFINITE_THRESHOLDS), Interrupted(samples[:2])
    )
    for _ in range(8):
        session.receive(0.0)
    times = [each.time for each in samples[:2]]
    assert [(each.kind, each.time) for each in session.alarms] == [("silence", k) for k in times]
    assert session.alarms[0].note == f"no samples since {times[0]:.3f} s"


def test_estimates_that_cannot_be_sent_are_counted(stewart, samples):
    class Picky(Kept):
        def send(self, sample):
            raise InputError("time", "must be from 0 to 9e9 s")

    telemetry = Picky()
    session = ShadowSession(
        Shadow(stewart, thresholds=INFINITE_THRESHOLDS), Listed(samples[:5]), telemetry=telemetry
    )
    while session.receive(0.0):
        pass
    assert sum(telemetry.counts.reasons.values()) == session.updates == 5


LIMITS = Thresholds(friction=25.0, backlash=2e-5, payload=6.0, force=30.0, motor=0.1, jump=6.0)


@pytest.mark.slow
def test_a_stream_shorter_than_the_learning_time_is_judged(stewart):
    """Six seconds of a machine whose second leg begins to rub after four, learning 20 s."""
    fault = parse_fault("friction@4s:leg=2,factor=3")
    samples = list(work(stewart, working_motion(stewart, 6.0, 1), faults=[fault]))
    session = ShadowSession(Shadow(stewart, thresholds=LIMITS), Listed(samples))
    while session.receive(0.0):
        pass
    assert session.shadow.alarms == []
    assert session.judge_short()
    assert {(alarm.kind, alarm.leg) for alarm in session.shadow.alarms} == {("friction", 2)}
    assert_within(session.shadow.learning, 2.5, 0.3)
    assert "of motion count as healthy and the rest was judged" in counts(session)[0]
    assert not session.judge_short(), "it is judged once"


def test_a_stream_of_half_a_second_is_not_judged(stewart, samples):
    session = ShadowSession(Shadow(stewart, thresholds=LIMITS), Listed(samples))
    while session.receive(0.0):
        pass
    assert not session.judge_short()
    assert "only encoders and dead sensors are judged" in counts(session)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["driving_simulator", "esa_hydra"])
def test_machines_with_redundant_legs_are_watched(name):
    """Readings of more legs than degrees of freedom contradict each other by their noise."""
    machine = load(name, "hardware")
    limits = Thresholds(friction=1e4, backlash=1e-4, payload=3e3, force=6e3, motor=0.2, jump=10.0)
    shadow = Shadow(machine, thresholds=limits, learning=2.0)
    fault = parse_fault("counts@3.5s:leg=3,counts=40")
    errors = []
    for sample in work(machine, working_motion(machine, 3.7, 1), faults=[fault]):
        state = shadow.update(sample)
        if 1.5 < sample.time < 3.5:
            errors.append(max_abs(state.pose[:3] - sample.values["pose"][:3]))
    # Readings and tracker with 20 um of noise each, of which the largest are five times as much.
    assert max(errors) < 2e-4
    assert [(alarm.kind, alarm.leg) for alarm in shadow.alarms] == [("counts", 3)]
    assert shadow.restarts == 1


def test_pillars_work_along_their_own_axes():
    machine = load("driving_simulator", "hardware")
    motion = working_motion(machine, 1.0, 1)
    moved = np.abs(motion.coordinates - motion.coordinates[0]).max(axis=0)
    assert (moved > 1e-3).all()
