"""The shadow beside machines that share no drive, friction, sensor or integrator with it."""

import numpy as np
import pytest

from twin.link.protocol import Sample
from twin.link.transport.source import Replay
from twin.logs import LogMapping, write_log
from twin.shadow.rehearsal import working_sines
from twin.shadow.shadow import Shadow
from twin.validation.rig import Conditions, Fault, record

LEARNING, BEGIN, END = 5.0, 7.0, 9.5
"""[s] of healthy motion, until the fault, and until the end."""

DELAY = 0.012
"""[s] of the tracker."""

FORCE_NOISE = 5.0
"""[N]"""


def log_of(machine, mode, seconds=END, **conditions):
    """Return the log of a machine of the rig at work."""
    motion = working_sines(machine, seconds, 3)
    known = Conditions(force_noise=FORCE_NOISE, **conditions)
    return record(machine, motion, known, mode=mode, forces="motor")


def samples(log, machine, folder, delay=0.0):
    """Yield the samples of a log whose pose is stamped too late by a `delay` [s]."""
    names = ["measured", "motor_forces", "pose", "command_forces", "command_rates"]
    signals = {name: {"channels": [name]} for name in names if name in log}
    if delay:
        signals["pose"]["delay"] = delay
    mapping = LogMapping.of({"signals": signals})
    source = Replay(write_log(log, folder / "run.csv"), machine, mapping)
    while not source.ended:
        sample = source.receive()
        yield sample


def watched(log, machine, folder, *left_out, delay=DELAY):
    """Return a shadow after all samples of a log, without some of their fields."""
    shadow = Shadow(machine, learning=LEARNING)
    for sample in samples(log, machine, folder, delay if "pose" in log else 0.0):
        kept = {name: value for name, value in sample.values.items() if name not in left_out}
        shadow.update(sample._replace(values=kept))
    return shadow


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["force", "velocity"])
@pytest.mark.parametrize(
    ("fault", "cause", "size"),
    [
        (Fault("weak_motor", BEGIN, 0.7, 4), ("motor", 5), 0.3),
        (Fault("lost_mass", BEGIN, 20.0), ("payload", None), -20.0),
        (Fault("slip", BEGIN, 2e-4, 3), ("slip", 4), 2e-4),
        (Fault("frozen_encoder", BEGIN, leg=0), ("sensor", 1), None),
    ],
    ids=["weak motor", "lost mass", "slip", "frozen encoder"],
)
def test_faults_are_found_with_their_cause(stewart, tmp_path, mode, fault, cause, size):
    """Within 2 s, beside a tracker of 60 Hz, with forces from the motors' currents and without."""
    log = log_of(stewart, mode, faults=(fault,), tracker_rate=60.0, tracker_delay=DELAY)
    for left_out in ((), ("forces",)):
        shadow = watched(log, stewart, tmp_path, *left_out)
        first = shadow.alarms[0]
        assert shadow.mode == mode
        assert (first.kind, first.leg) == cause
        assert BEGIN < first.time < BEGIN + 2.0
        assert size is None or 0.3 < first.size / size < 1.2


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["force", "velocity"])
@pytest.mark.parametrize(
    "conditions",
    [
        {"encoder_noise": 5e-7},
        {"tracker_rate": 60.0, "tracker_delay": DELAY},
        {"warming_drop": 0.4, "warming_time": 15.0},
        {"jitter": 1e-4, "gaps": ((6.0, 0.05), (7.0, 0.3)), "friction_law": "lugre"},
    ],
    ids=["noise", "tracker", "warming", "clock"],
)
def test_healthy_machines_raise_nothing(stewart, tmp_path, mode, conditions):
    """Noise, a slow tracker, friction that falls in all legs, stamps that jitter, and gaps."""
    shadow = watched(log_of(stewart, mode, 14.0, **conditions), stewart, tmp_path)
    assert (shadow.alarms, shadow.late, shadow.phase) == ([], 0, "watching")


@pytest.mark.slow
def test_friction_that_doubles_slowly_is_found_before_it_is_half_as_much_again(stewart, tmp_path):
    """Found from the state that follows friction slowly, with its leg."""
    fault = Fault("friction", BEGIN, 2.0, 2, rise=60.0)
    shadow = watched(log_of(stewart, "force", 38.0, faults=(fault,)), stewart, tmp_path)
    first = shadow.alarms[0]
    assert (first.kind, first.leg) == ("friction", 3)
    assert BEGIN + 10.0 < first.time < BEGIN + 30.0


@pytest.mark.slow
def test_commands_and_poses_that_begin_late(stewart, tmp_path):
    """The mode is found when the first command comes, and poses are compared from then on."""
    fault = Fault("slip", BEGIN, 2e-4, 3)
    log = log_of(stewart, "force", faults=(fault,), tracker_rate=60.0, tracker_delay=DELAY)
    begins = {"command_forces": 0.3, "pose": 1.0, "motor_forces": 0.5}
    log = log.with_channels(*(log[name].between(begin, END) for name, begin in begins.items()))
    shadow = watched(log, stewart, tmp_path)
    assert shadow.mode == "force"
    assert [(alarm.kind, alarm.leg) for alarm in shadow.alarms] == [("slip", 4)]
    assert shadow.check.refused["samples before the first command"] == 301


def test_a_mapping_declares_the_mode(stewart):
    mapping = LogMapping.of({"mode": "force", "signals": {"pose": {"channels": "p", "delay": 0.1}}})
    shadow = Shadow(stewart, mode=mapping.mode, delays=mapping.delays)
    assert shadow.mode == "force"
    both = {"command_rates": np.zeros(6), "coordinates": stewart.home_coordinates}
    shadow.update(Sample("measurement", 0.0, both))
    assert shadow.mode == "force"
    assert mapping.delays == {"pose": 0.1}
