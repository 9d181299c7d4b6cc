"""Where the parts of a page go in windows of all shapes."""

from types import SimpleNamespace

import pytest

pytest.importorskip("viser")

from twin.page.page import PANEL_WIDTH, lay_out
from twin.page.server.page_server import PageServer


class Window:
    """A browser window whose scene has what the panels leave of it."""

    def __init__(self, width, height):
        self.size, self.columns = (width, height), 0
        self.moves = []
        self.resized = lambda _: None
        self.client = SimpleNamespace(
            camera=SimpleNamespace(aspect=width / height, on_update=self.watch),
            gui=SimpleNamespace(main_panel=SimpleNamespace(_set_position=self.place)),
        )

    def watch(self, callback):
        """Take what is called when the camera or the scene's size changes."""
        self.resized = callback

    def place(self, place):
        """Put the controls above the charts: one column is free again."""
        self.moves.append(place["side"])
        self.dock(1)

    def dock(self, columns):
        """Leave room for columns of panels, and say so."""
        self.columns = columns
        width, height = self.size
        self.client.camera.aspect = (width - columns * PANEL_WIDTH) / height
        self.resized(None)


@pytest.fixture(scope="module")
def server():
    with PageServer(port=0) as made:
        yield made


@pytest.fixture
def opened(server, monkeypatch):
    """What is called when a browser connects: here nothing else calls it."""
    callbacks = []
    monkeypatch.setattr(server.viser, "on_client_connect", callbacks.append)
    return callbacks


def test_scenes_are_wide_enough(subtests, server, opened):
    for size, columns in [
        ((1280, 800), 2),
        ((1920, 1080), 2),
        ((1180, 820), 2),
        ((1024, 768), 1),
        ((820, 1180), 1),
        ((768, 1024), 1),
    ]:
        with subtests.test(f"{size}"):
            opened.clear()
            looked = []
            lay_out(server.viser, looked.append)
            window = Window(*size)
            opened[0](window.client)
            window.dock(2)
            window.resized(None)
            assert window.columns == columns
            assert window.moves == ["above"] * (columns == 1)
            assert looked == [window.client] * len(looked)
            assert len(looked) == 3 - columns


def test_a_page_that_was_laid_out_before_it_is_known(server, opened):
    lay_out(server.viser, lambda client: None)
    window = Window(820, 1180)
    window.dock(2)
    opened[0](window.client)
    assert window.moves == ["above"]
    window.resized(None)
    assert window.moves == ["above"], "and stays there"


def test_a_scene_that_grows_later_keeps_its_camera(server, opened, later):
    looked = []
    lay_out(server.viser, looked.append)
    window = Window(1280, 800)
    opened[0](window.client)
    window.dock(2)
    later("page", 60.0)
    window.dock(1)
    assert len(looked) == 1
