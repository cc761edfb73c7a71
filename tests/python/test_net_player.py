"""A net that is zoomed and played in a browser."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from headrace.drawing.net_player import net_element, net_page
from headrace.simulate import Playback
from net_examples import NetBuilder, Structure
from web_site import connected, running_server

FRAMES = 41


def small_net() -> Structure:
    """Clients that send to two copies of a server with two processors each."""
    net = NetBuilder()
    system = net.page("system")
    thinking = net.node(system, "thinking", "station", "infinite server")
    server = net.page("server <i>&", system, copies=2)
    requests = net.store(server, "requests")
    inbox = net.node(server, "inbox")
    processor = net.node(server, "processor", "station", "FCFS, 2 servers", servers=2)
    net.transition(system, "send", [thinking], [inbox])
    net.transition(server, "start", [inbox], [processor], stores=(requests,))
    net.transition(server, "answer", [processor], [thinking])
    return {"page": system}


def counting(structure: Structure) -> Playback:
    """Frame n has n tokens in the inbox, n / 10 busy processors and 2 n that wait for them."""
    n = np.arange(FRAMES, dtype=np.uint64)
    zero = np.zeros_like(n)
    tokens = np.stack([40 - n, n, 2 * n], axis=1)
    queue = np.stack([zero, zero, 2 * n], axis=1)
    busy = np.stack([40 - n, zero, np.minimum(n // 10, 4)], axis=1)
    mean = np.stack([40.0 - n, 0.0 * n, n / 10], axis=1)
    return Playback(
        structure=structure,
        time_s=np.array([it * 1e-3 for it in range(FRAMES)]),
        tokens=tokens,
        most_tokens=tokens,
        queue=queue,
        most_queue=queue,
        busy=busy,
        busy_mean=mean,
        arrivals=tokens,
        firings=np.zeros((FRAMES, 3), dtype=np.uint64),
    )


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    structure = small_net()
    file = tmp_path_factory.mktemp("net") / "net.html"
    element = net_element(structure, playback=counting(structure))
    file.write_text(net_page("clients & <b>servers", element), encoding="utf-8")
    return file


@pytest.fixture
def page(browser: Browser, page_file: Path) -> Iterator[Page]:
    with opened(browser, page_file.as_uri()) as it:
        yield it


@contextmanager
def opened(browser: Browser, url: str, **options: Any) -> Iterator[Page]:
    """A page without an error in its console."""
    it = browser.new_page(**options)
    errors: list[str] = []
    it.on("pageerror", lambda error: errors.append(str(error)))
    it.goto(url)
    yield it
    it.close()
    assert not errors


def slide(page: Page, frame: int) -> None:
    page.get_by_role("slider", name="Simulated time").fill(str(frame))


def test_names_are_text(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("clients & <b>servers")
    expect(page.locator("headrace-net i, h1 b")).to_have_count(0)


def test_the_slider_shows_frames(page: Page) -> None:
    inbox, processor = page.locator('[data-name="inbox"]'), page.locator('[data-name="processor"]')
    server = processor.locator("rect:not(.net-level):not(.net-queue)")
    expect(inbox.locator(".net-count")).to_have_text("")
    expect(server).to_have_attribute("fill", "rgb(255,255,255)")
    slide(page, 20)
    expect(inbox.locator(".net-count")).to_have_text("20")
    expect(inbox.locator(".net-level")).to_have_css("clip-path", "inset(50% 0px 0px)")
    # 2 of 4 processors: the shade that the picture has for 50 %.
    expect(processor).to_have_attribute("data-busy", "0.500")
    expect(server).to_have_attribute("fill", "rgb(252,236,190)")
    expect(processor.locator(".net-count").first).to_have_text("50%")
    expect(processor.locator(".net-waiting")).to_have_text("40")
    # The queue is half as long as at its longest.
    expect(processor.locator(".net-queue")).to_have_attribute("width", "16.00")
    expect(page.get_by_text("20 ms of 40 ms")).to_be_visible()
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", "20 ms")


def test_a_table_tells_the_same(page: Page) -> None:
    slide(page, 30)
    table = page.get_by_role("table", name="Busiest stations at 30 ms")
    expect(table.get_by_role("row").nth(1)).to_have_text("system/server <i>&/processor75 %6060")
    expect(table.get_by_role("row").nth(2)).to_have_text("system/thinking\N{EN DASH}010")


def test_it_plays_to_the_end_and_again(page: Page) -> None:
    net = page.locator("headrace-net")
    slide(page, 36)
    page.get_by_role("combobox", name="Speed").select_option("4")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(net).to_have_attribute("data-frame", "40")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(page.get_by_role("table", name="Busiest stations at 40 ms")).to_be_visible()
    # So slow that it cannot end before it is stopped.
    page.get_by_role("combobox", name="Speed").select_option("0.25")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    assert int(net.get_attribute("data-frame") or -1) < 40


def test_keys_play_and_step(page: Page) -> None:
    net = page.locator("headrace-net")
    page.locator(".net-sight").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(net).to_have_attribute("data-frame", "1")
    page.keyboard.press("End")
    expect(net).to_have_attribute("data-frame", "40")
    page.keyboard.press("ArrowRight")
    expect(net).to_have_attribute("data-frame", "40")
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(net).not_to_have_attribute("data-frame", "0")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def view(page: Page) -> list[float]:
    text = page.locator("headrace-net").get_attribute("data-view") or ""
    return [float(it) for it in text.split()]


def test_a_page_fills_the_view_and_the_trail_leads_back(page: Page) -> None:
    whole = view(page)
    inner = page.get_by_role("button", name="Zoom into system/server <i>&")
    box = inner.evaluate("it => { const b = it.getBBox(); return [b.x, b.y, b.width, b.height] }")
    inner.locator("text").click()
    seen = view(page)
    assert seen == pytest.approx([box[0] - 12, box[1] - 12, box[2] + 24, box[3] + 24], abs=0.02)
    trail = page.get_by_role("navigation", name="Shown page")
    expect(trail.get_by_role("button")).to_have_text(["Whole net", "server <i>&"])
    expect(trail.get_by_role("button").last).to_have_attribute("aria-current", "page")
    trail.get_by_role("button", name="Whole net").click()
    assert view(page) == whole
    inner.focus()
    page.keyboard.press("Enter")
    assert view(page) == seen
    page.keyboard.press("Escape")
    assert view(page) == whole


def test_zoom_and_pan_by_buttons_keys_wheel_and_drag(page: Page) -> None:
    whole = view(page)
    page.get_by_role("button", name="Zoom in", exact=True).click()
    assert view(page)[2] == pytest.approx(whole[2] / 1.4, abs=0.01)
    page.get_by_role("button", name="Zoom out").click()
    assert view(page) == pytest.approx(whole, abs=0.02)
    sight = page.locator(".net-sight")
    sight.focus()
    page.keyboard.press("+")
    page.keyboard.press("Shift+ArrowRight")
    assert view(page)[0] > whole[0]
    page.keyboard.press("0")
    assert view(page) == whole
    box = sight.bounding_box()
    assert box is not None
    corner = (box["x"] + 5, box["y"] + 5)
    page.mouse.move(*corner)
    page.mouse.wheel(0, -100)
    page.wait_for_function(
        f"document.querySelector('headrace-net').dataset.view.split(' ')[2] < {whole[2]}"
    )
    zoomed = view(page)
    page.mouse.down()
    page.mouse.move(corner[0] + 60, corner[1] + 40, steps=5)
    page.mouse.up()
    moved = view(page)
    assert moved[0] < zoomed[0] and moved[1] < zoomed[1] and moved[2] == zoomed[2]
    # A drag over a page does not open it.
    expect(page.get_by_role("navigation", name="Shown page").get_by_role("button")).to_have_count(1)


def test_two_fingers_zoom(page: Page) -> None:
    whole = view(page)
    page.evaluate("""() => {
        const sight = document.querySelector(".net-sight");
        // Pointers that the browser did not see cannot be captured.
        sight.setPointerCapture = () => {};
        const { x, y } = sight.getBoundingClientRect();
        const send = (type, pointerId, dx) => sight.dispatchEvent(new PointerEvent(type,
            { pointerId, clientX: x + dx, clientY: y + 100, button: 0, bubbles: true }));
        send("pointerdown", 11, 100);
        send("pointerdown", 12, 200);
        send("pointermove", 12, 300);
        send("pointerup", 11, 100);
        send("pointerup", 12, 300);
    }""")
    assert view(page)[2] == pytest.approx(whole[2] / 2, rel=0.01)


def test_reduced_motion_plays_in_few_steps(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file.as_uri(), reduced_motion="reduce") as page:
        page.evaluate("""() => {
            window.seen = [];
            const net = document.querySelector("headrace-net");
            new MutationObserver(() => window.seen.push(performance.now()))
                .observe(net, { attributeFilter: ["data-frame"] });
        }""")
        slide(page, 30)
        page.get_by_role("combobox", name="Speed").select_option("4")
        page.get_by_role("button", name="Play", exact=True).click()
        expect(page.locator("headrace-net")).to_have_attribute("data-frame", "40")
        times = page.evaluate("window.seen")[1:]
        assert all(later - earlier > 200 for earlier, later in pairwise(times))


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_screen(browser: Browser, page_file: Path, width: int, scheme: str) -> None:
    size = {"width": width, "height": 800}
    with opened(browser, page_file.as_uri(), viewport=size, color_scheme=scheme) as page:
        slide(page, 25)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shown = page.locator(".net-sight svg")
        inverted = shown.evaluate("it => getComputedStyle(it).filter")
        assert (inverted != "none") == (scheme == "dark")
        if directory := os.environ.get("HEADRACE_SCREENSHOTS"):
            page.screenshot(path=f"{directory}/net-{width}-{scheme}.png", full_page=True)


def test_a_net_without_a_run_can_be_zoomed(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "still.html"
    stations = [
        {
            "station": "system/server <i>&/processor",
            "servers": 2,
            "utilisation": 0.8,
            "queue": 3.0,
        }
    ]
    file.write_text(net_page("still", net_element(small_net(), stations=stations)))
    with opened(browser, file.as_uri()) as page:
        expect(page.get_by_text("80%")).to_be_visible()
        expect(page.get_by_role("button", name="Play")).to_have_count(0)
        whole = view(page)
        page.locator(".net-sight").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("+")
        assert view(page)[2] < whole[2]


SERVED = """
from nicegui import app, ui
from headrace.web.net_view import NetView
from headrace.web.server import reserve_port
from headrace.web.settings import Settings
from test_net_player import counting, small_net

