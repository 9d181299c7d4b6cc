"""What only PyBullet has: its tree for projection, its talking library, its clients."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from twin.engines import make_engine
from twin.engines.projection import projection
from twin.errors import SingularPoseError

pybullet = pytest.importorskip("pybullet")


def test_platform_turned_by_90_degrees_has_no_tree(stewart):
    pose = stewart.home.copy()
    pose[3:] = np.sqrt([0.5, 0.0, 0.5, 0.0])
    with pytest.raises(SingularPoseError, match="90 deg"):
        projection("bullet", stewart, pose, np.zeros(6), np.zeros(6))


def test_its_tree_says_no_word(stewart, random_motion, capfd):
    projection("bullet", stewart, *random_motion(stewart, 100))
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_library_is_silent():
    code = (
        "import twin; e = twin.make_engine('bullet', twin.load('stewart'));"
        "e.reset(); e.step([0.0] * 6); e.restore(e.save()); e.close(); print('end')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("end\n", "")


THREADS = """
import threading, twin
machine = twin.load("srspm")
def make():
    for _ in range(20):
        twin.make_engine("bullet", machine, fidelity="fast").close()
threads = [threading.Thread(target=make) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("end")
"""


@pytest.mark.slow
def test_threads_that_make_engines_leave_the_output_alone():
    done = subprocess.run(
        [sys.executable, "-c", THREADS], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("end\n", "")


def test_physics_clients_are_given_back(stewart):
    def connected():
        return sum(bool(pybullet.isConnected(client)) for client in range(1024))

    before = connected()
    closed, forgotten = (make_engine("bullet", stewart) for _ in range(2))
    assert connected() == before + 6
    closed.close()
    del forgotten
    assert connected() == before


LEFT = """
import os, signal
from twin.engines.bullet.world import temporary_file
with temporary_file(".urdf", b"<robot/>") as path:
    print(path, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_files_of_a_killed_process_are_removed():
    killed = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, check=False)
    path = Path(killed.stdout.decode().strip())
    assert path.is_file()
    use = "import twin; twin.make_engine('bullet', twin.load('srspm')).close()"
    subprocess.run([sys.executable, "-c", use], check=True)
    assert not path.exists()
