"""Faults of the pages in the browser: every tab, in windows of several sizes, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from browser_rig import TABLET, Visitor
from live_rig import Live
from playwright.sync_api import Browser

from legible.check import Keep, layout_faults, reading_faults
from twin.analysis.platform import load
from twin.link.protocol import Sample
from twin.page.environment import EnvironmentSession, environment_page
from twin.page.machine_page import replay_page
from twin.page.server.page_server import PageServer
from twin.page.shadow_page import ShadowFrame, ShadowPage
from twin.shadow.detectors import Alarm
from twin.shadow.shadow import Shadow
from twin.shadow.thresholds import INFINITE_THRESHOLDS
from twin.simulation.live.runner import Replay
from twin.simulation.simulate import Trajectory

Window = tuple[tuple[int, int], Literal["light", "dark"]]
"""Size [pixels] and scheme."""

PHONE = (390, 844)

WINDOWS: tuple[Window, ...] = (
    (PHONE, "light"),
    (TABLET, "dark"),
    ((1280, 800), "light"),
    ((1920, 1080), "dark"),
)

MACHINE = "stewart"

OTHERS = ("rss", "driving_simulator")
"""With rotary actuators, and with four legs."""

STILL = """() => [...document.querySelectorAll(".mantine-Notifications-root *")]
  .every(each => !each.getAnimations().length)"""
"""Whether no message is on its way into the window or out of it."""

RUN = 3.0
"""[s] that the machine moves before it is looked at: the charts have curves."""


def faults_of_tab(visitor: Visitor, tab: str) -> list[str]:
    """Return the faults of a tab of the page that is seen in a window."""
    # By a key: software takes seconds to draw a large scene under the pointer.
    handle = visitor.page.get_by_role("tab", name=tab, exact=True)
    handle.press("Enter")
    visitor.page.wait_for_timeout(300.0)
    visitor.page.wait_for_function(STILL)
    assert handle.get_attribute("aria-selected") == "true"
    return [*layout_faults(visitor.page), *reading_faults(visitor.page)]


@contextmanager
def served(make: Callable[[Any], Any]) -> Iterator[tuple[Any, str]]:
    """Serve a page that is made for viser's server; gives the page and its address."""
    with PageServer(port=0, title="page") as server:
        yield make(server.viser), server.url


def machine_pages() -> Iterator[tuple[str, str, tuple[Window, ...]]]:
    """Yield states of the page of a machine and of a replay: name, address, windows."""
    live = Live(MACHINE)
    with ExitStack() as stack:
        stack.callback(live.close)
        yield MACHINE, live.url, WINDOWS
        live.begin_anew()
        live.ask(lambda: live.session.configure(comparison="mujoco", engine="analytic"))
        live.ask(lambda: live.session.advance(RUN))
        yield "second engine", live.url, WINDOWS[2:3]
        live.ask(lambda: live.session.disturb(force=(1e5, 0.0, 0.0), duration=1.0))
        live.ask(lambda: live.session.advance(RUN))
        assert live.session.stopped
        yield "stopped", live.url, WINDOWS[:2]
        file = Path(stack.enter_context(TemporaryDirectory())) / "run.npz"
        live.ask(lambda: live.session.trajectory().save(file))
        replay = Replay(Trajectory.load(file))
        page, url = stack.enter_context(served(lambda server: replay_page(server, replay)))
        stack.callback(page.close)
        replay.seek(replay.start + RUN)
        page.runner.paused = True
        page.runner.start()
        yield "replay", url, WINDOWS[1:2]
        for machine in OTHERS:
            live.ask(lambda machine=machine: live.session.exchange(machine))  # type: ignore[misc]
            live.ask(lambda: live.session.advance(RUN))
            yield machine, live.url, WINDOWS[:3:2]


def other_pages() -> Iterator[tuple[str, str, tuple[Window, ...]]]:
    """Yield the pages of an environment and of a shadow: name, address, windows."""
    session = EnvironmentSession("twin/BallBalance-v0")
    with served(lambda server: environment_page(server, session)) as (page, url):
        page.runner.start()
        yield "environment", url, WINDOWS[:1]
        page.close()
    session.close()
    machine = load(MACHINE, "hardware")
    reading = Sample("measurement", 1e-3, {"coordinates": machine.home_coordinates}, 1)
    state = Shadow(machine, thresholds=INFINITE_THRESHOLDS).update(reading)
    alarms = (Alarm(1.0, "counts", 4, 25.0, "counts"), Alarm(2.0, "payload", None, 9.0, "kg"))
    away = state.pose + 321e-6 * np.eye(7)[2]
    with served(lambda server: ShadowPage(server, machine)) as (page, url):
        page.show(ShadowFrame(state, away, alarms, 3))
        yield "shadow", url, WINDOWS[1:2]


def live_faults(browser: Browser, show: Callable[[str], object], keep: Keep) -> Iterator[str]:
    """Yield the faults of all pages; `show` is called for every window, `keep` for what is seen."""
    for pages in (machine_pages(), other_pages()):
        for name, url, windows in pages:
            for size, scheme in windows:
                show(f"{name}, {size[0]} wide")
                visitor = Visitor(browser, size)
                visitor.page.emulate_media(color_scheme=scheme)
                visitor.open(url)
                place = f"live page, {name}, {size[0]} wide, {scheme}"
                for tab in visitor.page.get_by_role("tab").all_inner_texts():
                    yield from (f"{place}, {tab}: {fault}" for fault in faults_of_tab(visitor, tab))
                    keep(f"live {name} {tab}", visitor.page)
                yield from (f"{place}: {text}" for text in visitor.problems)
                visitor.close()
