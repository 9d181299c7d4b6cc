"""The folder of a sweep: whole at every moment, of one sweep only, never computed twice."""

import json
from importlib import import_module

import pyarrow.parquet
import pytest
from refusals import refused
from small_sweeps import small

from twin.sweep import MEASURE_UNITS, Sweep, plan, read_results, run_sweep, workers
from twin.sweep.folder import SweepFolder, run_task


def computed(monkeypatch):
    """Return a list that grows with the numbers of the runs that are computed."""
    found = []

    def noted(task):
        found.append(task.index)
        return run_task(task)

    # A table does not say which of its runs are old.
    monkeypatch.setattr(workers, "run_task", noted)
    return found


def test_results_are_one_table(tmp_path):
    table = run_sweep(small(), tmp_path / "out", backend="serial")
    assert table.column("run").to_pylist() == [0, 1, 2]
    assert table.column("platform.body.mass").to_pylist() == [1.0, 2.0, 3.0]
    assert set(MEASURE_UNITS) <= set(table.column_names)
    file = pyarrow.parquet.read_table(tmp_path / "out" / "results.parquet")
    assert file.equals(table)
    assert read_results(tmp_path / "out").equals(table)
    assert Sweep(**json.loads(file.schema.metadata[b"sweep"])) == small()


def test_what_is_there_is_not_computed_again(tmp_path, monkeypatch):
    found = computed(monkeypatch)
    table = run_sweep(small(), tmp_path, backend="serial")
    assert found == [0, 1, 2]
    assert run_sweep(small(), tmp_path, backend="serial").equals(table)
    assert found == [0, 1, 2]
    key = plan(small())[1].key
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join(line for line in file.read_text().splitlines() if key not in line))
    again = run_sweep(small(), tmp_path, backend="serial")
    assert found == [0, 1, 2, 1]
    assert again.drop(["wall_time"]).equals(table.drop(["wall_time"]))


def test_an_interrupted_sweep_goes_on(tmp_path, monkeypatch):
    def interrupted(task):
        if task.index == 2:
            raise KeyboardInterrupt
        return run_task(task)

    with monkeypatch.context() as patch:
        patch.setattr(workers, "run_task", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_sweep(small(), tmp_path, backend="serial")
    assert read_results(tmp_path).column("run").to_pylist() == [0, 1]
    found = computed(monkeypatch)
    assert run_sweep(small(), tmp_path, backend="serial").num_rows == 3
    assert found == [2]


def test_errors_are_rows_and_stay(tmp_path, monkeypatch):
    sweep = small(parameters={"platform.body.mass": [1.0, -1.0]})
    found = computed(monkeypatch)
    table = run_sweep(sweep, tmp_path, backend="serial")
    assert table.column("status").to_pylist() == ["done", "error"]
    assert table.column("position_rms").to_pylist()[1] is None
    run_sweep(sweep, tmp_path, backend="serial")
    assert found == [0, 1]


def test_what_crashed_is_tried_again(tmp_path, monkeypatch):
    sweep = small(measure="own_measures:broken")
    found = computed(monkeypatch)
    assert set(run_sweep(sweep, tmp_path, backend="serial")["status"].to_pylist()) == {"crashed"}
    assert run_sweep(sweep, tmp_path, backend="serial").num_rows == 3
    assert found == [0, 1, 2, 0, 1, 2]


def test_another_sweep_is_refused(tmp_path):
    run_sweep(small(), tmp_path / "out", backend="serial")
    with refused(r"another sweep.*seeds"):
        run_sweep(small(seeds=2), tmp_path / "out", backend="serial")
    with refused("holds results"):
        run_sweep(small(), tmp_path / "out", backend="serial", resume=False)
    assert read_results(tmp_path / "out").num_rows == 3


def test_other_files_are_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with refused("other files"):
        run_sweep(small(), tmp_path, backend="serial")
    with refused("cannot make"):
        run_sweep(small(), tmp_path / "thesis.tex", backend="serial")
    with refused("not the folder of a sweep"):
        read_results(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_new_version_computes_anew(tmp_path, monkeypatch):
    run_sweep(small(), tmp_path, backend="serial")
    found = computed(monkeypatch)
    monkeypatch.setattr(import_module("twin.sweep.plan"), "__version__", "99.0.0")
    table = run_sweep(small(), tmp_path, backend="serial")
    assert found == [0, 1, 2]
    assert set(table.column("version").to_pylist()) == {"99.0.0"}


def test_columns_of_all_runs_are_joined(tmp_path):
    folder = SweepFolder(tmp_path)
    tasks = plan(small())
    folder.open(small(), [task.key for task in tasks])
    assert folder.table().num_rows == 0
    folder.write(run_task(tasks[2]) | {"own": 1.5})
    folder.write(run_task(tasks[0]))
    table = folder.table()
    assert table.column("run").to_pylist() == [0, 2]
    assert table.column("own").to_pylist() == [None, 1.5]


def test_options_are_checked(tmp_path):
    wrong = {"backend": "dask", "workers": 0, "address": "auto", "retries": 0}
    for field, value in wrong.items():
        with refused(field=field):
            run_sweep(small(), tmp_path / "out", **{field: value})
    with refused("sweep"):
        run_sweep("stewart", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("damage", ["cut", "empty", "no status"])
def test_a_damaged_line_is_computed_again(damage, tmp_path, monkeypatch):
    found = computed(monkeypatch)
    table = run_sweep(small(), tmp_path, backend="serial")
    file = tmp_path / "runs.jsonl"
    whole = file.read_bytes()
    last_line = whole.rindex(b"\n")
    damaged_line = {
        "cut": whole[last_line : last_line + 200],
        "empty": b"",
        "no status": whole[last_line:].replace(b'"status"', b'"state"'),
    }
    file.write_bytes(whole[:last_line] + damaged_line[damage])
    (tmp_path / "results.parquet").write_bytes(b"PAR1 no more")
    assert read_results(tmp_path).num_rows == 2, "the others can be read"
    again = run_sweep(small(), tmp_path, backend="serial")
    assert found == [0, 1, 2, 2]
    assert again.drop(["wall_time"]).equals(table.drop(["wall_time"]))


def test_a_damaged_description_is_named(tmp_path):
    run_sweep(small(), tmp_path, backend="serial")
    for content in ('{"format": 1}', '{"format": 1, "sweep": 3, "runs": 4}'):
        (tmp_path / "sweep.json").write_text(content)
        with refused("damaged"):
            run_sweep(small(), tmp_path, backend="serial")
