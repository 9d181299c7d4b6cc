"""The page of an environment with somebody who acts in it."""

from __future__ import annotations

from html import escape
from typing import Any

from twin.basics.arrays import one_of
from twin.page.environment_session import EnvironmentSession
from twin.page.orders import Orders
from twin.page.page import Page, Tab


class EnvironmentPanel:
    """Who acts, which episode it is, and what it has given so far."""

    def __init__(self, gui: Any, orders: Orders, session: EnvironmentSession) -> None:
        """Add the controls where the next ones come."""
        self._session = session
        self._policy = gui.add_dropdown(
            "Policy",
            session.policies,
            initial_value=session.policy,
            hint="Who acts from now on.",
        )
        self._seed = gui.add_number(
            "Seed", session.seed, min=0, step=1, hint="Of the next new episode; the others follow."
        )
        self._new = gui.add_button("New episode", icon="refresh")
        self._said = gui.add_html("")
        orders.on(self._policy.on_update, lambda _: self._choose())
        orders.on(self._new.on_click, lambda _: session.begin(self._seed.value))

    def refresh(self) -> None:
        """Show how the episode goes; called on the run's thread."""
        self._said.content = (
            '<div class="twin-episode" style="padding: 0.2em 0.75em; font-size: 0.9em">'
            f"{escape(self._session.message)}</div>"
        )

    def _choose(self) -> None:
        try:
            # Other names are files to the session: no page reads the server's files.
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
        (Tab("Policy", lambda gui, orders, _: [EnvironmentPanel(gui, orders, session)]),),
        label=label,
    )
