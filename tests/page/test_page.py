"""The page of a machine in a real browser, used as a person uses it."""

import numpy as np
import pytest
from browser_rig import SCENE, TABLET, Visitor, background, changed, colours
from live_rig import Live
from scipy.spatial.transform import Rotation
from tolerance import assert_within, max_abs

from twin.page.machine_page import replay_page
from twin.page.server.page_server import PageServer
from twin.simulation.live.runner import Replay
from twin.simulation.simulate import Trajectory

MACHINE = "stewart"


@pytest.fixture(scope="module")
def live():
    """A machine that runs behind a page."""
    opened = Live(MACHINE)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def window(chromium, live):
    """A browser window with the page, for all tests of this file."""
    visitor = Visitor(chromium).open(live.url)
    visitor.dismiss("Software WebGL rendering detected")
    visitor.wait_laid_out()
    yield visitor
    visitor.close()


@pytest.fixture
def desk(live, window):
    """The window, with the machine at home and all settings as at the beginning."""
    live.begin_anew()
    window.turn_to("Drive")
    window.press("Home")
    window.wait(lambda: window.number("z [mm]") == 0.0, "the sliders are at home")
    yield window
    assert not window.problems


def state(visitor):
    """Return the word for the run's state."""
    return visitor.page.locator(".twin-state").inner_text()


def is_rising(live, to, within=0.5):
    """Return what tells whether the platform has come to a height [mm] above home."""
    return lambda: abs(live.height - to) < within


def test_machine_is_seen(desk, live):
    desk.wait(lambda: len(colours(desk.scene())) > 500, "the machine is drawn")
    before = desk.scene()
    assert background(before) < 0.9
    assert 0.01 < shares(before)[0] < 0.3, "blue legs on grey ground"
    desk.enter("z [mm]", -60)
    desk.wait(is_rising(live, -60.0), "the platform is down")
    desk.wait(lambda: changed(before, desk.scene()) > 0.01, "the picture follows")


def test_typed_value_and_slider_move_the_machine(desk, live):
    desk.enter("z [mm]", 12.5)
    desk.wait(is_rising(live, 12.5, 0.1), "the platform is up")
    desk.press("Home")
    desk.wait(is_rising(live, 0.0, 0.1), "the platform is home")
    desk.wait(lambda: desk.number("z [mm]") == 0.0, "the slider follows")
    desk.slide("z [mm]", 0.75)
    desk.wait(lambda: desk.number("z [mm]") > 10.0, "the slider is up")
    desk.wait(lambda: abs(live.height - desk.number("z [mm]")) < 0.5, "the platform is up")


def test_run_is_paused_and_stepped(desk, live):
    charts = desk.page.locator(".uplot")
    assert charts.count() >= 2

    def moves():
        before = desk.picture_of(charts.first)
        desk.page.wait_for_timeout(400.0)
        return changed(before, desk.picture_of(charts.first)) > 0.0

    desk.enter("z [mm]", 25)
    desk.wait(moves, "the chart moves")
    desk.press("Pause")
    desk.wait(lambda: state(desk) == "paused", "it says so")
    desk.wait(lambda: not moves(), "the chart stands still")
    before = live.time
    desk.press("Step")
    desk.wait(lambda: live.time > before, "one step is made")
    assert_within(live.time, before + live.session.period, 1e-9)
    desk.press("Run")
    desk.wait(lambda: live.time > before + 0.5, "it goes on")
    desk.wait(lambda: state(desk) == "running", "it says so")
    desk.press("Reset")
    desk.wait(lambda: live.time < before, "it begins anew")


def shares(picture):
    """Return the shares of blue and of orange pixels."""
    red, green, blue = picture.astype(int).transpose(2, 0, 1)
    orange = (red - green > 60) & (green - blue > 30)
    return float((blue - red > 60).mean()), float(orange.mean())


