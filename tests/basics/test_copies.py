"""What holds a connection or a library's memory refuses copies with a sentence."""

import pickle
from copy import copy, deepcopy

import pytest

import twin
from twin.errors import StateError
from twin.link.transport.address import Address
from twin.link.transport.source import UdpLink
from twin.viewer.camera import Camera

pytestmark = pytest.mark.quick


def link():
    """Return a link on a free port."""
    return UdpLink(Address("127.0.0.1", 0), 6, "command")


def camera():
    """Return a camera with a small picture."""
    return Camera(twin.load("stewart"), width=16, height=16)


@pytest.mark.slow
def test_copies_are_refused(subtests):
    for copied in [copy, deepcopy, pickle.dumps]:
        for make in [link, camera]:
            with subtests.test(f"{copied}, {make}"):
                original = make()
                with pytest.raises(
                    StateError, match="cannot be copied or pickled; make another one"
                ):
                    copied(original)
                original.close()
