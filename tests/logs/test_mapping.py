"""The mapping file: known columns become the machine's signals; faults name their field."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from refusals import refused
from tolerance import assert_within

import twin
from twin.errors import ParameterError
from twin.logs import Channel, Log, LogMapping, read_log

pytestmark = pytest.mark.quick

TIME = np.linspace(0.0, 1.0, 5)
RANDOM = np.random.default_rng(8)
LEGS = RANDOM.uniform(900.0, 1000.0, size=(5, 6))


def recorded():
    """Return legs in mm, one channel each, a pose with angles, and a channel with six columns."""
    legs = [Channel(f"leg{k}", TIME, LEGS[:, k], "mm") for k in range(6)]
    angles = np.tile([1.0, 2.0, 900.0, 5.0, -3.0, 2.0], (5, 1))
    tracker = Channel("tracker", TIME, angles, ("mm", "mm", "mm", "deg", "deg", "deg"))
    return Log((*legs, tracker, Channel("bus", TIME, LEGS, ""), Channel("late", [0.5], [1], "")))


def mapped(machine, **rules):
    """Return the recorded log as signals."""
    return LogMapping.of({"signals": rules}).apply(recorded(), machine)


NAMES = [f"leg{k}" for k in range(6)]


def test_file_maps_all_kinds(stewart, tmp_path):
    file = tmp_path / "mapping.toml"
    file.write_text(
        """
        [signals.coordinates]
        channels = ["leg1", "leg0", "leg2", "leg3", "leg4", "leg5"]
        legs = [2, 1, 3, 4, 5, 6]
        offset = "20 mm"
        delay = "2 ms"
        [signals.pose]
        channels = "tracker"
        angles = "yaw_pitch_roll"
        [signals.currents]
        channels = "bus"
        unit = "0.5 mA"
        sign = [1, 1, 1, -1, -1, -1]
        """
    )
    log = LogMapping.read(file).apply(recorded(), stewart)
    assert_allclose(log["coordinates"].values, 1e-3 * LEGS + 0.02, rtol=1e-14)
    assert_within(log["coordinates"].time, TIME - 0.002, 1e-15)
    assert log["coordinates"].units == ("m",) * 6
    expected = twin.pose(0.001, 0.002, 0.9, roll=2.0, pitch=-3.0, yaw=5.0, degrees=True)
    assert_within(log["pose"].values[3], expected, 1e-15)
    signs = np.array([1, 1, 1, -1, -1, -1])
    assert_allclose(log["currents"].values, 5e-4 * LEGS * signs, rtol=1e-14)


@settings(max_examples=20)
@given(
    legs=st.permutations(range(1, 7)),
    sign=st.lists(st.sampled_from([1, -1]), min_size=6, max_size=6),
    offset=st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=6),
)
def test_mapping_undoes_any_wiring(legs, sign, offset):
    """A machine whose channels are wired in any order, sign and zero is read as it is."""
    machine = twin.load("stewart")
    order = np.array(legs) - 1
    wired = (1e-3 * LEGS[:, order] - offset) / np.array(sign)
    log = Log((Channel("bus", TIME, wired, "m"),))
    rule = {"channels": "bus", "legs": legs, "sign": sign, "offset": offset}
    found = LogMapping.of({"signals": {"coordinates": rule}}).apply(log, machine)
    assert_within(found["coordinates"].values, 1e-3 * LEGS, 1e-15)


def test_faults_of_the_file_name_their_field(subtests):
    for content, field in [
        ({}, "signals"),
        ({"signals": {"pose": {"channels": []}}}, "signals.pose.channels"),
        ({"signals": {"pose": {"channels": "a", "chanels": "b"}}}, "signals.pose.chanels"),
        ({"signals": {"pose": {"channels": "a", "sign": 2}}}, "signals.pose.sign.0"),
        ({"signals": {"pose": {"channels": "a", "legs": [1.5]}}}, "signals.pose.legs.0"),
        ({"signals": {"pose": {"channels": "a", "delay": "3 m"}}}, "signals.pose.delay"),
        ({"signals": {"pose": {"channels": "a"}}, "tme": "t"}, "tme"),
    ]:
        with subtests.test(f"{content}"):
            with pytest.raises(ParameterError) as caught:
                LogMapping.of(content, "mapping.toml")
            assert caught.value.problems[0][0] == field


def test_rules_that_do_not_fit_name_their_field(subtests, stewart):
    for name, rule, field, words in [
        ("coordinate", {"channels": NAMES}, "", "did you mean 'coordinates'"),
        ("coordinates", {"channels": ["leg9"]}, ".channels", "no channel 'leg9'"),
        ("coordinates", {"channels": NAMES[:5]}, ".channels", "5 columns, the signal has 6"),
        ("coordinates", {"channels": ["late", *NAMES]}, ".channels", "other times than 'late'"),
        ("coordinates", {"channels": "bus"}, ".unit", "has no unit"),
        ("coordinates", {"channels": NAMES, "unit": ["mm", "mm"]}, ".unit", "one entry or 6"),
        ("coordinates", {"channels": NAMES, "offset": "3 N"}, ".offset", "unit of force"),
        ("coordinates", {"channels": NAMES, "unit": "0 mm"}, ".unit", "all values zero"),
        ("coordinates", {"channels": NAMES, "angles": "fixed_xyz"}, ".angles", "for poses"),
        ("pose", {"channels": "tracker", "angles": "euler"}, ".angles", "unknown convention"),
        ("pose", {"channels": "tracker"}, ".channels", "6 columns, the signal has 7"),
        ("twist", {"channels": "tracker", "legs": [1]}, ".legs", "one column per leg"),
    ]:
        with subtests.test(f"{name}"):
            with refused() as caught:
                mapped(stewart, **{name: rule})
            assert caught.value.field == f"signals.{name}{field}"
            assert words in caught.value.message


def test_quaternions_with_the_scalar_elsewhere_are_refused(stewart):
    """Ones of a few digits are normalised."""
    pose = np.array([[0.0, 0.0, 0.9, 0.999, 0.044, 0.0, 0.0]])
    rule = {"channels": "p", "unit": ["m", "m", "m", "1", "1", "1", "1"]}
    mapping = LogMapping.of({"signals": {"pose": rule}})
    found = mapping.apply(Log((Channel("p", [0.0], pose, ""),)), stewart)
    assert np.linalg.norm(found["pose"].values[0, 3:]) == pytest.approx(1.0, abs=1e-15)
    with refused(r"signals\.pose\[0\].*norm"):
        mapping.apply(Log((Channel("p", [0.0], np.roll(pose, 1), ""),)), stewart)


def test_a_row_with_an_empty_cell_is_left_out(tmp_path, stewart):
    """A channel of another rate is still refused: half of the samples would be lost."""
    path = tmp_path / "log.csv"
    titles = ",".join(f"q{k} [mm]" for k in range(6))
    rows = ["0,1,1,1,1,1,1", "0.1,2,NaN,2,2,2,2", "0.2,3,3,3,3,3,3", "0.3,4,4,4,4,4,4"]
    path.write_text("\n".join([f"time [s],{titles}", *rows]))
    rule = {"coordinates": {"channels": [f"q{k}" for k in range(6)]}}
    mapping = LogMapping.of({"signals": rule})
    found = read_log(path, mapping, stewart)["coordinates"]
    assert found.time.tolist() == [0.0, 0.2, 0.3]
    path.write_text(
        "\n".join([f"time [s],{titles}", rows[0], *(rows[1].replace("2,NaN", "2,"),) * 3])
    )
    with refused("other times"):
        read_log(path, mapping, stewart)
