"""Where the parts of a page are: controls, scene and charts side by side, or charts below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

WIDTH = 360
"""Of controls and charts [pixels]; all tabs fit in a row."""

WIDE = 1200
"""Pages from this width on [pixels] have the controls to the left and the charts to the right."""


def lay_out(server: Any, look: Callable[[Any, float], object]) -> Any:
    """Put the parts of a page in place, for each browser as its window is; returns the charts' tab.

    Narrow pages have the controls above the charts, to the right of the scene. People can move
    everything.

    Args:
        server: viser's.
        look: turns the camera of a client to the machine, given the width over the height of what
            its page leaves to the scene.
    """
    gui = server.gui
    panel = gui.add_panel()
    charts = panel.add_tab("Charts")
    panel.dock_right()
    panel.set_width(WIDTH)
    gui.main_panel.dock_left()
    gui.main_panel.set_width(WIDTH)

    def fit(client: Any) -> None:
        width, height = client.camera.image_width, client.camera.image_height
        if width >= WIDE:
            look(client, (width - 2 * WIDTH) / height)
            return
        # viser has no public way to place one client's controls beside a panel of all clients.
        above = {"kind": "split", "anchor_uuid": panel._impl.uuid, "side": "above"}
        client.gui.main_panel._set_position(above)
        look(client, max(width - WIDTH, 0.3 * width) / height)

    server.on_client_connect(fit)
    return charts
