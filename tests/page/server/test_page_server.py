"""The page's server: who reaches it, what a browser shows of it, and how it ends."""

import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import webbrowser
from contextlib import closing

import numpy as np
import pytest
from browser_rig import SMALL, Visitor, background, changed, colours
from refusals import assert_each_refused, refused
from viser import _messages
from viser.infra import _infra
from viser_rig import connection, handled_messages, wait
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from twin.errors import StateError
from twin.page.server import page_server as server_file
from twin.page.server.page_server import PageServer

TOKEN = "a-token-for-the-tests"

RED = (200, 40, 20)


def show_box(server):
    """Show something that is quickly drawn."""
    server.viser.scene.configure_environment_map(hdri=None)
    server.viser.scene.add_box("/box", color=RED)


@pytest.fixture(scope="module")
def server():
    """A server on this computer alone, with a red box."""
    with PageServer(port=0, title="a <machine>") as opened:
        show_box(opened)
        yield opened


@pytest.fixture
def guarded():
    """A server that asks for a token."""
    with PageServer(port=0, token=TOKEN) as opened:
        show_box(opened)
        yield opened


def fetch(server, path="/", **headers):
    """Return status, text and headers of the answer to a request."""
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30.0) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with closing(error):
            return error.code, error.read().decode(), dict(error.headers)


def test_page_shows_the_scene(server, visit):
    """Nor does it offer a tunnel to the internet."""
    visitor = visit(server.url)
    assert visitor.page.title() == "a <machine>"
    empty = np.full((*SMALL[::-1], 3), 255, dtype=np.uint8)
    visitor.wait(lambda: changed(empty, visitor.scene()) > 0.01, "the box is seen")
    picture = visitor.scene()
    assert picture.shape == (*SMALL[::-1], 3)
    assert 0.5 < background(picture) < 0.99
    assert len(colours(picture)) > 3
    red = (picture[..., 0] > 120) & (picture[..., 1] < 170) & (picture[..., 2] < 150)
    assert 0.005 < red.mean() < 0.1
    shown = visitor.page.content()
    assert "tabler-icon-cloud-check" in shown
    assert "tabler-icon-share" not in shown
    handlers = handled_messages(server.viser)
    assert _messages.GuiUpdateMessage in handlers
    assert not {_messages.ShareUrlRequest, _messages.ShareUrlDisconnect} & handlers


