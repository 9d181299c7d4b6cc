"""A Ray cluster of two workers: the same rows, killed workers, and nothing left behind."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import own_measures
import pytest
from process_family import alive
from refusals import refused
from small_sweeps import small

from twin.sweep import run_sweep, workers

MASSES = [1.0, 160.0, 2.0, 300.0, 3.0, 4.0]
"""[kg]; the second kills its worker the first time, the fourth every time."""

LOOPBACK = ("0100007F:", "0000000000000000FFFF00000100007F:", "0" * 24 + "01000000:")
"""127.0.0.1, ::ffff:127.0.0.1 and ::1 as the kernel writes them."""

for name, value in workers.RAY_VARIABLES.items():
    os.environ.setdefault(name, value)
ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    """Run inside a cluster of two workers; return the folder in which they take notes."""
    folder = tmp_path_factory.mktemp("notes")
    with pytest.MonkeyPatch.context() as patch:
        # Workers take the environment of the cluster's start.
        patch.setenv("PYTHONPATH", str(Path(own_measures.__file__).parent))
        patch.setenv(own_measures.FOLDER, str(folder))
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield folder
        ray.shutdown()


def listening(processes):
    """Return the addresses, and ports, in hexadecimal digits, that processes listen at."""
    sockets = set()
    for process in processes:
        with suppress(OSError):
            for file in Path(f"/proc/{process}/fd").iterdir():
                with suppress(OSError):
                    sockets.add(file.readlink().name)
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in sockets:
                found.add(local)
    return found


@pytest.mark.usefixtures("notes")
def test_a_cluster_computes_what_one_process_does(tmp_path):
    sweep = small(measure="own_measures:mass")
    apart = run_sweep(sweep, tmp_path / "ray", backend="ray")
    here = run_sweep(sweep, tmp_path / "serial", backend="serial")
    assert os.getpid() not in apart.column("process").to_pylist()
    own = ["process", "wall_time"]
    assert apart.drop(own).equals(here.drop(own))
    assert ray.is_initialized(), "a cluster that was there stays"


def test_killed_workers_take_only_their_own_runs(tmp_path, notes):
    sweep = small(parameters={"platform.body.mass": MASSES}, measure="own_measures:deadly")
    table = run_sweep(sweep, tmp_path / "out", workers=2, backend="ray", retries=1)
    expected = ["died" if mass == 300.0 else "done" for mass in MASSES]
    assert table.column("status").to_pylist() == expected, table.column("error").to_pylist()
    for mass in MASSES:
        begun = len(list(notes.glob(f"begun-{mass:g}-*")))
        assert begun == (2 if mass > 150.0 else 1), mass


def test_the_command_is_quiet_local_and_leaves_nothing(tmp_path):
    code = (
        f"import sys; sys.path[:0] = {[*sys.path, str(Path(__file__).parent)]!r}\n"
        "import os, twin.cli.sweep\n"
        "from pathlib import Path\n"
        "from twin.sweep.folder import SweepFolder\n"
        "from process_family import family\n"
        "from test_cluster_ray import listening\n"
        "write = SweepFolder.write\n"
        "def noted(self, row):\n"
        "    processes = family(os.getpid())\n"
        "    Path('processes').write_text(' '.join(map(str, processes)))\n"
        "    Path('listening').write_text(' '.join(listening(processes)))\n"
        "    write(self, row)\n"
        "SweepFolder.write = noted\n"
        "twin.cli.sweep.app()\n"
    )
    words = ["srspm", "--field", "motion.duration=0.06", "--field", "fidelity=fast", "--out", "out"]
    words += ["--backend", "ray", "--jobs", "1"]
    done = subprocess.run(
        [sys.executable, "-c", code, "sweep", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert "ray" not in done.stdout.lower()
    addresses = (tmp_path / "listening").read_text().split()
    assert addresses, "no port of the cluster was seen"
    assert not [address for address in addresses if not address.startswith(LOOPBACK)]
    processes = set(map(int, (tmp_path / "processes").read_text().split()))
    assert len(processes) > 3, "the cluster's processes were not seen"
    assert not alive(processes)


def test_no_cluster_at_an_address(tmp_path, monkeypatch):
    def init(address, **_):
        raise ConnectionError(f"nobody at {address}")

    # No cluster is at hand.
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    with refused("nobody at there:1"):
        run_sweep(small(), tmp_path / "out", backend="ray", address="there:1")
