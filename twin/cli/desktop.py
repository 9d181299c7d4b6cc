"""A live machine in a window of its own, in real time, until it is closed."""

from __future__ import annotations

import time as clock

from twin.cli.console import line
from twin.simulation.live.runner import Source
from twin.viewer.window import Window

FRAME_TIME = 1.0 / 50.0
"""[s] Time between two pictures."""

TEXT_UPDATE_TIME = 0.25
"""[s] Time between two updates of the text in the window's corner."""

KEY_ACTIONS = {32: "pause", 259: "reset", 262: "step", 71: "ghost"}
"""GLFW's codes of space, backspace, right arrow and G -> names of actions."""

KEY_HELP = "space: pause, right arrow: one step, backspace: reset, G: reference pose"


def watch(source: Source, *, dark: bool = False) -> None:
    """Show a live run in a window, in real time where the computer is fast enough.

    With `dark`, ground and sky are dark.

    Returns when the window is closed, or at Ctrl-C.

    Raises:
        StateError: there is no display, or none that draws.
    """
    keys = _PressedKeys()
    window = Window(
        source.platform,
        period=FRAME_TIME,
        ghost=True,
        ball=source.ball,
        payload=getattr(source, "payload", None),
        dark=dark,
        on_key=keys.note,
    )
    line(f"{source.platform.name}: close the window or press Ctrl-C to end. {KEY_HELP}")
    try:
        _run(source, window, keys)
    except KeyboardInterrupt:
        line("interrupted")
    finally:
        window.close()


class _PressedKeys:
    """Keys that the user has pressed, recorded by the window's thread and read by the loop."""

    def __init__(self) -> None:
        self.paused = self.ghost = False
        self._pressed: set[str] = set()

    def note(self, code: int) -> None:
        """Record a pressed key by its GLFW code."""
        match KEY_ACTIONS.get(code):
            case "pause":
                self.paused = not self.paused
            case "ghost":
                self.ghost = not self.ghost
            case str(other):
                self._pressed.add(other)

    def take(self, name: str) -> bool:
        """Return whether the key was pressed since the last call."""
        is_pressed = name in self._pressed
        self._pressed.discard(name)
        return is_pressed


def _run(source: Source, window: Window, keys: _PressedKeys) -> None:
    """Advance and show the source until the window is closed."""
    last_update, last_time, last_message = -TEXT_UPDATE_TIME, 0.0, ""
    while window.is_open:
        if keys.take("reset"):
            source.reset()
        is_step = keys.take("step")
        if not keys.paused:
            source.advance(FRAME_TIME)
        elif is_step:
            source.advance(source.period)
        window.show(**source.scene._asdict() | ({} if keys.ghost else {"ghost": None}))
        now = clock.monotonic()
        if now - last_update >= TEXT_UPDATE_TIME:
            factor = max(0.0, source.time - last_time) / (now - last_update)
            window.write("time\nreal time", f"{source.time:.1f} s\n{factor:.2f}")
            last_update, last_time = now, source.time
        if source.stopped and source.stopped != last_message:
            line(f"stopped: {source.stopped} (backspace resets)", bold=True)
        last_message = source.stopped
