"""Controls that download the run so far as a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from twin.errors import InputError
from twin.logs import log_of, write_log
from twin.page.panels.text import note
from twin.page.requests import Requests
from twin.simulation.trajectory import Trajectory

NAME = 100
"""Letters of a file name at most."""


class SavePanel:
    """Downloads a run as a `Trajectory`."""

    def __init__(
        self,
        gui: Any,
        requests: Requests,
        name: Callable[[], str],
        trajectory: Callable[[], Trajectory],
    ) -> None:
        """Add the controls where the next ones come.

        Args:
            gui: viser's.
            requests: to the run.
            name: returns the proposed name of the file.
            trajectory: returns the run; called on the run's thread.
        """
        self._requests, self._trajectory = requests, trajectory
        self._propose, self._proposed = name, name()
        self._name = gui.add_text(
            "File name",
            self._proposed,
            hint="Name of the downloaded file; ends in .npz, or in .mcap for a log.",
        )
        self._button = gui.add_button("Save run", icon="download")
        gui.add_html(
            note(
                "The last minutes since the last reset or change of engine, at every control "
                "period. Play it again with <code>twin view --replay FILE</code>, or read it with "
                "<code>twin.Trajectory.load</code>. Foxglove opens "
                "a name that ends in .mcap."
            )
        )
        self._text = gui.add_html("")
        # The page's own script does what these are named after, in the browser alone.
        gui.add_button("Save picture", icon="camera", color="gray")
        gui.add_button("Record film", icon="video", color="gray")
        requests.on(self._button.on_click, self._hand_over, self._file)

    def refresh(self) -> None:
        """Propose the name of another machine, unless somebody has typed one."""
        before, self._proposed = self._proposed, self._propose()
        if self._name.value == before != self._proposed:
            self._name.value = self._proposed

    def _file(self, event: Any) -> tuple[Any, str, bytes]:
        """Return the client, the file's name and its content.

        Raises:
            InputError: a name that no file can have.
            MissingDependencyError: an .mcap without the package mcap.
        """
        name = self._name.value.strip()
        if not name or len(name) > NAME or any(letter in name for letter in '/\\:"\0'):
            raise InputError("file name", "must be a name without folders, such as run.npz")
        ending = ".mcap" if name.endswith(".mcap") else ".npz"
        name = name if name.endswith(ending) else f"{name}{ending}"
        run: Trajectory = self._requests.result(self._trajectory)
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"run{ending}"
            written = write_log(log_of(run), path) if ending == ".mcap" else run.save(path)
            content = written.read_bytes()
        return event.client, name, content

    def _hand_over(self, found: tuple[Any, str, bytes]) -> None:
        client, name, content = found
        client.send_file_download(name, content, save_immediately=True)
        self._text.content = note(f"Saved {len(content) / 1e6:.1f} MB.", "record")
