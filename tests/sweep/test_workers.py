"""Worker processes: the same rows as without, and one that is killed takes only its own run."""

import os
import signal
import subprocess
import sys
import time

import pytest
from process_family import alive, family
from small_sweeps import small

from twin.sweep import read_results, run_sweep

MASSES = [300.0, 1.0, 160.0, 2.0]
"""[kg]; the first kills its worker every time, the third the first time."""


@pytest.mark.slow
def test_workers_compute_what_one_process_does(tmp_path):
    sweep = small(measure="own_measures:mass")
    apart = run_sweep(sweep, tmp_path / "loky", workers=2)
    here = run_sweep(sweep, tmp_path / "serial", backend="serial")
    assert os.getpid() not in apart.column("process").to_pylist()
    assert set(here.column("process").to_pylist()) == {os.getpid()}
    own = ["process", "wall_time"]
    assert apart.drop(own).equals(here.drop(own))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_worker_takes_only_its_own_run(tmp_path, notes, workers):
    """Whatever it was to do next is done by another; a run that always kills is told."""

    def begun(mass):
        return len(list(notes.glob(f"begun-{mass:g}-*")))

    sweep = small(parameters={"platform.body.mass": MASSES}, measure="own_measures:deadly")
    table = run_sweep(sweep, tmp_path / "out", workers=workers, retries=1)
    assert table.column("status").to_pylist() == ["died", "done", "done", "done"]
    assert "SIGKILL" in table.column("error").to_pylist()[0]
    assert [begun(mass) for mass in MASSES] == [2, 1, 2, 1]
    run_sweep(sweep, tmp_path / "out", workers=workers, retries=1)
    assert [begun(mass) for mass in MASSES] == [4, 1, 2, 1]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_sweep_that_is_killed_goes_on(tmp_path, notes, how):
    """Runs beyond the second wait, so that the sweep cannot end before it is killed."""
    masses = [float(mass) for mass in range(1, 7)]
    sweep = small(parameters={"platform.body.mass": masses}, measure="own_measures:held")
    code = (
        f"import signal, sys; sys.path[:0] = {sys.path!r}\n"
        # What runs in the background of a shell ignores Ctrl-C, and so does what it starts.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from twin.sweep import Sweep, run_sweep\n"
        f"run_sweep(Sweep(**{sweep.model_dump(mode='json')!r}), 'out', workers=2)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    finished_runs = tmp_path / "out" / "runs.jsonl"
    while not finished_runs.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    workers = family(process.pid)
    assert len(workers) > 2
    # Ctrl-C reaches all processes; what kills one may leave the others.
    (os.killpg if how == signal.SIGINT else os.kill)(process.pid, how)
    (notes / "open").touch()  # runs that have begun may end by themselves, as real ones do
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    end = time.monotonic() + 20.0
    while alive(workers):
        assert time.monotonic() < end, "workers outlive the sweep"
        time.sleep(0.1)
    if how == signal.SIGINT:
        assert errors.strip().endswith("KeyboardInterrupt")
        assert "warn" not in errors.lower()
    before = read_results(tmp_path / "out")
    assert 0 < before.num_rows < len(masses)
    for note in notes.iterdir():
        note.unlink()
    (notes / "open").touch()
    table = run_sweep(sweep, tmp_path / "out", backend="serial")
    assert table.column("status").to_pylist() == ["done"] * len(masses)
    assert len(list(notes.glob("begun-*"))) == len(masses) - before.num_rows
