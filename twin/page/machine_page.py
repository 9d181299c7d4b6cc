"""The page of a machine that is driven live."""

from __future__ import annotations

from typing import Any

from twin.page.axis_sliders import AxisSliders
from twin.page.compare_panel import ComparePanel
from twin.page.machine_panel import MachinePanel
from twin.page.motion_panel import MotionPanel
from twin.page.page import Page, Tab
from twin.page.push_panel import PushPanel
from twin.page.record_panel import RecordPanel
from twin.simulation.live.machine_session import MachineSession


def machine_page(server: Any, session: MachineSession) -> Page:
    """Return the page of a session, for viser's `server`."""

    def label() -> str:
        settings = session.settings
        return f"{session.platform.name} \u00b7 {settings.engine} \u00b7 {settings.controller}"

    def record(gui: Any, orders: Any, _: Page) -> list[Any]:
        name = session.platform.name.replace(" ", "_")
        return [RecordPanel(gui, orders, name, session.trajectory)]

    def push(gui: Any, orders: Any, page: Page) -> list[Any]:
        return [PushPanel(gui, orders, session, page.view)]

    sliders: list[AxisSliders] = []

    def drive(gui: Any, orders: Any, _: Page) -> list[Any]:
        sliders.append(AxisSliders(gui, orders, session))
        return [sliders[0], MotionPanel(gui, orders, session)]

    def home() -> None:
        session.home()
        sliders[0].release()

    return Page(
        server,
        session,
        (
            Tab("Drive", drive),
            Tab("Push", push),
            Tab("Machine", lambda gui, orders, _: [MachinePanel(gui, orders, session)]),
            Tab("Compare", lambda gui, orders, _: [ComparePanel(gui, orders, session)]),
            Tab("Save", record),
        ),
        label=label,
        warning=lambda: session.message,
        home=home,
    )
