"""The page of a machine that is driven live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twin.analysis.feasibility.margin import Margin
from twin.machine.file.configuration import IDEAL
from twin.page.page import Page, Tab
from twin.page.panels.axis_sliders import AxisSliders
from twin.page.panels.compare import ComparePanel
from twin.page.panels.feasibility import FeasibilityPanel
from twin.page.panels.machine import MachinePanel
from twin.page.panels.motion import UPLOAD_LIMIT, MotionPanel
from twin.page.panels.push import PushPanel
from twin.page.panels.save import SavePanel
from twin.page.panels.set_up import SetUpPanel
from twin.page.panels.state import StatePanel
from twin.simulation.live.machine_session import MachineSession


def machine_page(server: Any, session: MachineSession, upload_limit: float = UPLOAD_LIMIT) -> Page:
    """Return the page of a session, for viser's `server`; uploads have at most a limit [MB]."""

    def label() -> str:
        settings = session.settings
        configuration = settings.configuration or IDEAL
        parts = [session.platform.name, configuration, settings.engine, settings.controller]
        return " \u00b7 ".join(parts if settings.limits else [*parts, "without limits"])

    def file_name() -> str:
        return f"{session.platform.name.replace(' ', '_')}.npz"

    def save(gui: Any, requests: Any, page: Page) -> list[Any]:
        set_ups.append(SetUpPanel(gui, requests, session, motions[0], page.kept))
        return [SavePanel(gui, requests, file_name, session.trajectory), set_ups[0]]

    def push(gui: Any, requests: Any, page: Page) -> list[Any]:
        page.kept.append(panel := PushPanel(gui, requests, session, page.view))
        return [panel]

    def compare(gui: Any, requests: Any, page: Page) -> list[Any]:
        page.kept.append(panel := ComparePanel(gui, requests, session))
        return [panel]

    sliders: list[AxisSliders] = []
    motions: list[MotionPanel] = []
    set_ups: list[SetUpPanel] = []
    verdicts: list[FeasibilityPanel] = []

    def drive(gui: Any, requests: Any, _: Page) -> list[Any]:
        sliders.append(AxisSliders(gui, requests, session))
        motions.append(MotionPanel(gui, requests, session, upload_limit))
        verdicts.append(FeasibilityPanel(gui, session, motions[0]))
        return [sliders[0], motions[0], verdicts[0]]

    def closest() -> Mapping[str, Margin | None]:
        return verdicts[0].closest if verdicts else {}

    def home() -> None:
        session.home()
        sliders[0].release()

    return Page(
        server,
        session,
        (
            Tab("Drive", drive),
            Tab("Push", push),
            Tab("Machine", lambda gui, requests, _: [MachinePanel(gui, requests, session)]),
            Tab("Compare", compare),
            Tab("Save", save),
        ),
        label=label,
        warning=lambda: session.message,
        home=home,
        strip=lambda gui: StatePanel(gui, session, closest),
        restore=lambda text: set_ups[0].restore(text),
    )