def test_second_engine_is_drawn_over_the_first(desk, live):
    desk.turn_to("Compare")
    desk.wait(lambda: abs(live.height) < 0.1, "the platform is home")
    before = desk.scene()
    assert np.isnan(live.difference)
    desk.choose("Second engine", "mujoco")
    desk.wait(lambda: shares(desk.scene())[1] > shares(before)[1] + 0.005, "the second has a rim")
    assert live.difference < 1e-3
    # Blue is what they do not share: legs of the first, which lie in the same place.
    assert shares(desk.scene())[0] > 0.8 * shares(before)[0]
    desk.tick("MuJoCo defaults")
    desk.wait(lambda: live.difference > 0.01, "MuJoCo's own settings differ")
    shown = desk.page.locator(".twin-difference")
    desk.wait(lambda: "\u00b5m" in shown.inner_text(), "the difference is told")

    def is_away():
        found = live.session.difference
        return found is not None and found[0] > 0.05

    # Without a controller of its own it soon falls out of sight.
    live.pause_when(is_away)
    desk.choose("Same input", "forces")
    desk.wait(lambda: live.page.runner.paused, "it is far away")
    desk.wait(lambda: changed(before, desk.scene()) > 0.01, "the second machine is seen")
    live.page.runner.paused = False
    assert_within(live.height, 0.0, 0.1)
    desk.choose("Second engine", "off")
    desk.wait(lambda: changed(before, desk.scene()) < 0.002, "it is gone")


def test_run_is_saved_and_replayed(desk, live, visit, tmp_path):
    desk.enter("z [mm]", 18)
    desk.wait(is_rising(live, 18.0), "the platform is up")
    desk.turn_to("Save")
    desk.enter("File name", "my run")
    with desk.page.expect_download() as download:
        desk.press("Save run")
    assert download.value.suggested_filename == "my run.npz"
    file = tmp_path / "run.npz"
    download.value.save_as(file)
    run = Trajectory.load(file)
    heights = 1e3 * (run.pose[:, 2] - live.session.platform.home[2])
    assert abs(heights[0]) < 1.0
    assert_within(heights[-1], 18.0, 0.5)

    replay = Replay(run)
    with PageServer(port=0, title="replay") as server:
        page = replay_page(server.viser, replay)
        page.runner.start()
        visitor = visit(server.url)
        visitor.wait_laid_out()
        visitor.has_text("replay · stewart")
        visitor.press("Pause")
        visitor.wait(lambda: state(visitor) in ("paused", "stopped"), "it stands still")
        visitor.enter("Time [s]", 0)
        visitor.wait(lambda: replay.time == replay.start, "it is at its beginning")
        visitor.wait(lambda: len(colours(visitor.scene())) > 500, "the machine is drawn")
        first = visitor.scene()
        visitor.enter("Time [s]", round(replay.end, 2))
        visitor.wait(lambda: replay.time > replay.end - 0.1, "it is at its end")
        visitor.wait(lambda: changed(first, visitor.scene()) > 0.005, "the machine is up")
        page.close()


def is_within(visitor, label, size):
    """Return whether the line of an input is seen as a whole in a window of a size."""
    row = visitor.row(label)
    box = row.bounding_box() if row.is_visible() else None
    if box is None:
        return False
    right, bottom = box["x"] + box["width"], box["y"] + box["height"]
    return min(box["x"], box["y"]) >= 0.0 and right <= size[0] and bottom <= size[1]


def machine_share(picture):
    """Return the share of a picture that is not like its upper corner, which is background."""
    return float((np.abs(picture.astype(int) - picture[0, 0]).max(axis=-1) > 60).mean())


def test_two_windows_show_the_same(desk, live, visit):
    """The other is a tablet's, which shows scene and controls side by side."""
    other = visit(live.url, size=TABLET)
    other.wait_laid_out()
    desk.wait(lambda: live.clients == 2, "two are connected")
    for label in ("z [mm]", "Speed [\u00d7]"):
        other.wait(lambda label=label: is_within(other, label, TABLET), label)
    assert other.page.evaluate("document.documentElement.scrollWidth") <= TABLET[0]
    other.wait(lambda: machine_share(other.scene()) > 0.02, "the machine is drawn")
    other.enter("z [mm]", 9)
    desk.wait(is_rising(live, 9.0), "the platform is up")
    desk.wait(lambda: desk.number("z [mm]") == 9.0, "both show it")
    desk.enter("z [mm]", -9)
    other.wait(lambda: other.number("z [mm]") == -9.0, "both show it")
    other.page.close()
    desk.wait(lambda: live.clients == 1, "one has gone")
    desk.enter("z [mm]", 3)
    desk.wait(is_rising(live, 3.0), "the other goes on")


