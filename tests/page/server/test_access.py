"""Rules for requests to the page's server; malformed requests are refused, too."""

from twin.page.server.page_server import Access

TOKEN = "a-token-for-the-tests"


class Request:
    """A path and headers, as the server's library has read them from bytes of any kind."""

    def __init__(self, path="/", **headers):
        self.path = path
        self.headers = self
        self.values = {"Host": "machine:8080"} | headers

    def get_all(self, key):
        """Return the values of a header."""
        return [self.values[key]] if key in self.values else []


def test_what_cannot_be_read_is_refused_and_raises_nothing(subtests):
    for request_, reason in [
        (Request("/?token=\udcff"), "token"),
        (Request("/?token=%ff"), "token"),
        (Request("//[::1?token=x"), "token"),
        (Request(Cookie="twin_token_8080=\udcff"), "token"),
        (Request(f"/?token={TOKEN}", Origin="http://[::1"), "other web sites"),
        (Request(f"/?token={TOKEN}", Origin="null"), "other web sites"),
        (Request(f"/?token={TOKEN}", Origin="machine:8080"), "other web sites"),
        (Request(f"/?token={TOKEN}", Host="a; b"), "name its host"),
    ]:
        with subtests.test(f"{request_}"):
            assert reason in Access(loopback=False, token=TOKEN, port=8080).refusal(request_)


def test_who_has_the_token_is_let_in(subtests):
    for request_ in [
        Request(f"/?token={TOKEN}"),
        Request(f"/assets/x.js?v=1&token={TOKEN}", Origin="http://machine:8080"),
        Request(Cookie=f"other=1; twin_token_8080={TOKEN}", Origin="https://MACHINE:8080"),
    ]:
        with subtests.test(f"{request_}"):
            assert not Access(loopback=False, token=TOKEN, port=8080).refusal(request_)
