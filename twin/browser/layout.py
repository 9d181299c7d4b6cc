"""Where the parts of a page are: controls, scene and charts side by side, or charts below."""

from __future__ import annotations

from typing import Any

WIDTH = 360.0
"""Of controls and charts [pixels]; all tabs fit in a row."""

WIDE = 1200
"""Pages from this width on [pixels] have the controls to the left and the charts to the right."""


def lay_out(server: Any) -> Any:
    """Put the parts of a page in place, for each browser as its window is; returns the charts' tab.

    Narrow pages have the charts below the controls, to the right of the scene. People can move
    everything.

    Args:
        server: viser's.
    """
    gui = server.gui
    gui.main_panel.dock_right()
    gui.main_panel.set_width(WIDTH)
    panel = gui.add_panel()
    charts = panel.add_tab("Charts")
    panel.dock_below(gui.main_panel)

    def widen(client: Any) -> None:
        if client.camera.image_width >= WIDE:
            client.gui.main_panel.dock_left()
            client.gui.main_panel.set_width(WIDTH)

    server.on_client_connect(widen)
    return charts