def pixel(desk, live, point):
    """Return where a point `(3,)` [m] of the world is seen in a window."""
    camera = next(iter(live.page.server.get_clients().values())).camera
    box = desk.page.locator(SCENE).bounding_box()
    assert box is not None
    turn = Rotation.from_quat(camera.wxyz, scalar_first=True)
    right, down, ahead = turn.inv().apply(point - camera.position)
    half = 0.5 * box["height"] / np.tan(0.5 * camera.fov)
    middle = (box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    return middle[0] + half * right / ahead, middle[1] + half * down / ahead


def test_click_on_the_platform_pushes_it(desk, live):
    top = live.session.platform.home[:3] + np.array([0.0, 0.0, 0.055])
    desk.page.mouse.click(*pixel(desk, live, top))
    desk.turn_to("Push")
    along = desk.input("Point [mm]").nth(2)
    desk.wait(lambda: float(along.input_value()) > 40.0, "its upper face is pushed")
    assert abs(float(desk.input("Point [mm]").first.input_value())) < 10.0


def reloaded(desk, scheme):
    """Let the system of a window turn dark or light, which loads the page anew."""
    with desk.page.expect_navigation():
        desk.page.emulate_media(color_scheme=scheme)
    desk.wait_connected()
    desk.wait_laid_out()


def test_reload_restores_the_page_and_links_their_set_up(desk, live):
    desk.enter("z [mm]", 21)
    desk.wait(is_rising(live, 21.0), "the platform is up")
    before = live.time
    reloaded(desk, "dark")
    desk.wait(lambda: desk.number("z [mm]") == 21.0, "the slider is where it was")
    assert live.time > before
    assert_within(live.height, 21.0, 0.5)
    desk.wait(lambda: len(colours(desk.scene())) > 500, "the machine is drawn")
    desk.wait(lambda: desk.scene()[:50].mean() < 80.0, "the page is dark")
    desk.enter("z [mm]", 17.5)
    desk.wait(is_rising(live, 17.5), "it is still driven from here")
    desk.turn_to("View")
    desk.press("top")
    desk.turn_to("Save")
    link = desk.page.locator("a.twin-link")
    desk.wait(lambda: "z=17.5" in (link.get_attribute("href") or ""), "the link follows")
    desk.wait(lambda: "camera=" in (link.get_attribute("href") or ""), "it has the camera")
    with desk.page.expect_download() as download:
        desk.press("Save picture")
    assert download.value.suggested_filename == f"{MACHINE}.png"
    link.click()
    assert "z=17.5" in desk.page.url
    live.begin_anew()
    desk.wait(is_rising(live, 0.0), "the platform is home")
    reloaded(desk, "light")
    desk.wait(is_rising(live, 17.5), "the link brings it up")
    assert "#" not in desk.page.url
    camera = next(iter(live.page.server.get_clients().values())).camera
    desk.wait(lambda: abs((camera.position - camera.look_at)[0]) < 0.05, "it is seen from above")
    desk.wait(lambda: desk.scene()[:50].mean() > 150.0, "the page is light")


def test_keys_pause_and_sliders_fill_from_zero(desk, live):
    """Space pauses and goes on, unless somebody is typing."""
    desk.wait(lambda: state(desk) == "running", "it runs")
    desk.page.keyboard.press(" ")
    desk.wait(lambda: state(desk) == "paused", "space pauses")
    desk.page.keyboard.press(" ")
    desk.wait(lambda: state(desk) == "running", "and lets it go on")
    desk.enter("z [mm]", 20)
    bar = desk.page.locator(".mantine-Slider-bar[style*=twin-left]").nth(2)
    desk.wait(lambda: bar.bounding_box()["width"] > 5.0, "the bar begins at zero")
    track = bar.evaluate("node => node.parentElement.getBoundingClientRect().width")
    assert bar.bounding_box()["width"] < 0.3 * track
    assert desk.page.locator(".twin-strip b").count() == len(live.session.platform.base_joints)


def test_keys_reset_and_move_the_slider_that_was_used_last(desk, live):
    """After a click on the scene arrows turn the view, and leave the slider alone."""
    keyboard = desk.page.keyboard
    desk.slide("pitch [deg]", 0.75)
    desk.wait(lambda: desk.number("pitch [deg]") > 2.0, "the slider is used")
    desk.press("Home")
    desk.wait(lambda: desk.number("pitch [deg]") == 0.0, "the slider is home")
    for key, change in (("ArrowRight", 0.1), ("ArrowUp", 0.1), ("ArrowLeft", -0.1)):
        goal = round(desk.number("pitch [deg]") + change, 6)
        keyboard.press(key)
        desk.wait(lambda goal=goal: desk.number("pitch [deg]") == goal, key)
    desk.wait(lambda: abs(live.session.target[4] - goal) < 1e-9, "the machine follows")
    camera = next(iter(live.page.server.get_clients().values())).camera
    before = camera.position
    desk.page.locator(SCENE).click(position={"x": 20.0, "y": 20.0})
    keyboard.press("ArrowLeft", delay=500.0)
    desk.wait(lambda: max_abs(camera.position - before) > 0.01, "the view turns")
    assert desk.number("pitch [deg]") == goal
    keyboard.press("h")
    desk.wait(lambda: desk.number("pitch [deg]") == 0.0, "h goes home")
    desk.wait(lambda: live.time > 1.0, "it has run for a while")
    ran = live.time
    keyboard.press("r")
    desk.wait(lambda: live.time < ran, "r begins anew")


def test_film_is_recorded_and_saved(desk, live, tmp_path):
    desk.turn_to("Save")
    desk.press("Record film")
    live.ask(lambda: live.session.move_to([0.0, 0.0, 40.0, 0.0, 0.0, 0.0]))
    desk.page.wait_for_timeout(2000.0)
    with desk.page.expect_download() as download:
        desk.press("End film")
    assert download.value.suggested_filename == f"{MACHINE}.webm"
    download.value.save_as(tmp_path / "film.webm")
    film = (tmp_path / "film.webm").read_bytes()
    assert film.startswith(b"\x1a\x45\xdf\xa3"), "a WebM file begins like this"
    assert b"webm" in film[:64] and len(film) > 10_000
    desk.page.get_by_role("button", name="Record film", exact=True).wait_for()


def is_stopped(desk, live):
    """Return whether the run has stopped, and the page says so and why."""
    reason = live.ask(lambda: live.session.stopped)
    banner = desk.page.locator(".twin-banner")
    return bool(
        reason
        and banner.is_visible()
        and reason[1:] in banner.inner_text()
        and state(desk) == "stopped"
    )


def is_well(desk, live):
    """Return whether the machine runs at home, and the page says nothing else."""
    quiet = not desk.page.locator(".twin-banner").is_visible()
    return quiet and state(desk) == "running" and abs(live.height) < 0.1


def test_pushed_machine_gives_way_and_is_reset_when_it_stops(desk, live):
    desk.turn_to("Push")
    for place, value in enumerate((0, 0, -1500)):
        desk.enter("Force [N]", value, place)
    desk.enter("For [s]", 0.5)
    desk.press("Push")
    desk.wait(lambda: live.lowest < -0.01, "the platform gives way")
    desk.enter("Force [N]", 300000)
    desk.enter("For [s]", 1)
    desk.press("Push")
    desk.wait(lambda: is_stopped(desk, live), "it stops")
    desk.press("Reset and run")
    desk.wait(lambda: is_well(desk, live), "it begins anew")
    assert not desk.page.get_by_role("button", name="Reset and run").is_visible()
