"""Datasets of the tests stay in a folder of their own, and nothing reaches the network."""

import socket

import pytest


@pytest.fixture(autouse=True)
def datasets(tmp_path, monkeypatch):
    """Return the folder that Minari uses in this test."""
    folder = tmp_path / "datasets"
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(folder))

    def refused(*_, **__):
        raise AssertionError("reached for the network")

    # A download would go unnoticed.
    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    return folder
