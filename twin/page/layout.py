"""Layout of a page: controls, scene and charts side by side, or charts below the controls."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Any

from twin.page.server.viser_internals import stack_above

WIDTH = 360
"""Of controls and charts [pixels]; all tabs fit in a row."""

SLIM = 0.45
"""Width over height of the scene below which the charts go below the controls. Widths in pixels
would not do: the size of a pixel is not known."""

SETTLING = 10.0
"""[s] after the first resize in which the machine is fitted to the scene."""


def lay_out(server: Any, look: Callable[[Any], object]) -> Any:
    """Place the parts of a page, in each browser by its window; return the charts' tab.

    Narrow pages have the controls above the charts, to the right of the scene. People can move
    everything.

    Args:
        server: viser's.
        look: turns the camera of a client to the machine.
    """
    gui = server.gui
    panel = gui.add_panel()
    charts = panel.add_tab("Charts")
    panel.dock_right()
    panel.set_width(WIDTH)
    gui.main_panel.dock_left()
    gui.main_panel.set_width(WIDTH)

    def fit(client: Any) -> None:
        aspect, until, stacked = client.camera.aspect, inf, False

        def resized(_: Any) -> None:
            nonlocal aspect, until, stacked
            before, aspect = aspect, client.camera.aspect
            if aspect < SLIM and not stacked:
                stacked = True
                stack_above(client, panel)
            if abs(aspect - before) > 0.01 * before and monotonic() < until:
                until = min(until, monotonic() + SETTLING)
                look(client)

        client.camera.on_update(resized)

    server.on_client_connect(fit)
    return charts
