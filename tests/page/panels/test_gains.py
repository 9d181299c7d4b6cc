"""Gains that are typed: another controller that comes meanwhile gets none of them."""

from types import SimpleNamespace

import pytest

from twin.page.panels.machine import GainNumbers, rounded_gain
from twin.page.requests import Requests
from twin.simulation.live.machine_session import MachineSession


class Gui:
    """Numbers by their labels, the newest of each."""

    def __init__(self):
        self.numbers = {}

    def add_folder(self, _):
        """Return what numbers are made in."""
        from contextlib import nullcontext

        return nullcontext()

    def add_number(self, label, value, **_):
        """Return a number that can be typed."""
        callbacks = []
        number = SimpleNamespace(value=value, callbacks=callbacks, on_update=callbacks.append)
        number.remove = lambda: self.numbers.pop(label, None)
        self.numbers[label] = number
        return number

    def type(self, label, value, client):
        """Change a number as a person does."""
        self.numbers[label].value = value
        for callback in self.numbers[label].callbacks:
            callback(SimpleNamespace(client=client))


@pytest.mark.parametrize("other", ["computed_torque", "observer"])
def test_what_was_typed_for_one_controller_is_not_given_to_the_next(other, constants):
    said = []
    client = SimpleNamespace(add_notification=lambda title, text, **_: said.append(text))
    session, gui = MachineSession("stewart", engine="analytic"), Gui()
    try:
        numbers = GainNumbers(gui, Requests(lambda function: function()), session)
        numbers.refresh()
        gui.type("position_gain [1/s]", 3.0, client)
        session.configure(controller=other)
        wanted = session.gains
        constants("twin.page.requests", TYPING_PAUSE=0.0)
        for _ in range(2):
            numbers.refresh()
        assert not said
        assert session.gains == wanted
        assert {name.split(" [")[0]: number.value for name, number in gui.numbers.items()} == {
            name: rounded_gain(value) for name, value in wanted.items()
        }
    finally:
        session.close()
