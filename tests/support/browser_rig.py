"""Somebody at the page: a real browser, driven by labels and names as a person reads them."""

import io
import shutil
from contextlib import contextmanager
from time import monotonic
from urllib.parse import urlsplit

import numpy as np
from PIL import Image
from playwright.sync_api import (
    TimeoutError,
    sync_playwright,
)

COMMANDS = ("chromium", "chromium-browser", "google-chrome")

FLAGS = (
    "--no-sandbox",
    "--no-proxy-server",
    "--disable-dev-shm-usage",
    "--ignore-gpu-blocklist",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    # Only the scene is drawn by the software that stands in for a graphics card: it takes seconds
    # to lay a page together on a busy computer.
    "--disable-gpu-compositing",
    # Nothing but this computer can be reached, whatever the page asks for.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
"""Graphics by software, in containers too."""

SMALL = (800, 600)
"""Of windows in general: software draws the scene, and takes longer the larger it is."""

SLOW_DISPLAY = """
window.requestAnimationFrame = draw => setTimeout(() => draw(performance.now()), 150);
window.cancelAnimationFrame = clearTimeout;
"""
"""Seven pictures per second: at sixty, software draws all the time while a machine moves."""

PLAIN_DISPLAY = f"""{SLOW_DISPLAY}
const context = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, options) {{
  return context.call(this, kind, {{...options, antialias: false}});
}};
"""
"""Slow, and with stepped edges: smooth ones take software twice the time."""

TABLET = (820, 1180)

PATIENCE = 120.0
"""[s] for what takes one on a quiet computer."""

GLANCE = 10.0
"""[s] in which a control is there, unless its tab has closed."""

ATTEMPTS = 3
"""Of typing."""

SCENE = "canvas[data-engine]"
"""The canvas of the scene; charts have others."""

SCENE_ALONE = f"body * {{visibility: hidden !important}} {SCENE} {{visibility: visible !important}}"


def browser_command():
    """Return the browser's command, None where there is none."""
    return next((found for name in COMMANDS if (found := shutil.which(name))), None)


@contextmanager
def open_browser(command):
    """Run a browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=command, args=list(FLAGS))
        yield browser
        browser.close()


class Visitor:
    """One browser window of its own, with what happened in it.

    Attributes:
        page: Playwright's.
        said: what the page's scripts wrote to the browser's console.
        problems: errors of the page's scripts, refused and failed requests.
        requests: addresses that the page has asked for.
    """

    def __init__(self, browser, size=SMALL, display=PLAIN_DISPLAY):
        """Open a window of a size (width, height) in pixels; `close` it.

        Args:
            browser: its program.
            size: of the window.
            display: script that says how it draws.
        """
        view = {"width": size[0], "height": size[1]}
        self.context = browser.new_context(viewport=view, accept_downloads=True)
        self.context.set_default_timeout(1e3 * PATIENCE)
        self.context.add_init_script(display)
        self.page = self.context.new_page()
        self.said = []
        self.problems = []
        self.requests = []
        self.tab = ""
        self.page.on("console", self.note)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("requestfailed", lambda request: self.problems.append(request.url))

    def open(self, url):
        """Go to an address and wait until the page is connected to its server."""
        self.page.goto(url)
        self.wait_connected()
        return self

    def wait_connected(self):
        """Wait until the page has all that the server shows, and draws it."""
        self.page.locator("svg.tabler-icon-cloud-check").first.wait_for()
        self.page.locator(SCENE).wait_for()

    def wait_laid_out(self):
        """Wait until the controls are above the charts, where a narrow window has them at last.

        They are built anew when they go there: what is typed at that moment is lost.
        """
        # A column is far wider than what lies beside another in it. Both are measured at once: the
        # line of the state is written anew several times a second.
        stacked = """() => {
          const [state, chart] = [".twin-state", ".uplot"].map(each =>
            document.querySelector(each)?.getBoundingClientRect());
          return state && chart && chart.width > 0 && Math.abs(state.x - chart.x) < 100;
        }"""
        self.wait(lambda: self.page.evaluate(stacked), "the controls are above the charts")

    def close(self):
        """Close the window."""
        self.context.close()

    @property
    def hosts(self):
        """Hosts that the page has asked for anything."""
        addresses = (address.removeprefix("blob:") for address in self.requests)
        found = {urlsplit(address).hostname for address in addresses}
        return {host for host in found if host}

    def row(self, label):
        """Return the line of an input with its label."""
        # The browser may break long labels, so that no single piece of text is the label.
        return self.page.locator(f"xpath=//label[normalize-space(.)='{label}']/../../..")

    def input(self, label):
        """Return the input of a label; more than one for vectors."""
        return self.row(label).locator("input:not([type=hidden])")

    def value(self, label):
        """Return what stands in an input."""
        return self.input(label).input_value()

    def number(self, label):
        """Return the number that stands in an input."""
        return float(self.value(label).replace(",", ""))

    def enter(self, label, value, place=0):
        """Type into an input, for vectors into that of a `place`; once more if it is not there."""
        field = self.input(label).nth(place)
        for _ in range(ATTEMPTS):
            self.show(field)
            # Key by key: numbers that come at once are not always taken over.
            field.click(click_count=3)
            field.press_sequentially(str(value))
            field.press("Enter")
            self.let_go()
            if _same(field.input_value(), str(value)):
                return
        raise AssertionError(f"{label}: {value} was typed, {field.input_value()} is there")

    def slide(self, label, share):
        """Drag a slider with the mouse to a share of its range."""
        row = self.row(label)
        self.show(row)
        row.scroll_into_view_if_needed()
        thumb = row.get_by_role("slider")
        start = thumb.bounding_box()
        track = row.locator("div[tabindex='-1']").first.bounding_box()
        assert start and track
        mouse = self.page.mouse
        height = start["y"] + start["height"] / 2
        mouse.move(start["x"] + start["width"] / 2, height)
        mouse.down()
        mouse.move(track["x"] + share * track["width"], height, steps=5)
        mouse.up()
        self.let_go()

    def choose(self, label, option):
        """Choose from a list."""
        self.show(self.input(label))
        self.input(label).click()
        self.page.get_by_role("option", name=option, exact=True).locator("visible=true").click()
        self.let_go()

    def tick(self, label, on=True):
        """Tick a box, or take the tick away."""
        self.show(self.row(label))
        self.input(label).set_checked(on)
        self.let_go()

    def press(self, name):
        """Press a button."""
        button = self.page.get_by_role("button", name=name, exact=True)
        self.show(button)
        button.click()
        self.let_go()

    def turn_to(self, tab):
        """Open a tab."""
        self.tab = tab
        self.page.get_by_role("tab", name=tab, exact=True).click()

    def has_text(self, text):
        """Wait until a text stands on the page."""
        self.page.get_by_text(text).first.wait_for()

    def wait(self, holds, what=""):
        """Wait until something holds, while the page goes on."""
        end = monotonic() + PATIENCE
        while not holds():
            assert monotonic() < end, f"waited for {PATIENCE} s: {what}"
            self.page.wait_for_timeout(50.0)

    def dismiss(self, message):
        """Close a message that lies over the page."""
        shown = self.page.get_by_role("alert").filter(has_text=message)
        shown.get_by_role("button").click()
        shown.wait_for(state="detached")

    def scene(self):
        """Return the scene `(height, width, 3)` as it is drawn now, without what lies over it."""
        return _pixels(self.page.screenshot(style=SCENE_ALONE))

    def picture_of(self, part):
        """Return a part of the page `(height, width, 3)` as it is seen now."""
        return _pixels(part.screenshot())

    def picture(self, file):
        """Keep what is seen as a file, to look at."""
        self.page.screenshot(path=file)

    def show(self, control):
        """Open the tab of a control again where the page has been laid out anew meanwhile.

        A browser that connects again begins with the first tab.
        """
        try:
            control.first.wait_for(timeout=1e3 * GLANCE)
        except TimeoutError:
            if self.tab:
                self.turn_to(self.tab)

    def let_go(self):
        """Wait until the page is ready for another input: it passes on one in 50 ms.

        By the page's own timers, which come in turn: a busy page is late.
        """
        self.page.evaluate("new Promise(done => setTimeout(done, 100))")

    def note(self, message):
        """Keep what the page says, and count errors among its problems."""
        self.said.append(message.text)
        if message.type == "error":
            self.problems.append(message.text)


def _same(first, second):
    """Return whether two texts are the same, numbers by their value."""
    try:
        return float(first.replace(",", "")) == float(second)
    except ValueError:
        return first == second


def _pixels(picture):
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))


def colours(picture):
    """Return how many pixels each colour of a picture has, most first."""
    packed = picture.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    counts = np.unique(packed, return_counts=True)[1]
    return np.sort(counts)[::-1]


def background(picture):
    """Return the share of a picture that has its most frequent colour."""
    return float(colours(picture)[0] / (picture.shape[0] * picture.shape[1]))


def changed(before, after):
    """Return the share of pixels that differ visibly between two pictures."""
    difference = np.abs(before.astype(int) - after.astype(int)).max(axis=-1)
    return float((difference > 16).mean())