@ui.page("/")
def build() -> None:
    structure = small_net()
    area = ui.column().classes("w-full")
    def show() -> None:
        with area:
            NetView(structure, playback=counting(structure))
    ui.button("Show", on_click=show)
    dark = ui.dark_mode()
    ui.button("Dark", on_click=dark.enable)

reserved = reserve_port(Settings(data=".", port=0))
port = reserved.getsockname()[1]
app.on_startup(lambda: print(f"http://127.0.0.1:{port}/", flush=True))
ui.run(host="127.0.0.1", port=port, reload=False, show=False, show_welcome_message=False)
"""


def test_a_page_of_the_site_shows_it(browser: Browser, tmp_path: Path) -> None:
    script = tmp_path / "served.py"
    script.write_text(SERVED)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    with (
        running_server([str(script)], environment) as (url, _),
        opened(browser, url) as page,
    ):
        connected(page)
        page.get_by_role("button", name="Show", exact=True).click()
        slide(page, 10)
        inbox = page.locator('[data-name="inbox"]')
        expect(inbox.locator(".net-count")).to_have_text("10")
        page.get_by_role("button", name="Dark").click()
        expect(page.locator(".net-sight svg")).not_to_have_css("filter", "none")
        # A second view has frames of its own.
        page.get_by_role("button", name="Show", exact=True).click()
        expect(page.locator("headrace-net")).to_have_count(2)
        expect(inbox.locator(".net-count").first).to_have_text("10")
