"""The run as a file: what was recorded so far, downloaded by who asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from twin.errors import InputError
from twin.page.orders import Orders
from twin.simulation.trajectory import Trajectory

NAME = 100
"""Letters of a file name at most."""


class RecordPanel:
    """Saves a run as a `Trajectory`."""

    def __init__(
        self, gui: Any, orders: Orders, name: str, trajectory: Callable[[], Trajectory]
    ) -> None:
        """Add the controls where the next ones come.

        Args:
            gui: viser's.
            orders: to the run.
            name: of the file that is proposed, without ending.
            trajectory: what returns the run; called on the run's thread.
        """
        self._orders, self._trajectory = orders, trajectory
        self._name = gui.add_text(
            "File name", f"{name}.npz", hint="Of the file that the browser downloads; ends in .npz."
        )
        self._button = gui.add_button("Save run", icon="download")
        gui.add_html(
            '<div style="padding: 0 0.75em 0.4em; font-size: 0.9em">The last minutes since the '
            "last reset or change of engine, at every control period. Play it again with "
            "<code>twin view --replay FILE</code>, or read it with "
            "<code>twin.Trajectory.load</code>.</div>"
        )
        self._said = gui.add_html("")
        orders.on(self._button.on_click, self._hand_over, self._file)

    def refresh(self) -> None:
        """Nothing of it changes by itself."""

    def _file(self, event: Any) -> tuple[Any, str, bytes]:
        """Return who asked, the file's name and its content.

        Raises:
            InputError: no name for a file.
        """
        name = self._name.value.strip()
        if not name or len(name) > NAME or any(letter in name for letter in '/\\:"\0'):
            raise InputError("file name", "must be a name without folders, such as run.npz")
        name = name if name.endswith(".npz") else f"{name}.npz"
        run: Trajectory = self._orders.result(self._trajectory)
        with TemporaryDirectory() as folder:
            content = run.save(Path(folder) / "run.npz").read_bytes()
        return event.client, name, content

    def _hand_over(self, found: tuple[Any, str, bytes]) -> None:
        client, name, content = found
        client.send_file_download(name, content, save_immediately=True)
        self._said.content = (
            '<div class="twin-record" style="padding: 0.2em 0.75em; font-size: 0.85em">'
            f"Saved {len(content) / 1e6:.1f} MB.</div>"
        )