def test_page_connects_to_no_other_server(server, chromium):
    """Viser's page goes to any server that its address names."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(2.0)
        visitor = Visitor(chromium)
        address = f"ws://127.0.0.1:{other.getsockname()[1]}"
        visitor.page.goto(f"{server.url}/?websocket={address}")
        visitor.wait(lambda: any(f"Connecting to: {address}" in text for text in visitor.said))
        with pytest.raises(TimeoutError):
            other.accept()
        visitor.close()


def test_loopback_answers_under_its_own_names(subtests, server):
    for host in ["127.0.0.1", "localhost", "[::1]"]:
        with subtests.test(f"{host}"):
            status, text, headers = fetch(server, Host=f"{host}:{server.port}")
            assert status == 200
            assert "<title>a &lt;machine&gt;</title>" in text
            assert "Set-Cookie" not in headers
            packed = fetch(server, "/no_such_file")
            assert packed[0] == 404


def test_loopback_answers_under_no_other_name(subtests, server):
    for host in ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "x y"]:
        with subtests.test(f"{host}"):
            status, text, _ = fetch(server, Host=host)
            assert status == 403
            assert "Not allowed" in text
            with pytest.raises(InvalidStatus, match="403"):
                connection(server, additional_headers={"Host": host})


def test_own_pages_and_programs_connect(server):
    for origin in (None, Origin(f"http://127.0.0.1:{server.port}")):
        with connection(server, origin=origin) as opened:
            assert opened.recv(timeout=30.0)


def test_pages_of_other_sites_do_not_connect(subtests, server):
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"]:
        with subtests.test(f"{origin}"):
            with pytest.raises(InvalidStatus, match="403"):
                connection(server, origin=Origin(origin))
            assert fetch(server, Origin=origin)[0] == 403


def test_page_opens_with_its_token(guarded, visit):
    assert guarded.url.endswith(f"?token={TOKEN}")
    visitor = visit(guarded.url)
    # The cookie of the first visit lets the page in again.
    visitor.open(guarded.url.partition("?")[0])


def test_nothing_is_reached_without_the_token(subtests, guarded):
    for path in ["/", "/?token=", "/?token=another-token-for-tests", "/?token=é"]:
        with subtests.test(f"{path}"):
            path = urllib.parse.quote(path, safe="/?=")
            status, text, headers = fetch(guarded, path)
            assert status == 403
            assert "?token=" in text
            assert TOKEN not in text
            assert "Set-Cookie" not in headers
            with pytest.raises(InvalidStatus, match="403"):
                connection(guarded, path)
            with pytest.raises(InvalidStatus, match="403"):
                connection(
                    guarded, additional_headers={"Cookie": f"twin_token_{guarded.port}=wrong"}
                )


def test_cookie_is_kept_from_scripts_and_other_sites(guarded):
    cookie = fetch(guarded, f"/?token={TOKEN}")[2]["Set-Cookie"]
    assert cookie == f"twin_token_{guarded.port}={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    with connection(guarded, additional_headers={"Cookie": cookie.partition(";")[0]}) as opened:
        assert opened.recv(timeout=30.0)
    with connection(guarded, f"/?token={TOKEN}") as opened:
        assert opened.recv(timeout=30.0)


def test_public_page_warns_and_makes_up_a_token(monkeypatch):
    # A test opens no port to other computers.
    monkeypatch.setattr(server_file, "is_loopback", lambda _: False)
    with PageServer(port=0) as one, PageServer(port=0) as two:
        assert one.token and two.token and one.token != two.token
        assert len(one.token) >= 32
        assert "other computers" in one.warning
        assert f":{one.port}/?token={one.token}" in one.warning
        assert fetch(one)[0] == 403
        # Whoever has the token may use any name that leads here.
        assert fetch(one, f"/?token={one.token}", Host="machine.example")[0] == 200


def test_port_that_is_asked_for_is_the_one_or_an_error(server):
    with refused(f"port: {server.port} .*another program") as caught:
        PageServer(port=server.port)
    assert caught.value.field == "port"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with PageServer(port=port) as opened:
        assert opened.port == port


def test_next_free_port_is_taken(constants):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        constants("twin.page.server.page_server", FIRST_PORT=port)
        with PageServer() as opened:
            assert port < opened.port < port + 100
        constants("twin.page.server.page_server", PORTS_TRIED=1)
        with pytest.raises(StateError, match="no free port"):
            PageServer()


def test_bad_arguments_name_their_field():
    wrong = {
        "host": ["no-such-host.invalid", "192.0.2.77", ""],
        "port": [-1, 70000, "80"],
        "token": ["short", "with spaces and; separators"],
    }
    assert_each_refused(lambda **options: PageServer(**{"port": 0} | options), wrong)


def test_program_goes_on_without_a_browser_to_open(server, monkeypatch):
    opened = []

    def open_url(url):
        opened.append(url)
        return True

    def fail(url):
        raise webbrowser.Error(f"no browser for {url}")

    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    # No browser opens in a test.
    monkeypatch.setattr(webbrowser, "open", open_url)
    assert not server.show()
    assert not opened
    monkeypatch.setenv("DISPLAY", ":0")
    assert server.show()
    assert opened == [server.url]
    monkeypatch.setattr(webbrowser, "open", fail)
    assert not server.show()


def test_viser_that_serves_unguarded_is_refused(monkeypatch):
    monkeypatch.delattr(_infra, "websockets")
    with pytest.raises(StateError, match=r"cannot be guarded.*viser>=1\.1"):
        PageServer(port=0)


def test_close_leaves_nothing(capfd):
    before = set(threading.enumerate())
    opened = PageServer(port=0)
    reader = connection(opened)
    silent = connection(opened)
    assert reader.recv(timeout=30.0)
    opened.close()
    opened.close()
    own = {reader.recv_events_thread, silent.recv_events_thread}
    wait(lambda: set(threading.enumerate()) - before <= own)
    with pytest.raises(ConnectionClosed):
        while True:
            reader.recv(timeout=30.0)
    with socket.create_server(("127.0.0.1", opened.port)):
        pass
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_program_that_forgets_to_close_ends_quietly():
    code = "from twin.page.server.page_server import PageServer; print(PageServer(port=0).port > 0)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120.0
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
