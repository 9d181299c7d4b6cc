"""Where the parts of a page go, and when its camera turns to the machine."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("viser")

from twin.page.page import lay_out
from twin.page.server.page_server import PageServer


def test_the_machine_is_fitted_to_its_scene_at_first_and_not_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[Callable[[Any], None]] = []
    resized: list[Callable[[Any], None]] = []
    looked: list[Any] = []
    camera = SimpleNamespace(aspect=1.6, on_update=resized.append)
    with PageServer(port=0) as server:
        monkeypatch.setattr(server.viser, "on_client_connect", opened.append)
        lay_out(server.viser, looked.append)
        client = SimpleNamespace(camera=camera)
        opened[0](client)
        resized[0](camera)
        assert not looked
        camera.aspect = 0.7
        resized[0](camera)
        assert looked == [client]
        monkeypatch.setattr("twin.page.page.FIT_TIME", -1.0)
        camera.aspect = 0.8
        resized[0](camera)
        camera.aspect = 1.2
        resized[0](camera)
        assert len(looked) == 2
