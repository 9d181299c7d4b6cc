"""Trajectories: there and back through a file, damaged files, files that survive a failed write."""

import dataclasses
import json
import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import assert_all_refused, refused

import twin
from twin.basics.files import write_atomically, write_text
from twin.simulation.recorded.files import ARRAY_FIELDS, TEXT_FIELDS
from twin.simulation.simulate import Trajectory

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def trajectory(stewart):
    """A short motion with forces that differ from step to step."""
    forces = np.random.default_rng(4).normal(size=(10, 6)) * 100.0
    return stewart.simulate(0.01, twist=[0.0, 0.0, 0.1, 0.0, 0.0, 0.2], forces=forces)


def test_knows_where_it_comes_from(trajectory, stewart):
    assert (trajectory.machine, trajectory.engine) == ("stewart", "analytic")
    assert trajectory.parameters_hash == stewart.hash
    assert trajectory.timestep == 1e-3
    assert trajectory.fidelity == "accurate"
    assert trajectory.versions["platform-twin"] == twin.__version__
    assert trajectory.versions["numpy"] == np.__version__


def test_arrays_cannot_be_changed(trajectory, tmp_path):
    loaded = Trajectory.load(trajectory.save(tmp_path / "motion.npz"))
    for motion in (trajectory, loaded):
        for name in ARRAY_FIELDS:
            with pytest.raises(ValueError, match="read-only"):
                getattr(motion, name)[...] = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        trajectory.machine = "other"


def test_arrays_are_copies(trajectory):
    pose = trajectory.pose.copy()
    motion = dataclasses.replace(trajectory, pose=pose)
    pose[:] = 0.0
    assert_array_equal(motion.pose, trajectory.pose)


def test_arrays_that_do_not_fit_are_refused(trajectory):
    assert_all_refused(
        lambda field, value: dataclasses.replace(trajectory, **{field: value}),
        [
            ("pose", np.zeros((11, 6)), "pose"),
            ("pose", np.full((11, 7), np.nan), "pose"),
            ("twist", np.zeros((10, 6)), "twist"),
            ("lengths", [[1.0], [1.0, 2.0]], "lengths"),
        ],
    )


def content(file):
    with np.load(file) as data:
        return {name: data[name] for name in data.files}


def test_damaged_files_are_refused(trajectory, tmp_path):
    good = trajectory.save(tmp_path / "good.npz").read_bytes()
    whole = content(tmp_path / "good.npz")
    metadata = json.loads(str(whole["metadata"]))
    bad = tmp_path / "bad.npz"
    for raw in (b"", good[: len(good) // 2], good[:200] + good[300:]):
        bad.write_bytes(raw)
        with refused("not a saved trajectory"):
            Trajectory.load(bad)
    changes = [
        {"time": np.array(["a"] * 11)},
        {"metadata": "no JSON"},
        {"metadata": "[]"},
        {"metadata": json.dumps({**metadata, "format": 999})},
        {"metadata": json.dumps({"format": 1})},
        {"metadata": None},
        {"extra": np.zeros(3)},
        {"pose": np.array([{}], dtype=object)},
    ]
    for change in changes:
        np.savez(bad, **{**whole, **change})
        with refused():
            Trajectory.load(bad)
    del whole["twist"]
    np.savez(bad, **whole)
    with refused():
        Trajectory.load(bad)


def test_other_paths_are_refused(trajectory):
    with refused("does not exist"):
        Trajectory.load("/no/such/file.npz")
    for path in ("motion", "", None, b"motion.npz", "/no/such/folder/m.npz", "a\0b.npz"):
        for call in (trajectory.save, Trajectory.load):
            with refused(field="path"):
                call(path)


def test_interrupted_write_leaves_the_old_file(tmp_path):
    file = write_text(tmp_path / "report.txt", "old")

    def stop(stream):
        stream.write(b"half of the new")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(file, stop)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_written_files_have_the_usual_permissions(tmp_path):
    mask = os.umask(0o022)
    try:
        file = write_text(tmp_path / "report.txt", "new")
    finally:
        os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o644


def test_metadata_of_a_wrong_type_is_named(trajectory):
    for field, value in (
        *((name, 3) for name in TEXT_FIELDS),
        *(("timestep", value) for value in ("x", np.nan, 0.0, [1e-3, 1.0], 1e308)),
        *(("versions", value) for value in (3, {"a": 1}, {1: "a"}, [("a", "b")])),
        *(("signals", value) for value in (3, {3: [1.0]}, [1.0], {"a": "x"}, {"a": 3.0})),
    ):
        with refused() as caught:
            dataclasses.replace(trajectory, **{field: value})
        assert caught.value.field.startswith((field, "a"))


def test_signals_that_do_not_fit_are_named(trajectory):
    assert_all_refused(
        lambda signals: dataclasses.replace(trajectory, signals=signals),
        [
            ({"setpoint": np.zeros((5, 4))}, r"signals\['setpoint'\]: must have shape \(5, 6\)"),
            ({"limited": np.zeros(5)}, r"signals\['limited'\]: must have shape \(5, 6\)"),
            ({"time": np.zeros(5), "own": np.zeros(4)}, "got rows: time 5, own 4"),
        ],
    )
