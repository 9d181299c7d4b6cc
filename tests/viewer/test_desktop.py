"""A live run in a window: in real time, by keys, until it is closed."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from console import console

import twin
from twin.cli import desktop
from twin.simulation.simulate import Scene

pytestmark = pytest.mark.pages

CODES = {name: code for code, name in desktop.KEY_ACTIONS.items()}


class Counter:
    """A run that only counts."""

    ball = None
    period = 0.001

    def __init__(self):
        self.platform = twin.load("srspm")
        self.resets = -1
        self.reset()

    @property
    def scene(self):
        """Return where the machine stands."""
        return Scene(self.platform.home, ghost=self.platform.home)

    def advance(self, duration):
        """Go on, as far as the tenth picture."""
        self.time += duration
        if self.time > 9.5 * desktop.FRAME_TIME:
            self.stopped = "far enough"

    def reset(self):
        """Begin anew."""
        self.time, self.stopped, self.resets = 0.0, "", self.resets + 1


class FakeWindow:
    """Closes after some pictures, and presses keys before some of them."""

    def __init__(self, keys, pictures):
        self.keys, self.pictures = keys, pictures
        self.poses, self.ghosts, self.closed = [], [], False

    def open(self, platform, **options):
        """Stand in for the window's constructor."""
        self.on_key = options["on_key"]
        self.press()
        return self

    @property
    def is_open(self):
        """Whether some pictures are left."""
        return len(self.ghosts) < self.pictures

    def show(self, **scene):
        """Take note of what is shown."""
        self.ghosts.append(scene["ghost"])
        self.poses.append(scene["pose"])
        self.press()

    def write(self, names, values):
        """Check the text."""
        assert len(names.splitlines()) == len(values.splitlines())

    def close(self):
        """Take note."""
        self.closed = True

    def press(self):
        """Press the key that comes before the next picture."""
        if name := self.keys.get(len(self.ghosts)):
            self.on_key(CODES[name])


def fake_window(monkeypatch, keys, pictures):
    """Return the window that opens instead of one on a screen, which a test does not have."""
    window = FakeWindow(keys, pictures)
    monkeypatch.setattr(desktop, "Window", window.open)
    return window


def watched(monkeypatch, keys, pictures):
    """Return a run and its window after it was watched."""
    source, window = Counter(), fake_window(monkeypatch, keys, pictures)
    desktop.watch(source)
    assert window.closed
    return source, window


def test_pause_and_single_steps(monkeypatch):
    source, _ = watched(monkeypatch, {2: "pause", 4: "step"}, 8)
    assert source.time == pytest.approx(2 * desktop.FRAME_TIME + source.period)
    source, _ = watched(monkeypatch, {2: "pause", 5: "pause"}, 8)
    assert source.time == pytest.approx(5 * desktop.FRAME_TIME)


def test_the_ghost_is_shown_on_request(monkeypatch):
    _, window = watched(monkeypatch, {2: "ghost", 5: "ghost"}, 7)
    shown = [ghost is not None for ghost in window.ghosts]
    assert shown == 2 * [False] + 3 * [True] + 2 * [False]


def test_a_stop_is_said_once_and_reset(monkeypatch, capsys):
    source, _ = watched(monkeypatch, {14: "reset"}, 30)
    assert source.resets == 1
    assert capsys.readouterr().out.count("stopped: far enough") == 2


def test_the_command_plays_a_motion_again_and_again(monkeypatch):
    """A sine of 0.2 s is still being played after 0.6 s; without a motion the machine stands."""
    heights = []
    for options in ("--motion sine --duration 0.2 --frequency 5", ""):
        window = fake_window(monkeypatch, {}, 30)
        console(f"view stewart --desktop --engine analytic {options}")
        assert window.closed
        heights.append([float(pose[2]) for pose in window.poses])
    assert np.ptp(heights[0][-10:]) > 1e-3
    assert np.ptp(heights[1]) < 1e-5


WATCH = """
import sys
import threading
from twin.cli import main
from twin.cli import desktop
from twin.viewer.window import Window

class Closing(Window):
    pictures = 0
    def show(self, *arguments, **scene):
        super().show(*arguments, **scene)
        self.pictures += 1
        if self.pictures == 20:
            self._handle.close()

desktop.Window = Closing
sys.argv = ["twin", "view", "stewart", "--desktop", "--motion", "sine", "--axis", "pitch"]
try:
    main()
except SystemExit as end:
    assert not end.code
print("ended", [thread.name for thread in threading.enumerate()])
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="needs xvfb")
def test_a_window_that_is_closed_ends_the_run():
    done = subprocess.run(
        ["xvfb-run", "-a", sys.executable, "-c", WATCH], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert "ended ['MainThread'" in done.stdout
    assert not done.stderr
