"""The page of an environment and the policy that acts in it."""

from __future__ import annotations

from html import escape
from typing import Any

from twin.basics.arrays import one_of
from twin.page.environment.session import EnvironmentSession
from twin.page.page import Page, Tab
from twin.page.panels.text import note
from twin.page.requests import Requests


class EnvironmentPanel:
    """Controls of an environment: its policy and its episodes."""

    def __init__(self, gui: Any, requests: Requests, session: EnvironmentSession) -> None:
        """Add the controls where the next ones come."""
        self._session = session
        self._policy = gui.add_dropdown(
            "Policy",
            session.policies,
            initial_value=session.policy,
            hint="Policy that acts from now on.",
        )
        self._seed = gui.add_number(
            "Seed",
            session.seed,
            min=0,
            step=1,
            hint="Seed of the next new episode; later ones count on from it.",
        )
        self._new = gui.add_button("New episode", icon="refresh")
        self._text = gui.add_html("")
        requests.on(self._policy.on_update, lambda _: self._choose())
        requests.on(self._new.on_click, lambda _: session.begin(self._seed.value))

    def refresh(self) -> None:
        """Show the state of the episode; called on the run's thread."""
        texts = self._session.message, self._session.changes
        self._text.content = "".join(note(escape(text), "episode") for text in texts if text)

    def _choose(self) -> None:
        try:
            # The session takes other names as files: no page reads the server's files.
            self._session.choose(one_of(self._policy.value, "policy", self._session.policies))
        finally:
            self._policy.value = self._session.policy


def environment_page(server: Any, session: EnvironmentSession) -> Page:
    """Return the page of an environment, for viser's `server`."""
    name = session.environment.partition("/")[2] or session.environment

    def label() -> str:
        return f"{name} \u00b7 {session.platform.name} \u00b7 {session.policy}"

    return Page(
        server,
        session,
        (Tab("Policy", lambda gui, requests, _: [EnvironmentPanel(gui, requests, session)]),),
        label=label,
    )
