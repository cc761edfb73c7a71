"""Nets of one's own that are played: in Python, in the terminal, and in a browser."""

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import ROOT, Command
from headrace import RunError, ScenarioError
from headrace.net import Net, Play, load
from test_net_player import opened

NETS = ROOT / "scenarios" / "nets"
QUEUE = NETS / "queue.toml"


def test_a_play_fires_as_the_run_with_its_seed() -> None:
    model = load(QUEUE)
    play = model.play(seed=7)
    times = {"queue/arrive": 0, "queue/leave": 0}
    while (fired := play.step()) and fired.time <= 200.0:
        times[fired.transition] += 1
    run = model.run(until=200.0, seed=7).runs[0]
    assert times == {it["path"]: it["firings"] for it in run["transitions"]}
    play.reset()
    assert play.time == 0.0 and play.run_to(200.0) == "time"
    assert play.result.runs[0]["transitions"] == run["transitions"]
    assert {it.place for it in play.marking} >= {"queue/arrivals", "queue/served"}
    assert play.run_until("desk >= 3") == "condition"
    desk = [it for it in play.marking if it.place == "queue/desk"]
    assert sum(it.count for it in desk) == 3 and not any(it.ready for it in desk)
    assert play.run_until(lambda it: it.last is not None and it.last.transition == "queue/leave")
    assert play.last is not None and play.last.transition == "queue/leave"
    assert play.run_until("desk >= 1000", limit=play.time + 1.0) == "time"
    with pytest.raises(ValueError, match="expected from"):
        play.run_to(1.0)
    with pytest.raises(ScenarioError, match="column 7"):
        play.run_until("desk >")


def test_firings_are_chosen_by_hand() -> None:
    play = load(NETS / "philosophers.toml").play()
    assert [it.transition for it in play.enabled()] == ["philosophers/left"]
    assert len(play.enabled()[0].bindings) == 5
    fired = play.fire("left", binding={"p": 3})
    assert fired.binding == {"p": 3}
    assert str(fired) == "0 s  philosophers/left (p = 3)"
    with pytest.raises(ValueError, match="left cannot fire now with p = 3"):
        play.fire("left", binding={"p": 3})
    with pytest.raises(RunError, match="has no binding number 9 now"):
        play.fire("left", binding=9)
    with pytest.raises(RunError, match="no transition is called"):
        play.fire("lefft")
    for _ in range(4):
        play.fire("left")
    assert play.enabled() == [] and play.pending is None
    assert play.step() is None and play.stop == "deadlock"
    assert play.marking_frame.filter(place="philosophers/waiting")["count"].sum() == 5


def test_an_animation_has_a_frame_for_each_firing(tmp_path: Path) -> None:
    play = load(NETS / "simple-protocol.toml").play(seed=2)
    animation = play.animate(50)
    frames = animation.frames
    assert len(frames.time) == 51 and len(frames.steps) == 50
    assert frames.steps[0].transition == "simple protocol/send_packet"
    assert [it.text for it in frames.steps[0].taken] == ["1", "Packet(1)", "()"]
    assert "<iframe" in animation._repr_html_() and "<iframe" in play._repr_html_()
    animation.save(tmp_path / "net.html")
    assert (tmp_path / "net.html").stat().st_size > 10_000
    with pytest.raises(ValueError, match="ends in .html"):
        animation.save(tmp_path / "net.svg")
    # The deadlock of the philosophers ends it.
    short = load(NETS / "philosophers.toml").play(seed=1).animate(10_000).frames
    assert short.end.startswith("Nothing can happen") and len(short.steps) == 5


def played(*lines: str, file: Path = QUEUE) -> "subprocess.CompletedProcess[str]":
    """Send lines to `headrace net play`."""
    words = [sys.executable, "-m", "headrace", "net", "play", str(file), "--seed", "3"]
    text = "".join(f"{line}\n" for line in lines)
    return subprocess.run(words, input=text, capture_output=True, text=True, timeout=300)


def test_the_terminal_plays_from_a_pipe() -> None:
    lines = ("", "step 2", "run 10 s", "until desk >= 2", "marking", "enabled", "quit", "no")
    ended = played(*lines)
    assert ended.returncode == 0, ended.stderr
    printed = ended.stdout.splitlines()
    assert printed[0].endswith("s  queue/arrive") and printed[1] == "  - queue/arrivals: ()"
    assert any(line.endswith("the condition holds") for line in printed)
    assert "queue/desk: 2 \N{MULTIPLICATION SIGN} () (not ready)" in printed
    assert any(line.startswith("next event: queue/") for line in printed)
    ended = played("fire left 2", "fire right", "marking", file=NETS / "philosophers.toml")
    assert "philosophers/eating: 2" in ended.stdout
    for line, part in (("jump", "no command is called 'jump'"), ("until desc", "desc"),
                       ("run", "expected a time"), ("step x", "expected a whole number"),
                       ("fire leave", "cannot fire now")):  # fmt: skip
        ended = played(line)
        assert ended.returncode == 2 and part in ended.stderr, ended.stderr
        assert "line 1" in ended.stderr and "Traceback" not in ended.stderr


def test_a_terminal_has_a_prompt_and_ctrl_c_ends_it() -> None:
    terminal, end = pty.openpty()
    words = [sys.executable, "-m", "headrace", "net", "play", str(QUEUE)]
    process = subprocess.Popen(words, stdin=end, stdout=end, stderr=end)
    os.close(end)
    seen = b""

    def until(wanted: bytes) -> None:
        nonlocal seen
        seen = b""
        while wanted not in seen:
            try:
                seen += os.read(terminal, 4096)
            except OSError:
                # It has ended.
                break

    until(b"0 s> ")
    os.write(terminal, b"\n")
    until(b"s> ")
    assert b"queue/arrive" in seen
    os.write(terminal, b"jump\n")
    until(b"s> ")
    assert b"error: no command is called 'jump'" in seen
    # A signal just before the prompt waits for a key is seen with the next one.
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
    until(b"never")
    assert b"Traceback" not in seen
    assert process.returncode == 130
    os.close(terminal)


def test_options_of_pages(headrace: Command, tmp_path: Path) -> None:
    page = tmp_path / "net.html"
    ended = headrace("net", QUEUE, "--steps", "20", "--seed", "2", "-o", page)
    assert ended.returncode == 0, ended.stderr
    for words, part in (
        (("--steps", "20", "-o", tmp_path / "n.svg"), "a page that ends in .html"),
        (("--seed", "2", "-o", page), "expected --steps"),
        (("--steps", "20000", "-o", page), "from 0 to 10000"),
    ):
        ended = headrace("net", QUEUE, *words)
        assert ended.returncode == 2 and part in ended.stderr, ended.stderr


def test_the_example_of_the_documentation() -> None:
    text = (ROOT / "docs" / "how-to" / "play-a-net.md").read_text("utf-8")
    names: dict[str, Any] = {"__name__": "play_a_net_example"}
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(code, "play-a-net.md", "exec"), names)
    assert abs(names["result"]["inside"]["mean"] - 1.0) < 0.2
    assert len(names["animation"].frames.steps) == 100
    # The document's monitors are those of the shipped net.
    (document,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    shipped = (NETS / "monitored-queue.toml").read_text("utf-8")
    assert all(table in shipped for table in document.strip().split("\n\n"))


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("steps") / "net.html"
    load(NETS / "simple-protocol.toml").play(seed=2).animate(30).save(file)
    return file


@pytest.fixture
def page(browser: Browser, page_file: Path) -> Iterator[Page]:
    with opened(browser, page_file.as_uri()) as it:
        yield it


def test_tokens_move_and_the_marking_is_told(page: Page) -> None:
    net = page.locator("headrace-net")
    marking = page.get_by_role("table")
    expect(page.locator(".net-firing")).to_have_text("The marking before the first firing.")
    expect(marking).to_contain_text("simple protocol/next_send11")
    # Seen at a quarter of the speed.
    page.get_by_role("combobox", name="Speed").select_option("0.25")
    page.get_by_role("button", name="One frame on").click()
    expect(page.locator(".net-token")).to_have_count(3)
    expect(page.locator(".net-token-text").first).to_have_text("1")
    expect(page.locator(".net-lit")).to_have_attribute("data-name", "send_packet")
    expect(net).to_have_attribute("data-frame", "1")
    expect(page.locator(".net-token")).to_have_count(0)
    expect(page.locator(".net-firing")).to_contain_text("1. 0 s  simple protocol/send_packet")
    # Pressed twice, the first firing ends at once.
    page.locator(".net-sight").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(net).to_have_attribute("data-frame", "3")
    page.keyboard.press("ArrowLeft")
    expect(net).to_have_attribute("data-frame", "2")
    page.get_by_role("slider", name="Firing").fill("30")
    expect(page.locator(".net-firing")).to_contain_text("30. ")
    if directory := os.environ.get("HEADRACE_SCREENSHOTS"):
        page.screenshot(path=f"{directory}/net-steps.png", full_page=True)


def test_it_plays_to_the_end(page: Page) -> None:
    page.get_by_role("slider", name="Firing").fill("28")
    page.get_by_role("combobox", name="Speed").select_option("4")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.locator("headrace-net")).to_have_attribute("data-frame", "30")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_reduced_motion_moves_nothing(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file.as_uri(), reduced_motion="reduce") as page:
        page.get_by_role("button", name="One frame on").click()
        expect(page.locator("headrace-net")).to_have_attribute("data-frame", "1")
        expect(page.locator(".net-token")).to_have_count(0)
        expect(page.locator(".net-lit")).to_have_count(1)


def test_plays_have_random_functions_of_their_own() -> None:
    net = Net("random")
    queue = net.station(
        "queue", int, service=lambda token, random: random.expovariate(1.0), initial=[0]
    )
    with net.transition("again") as t:
        t.put(queue, t.take(queue))

    def times(play: Play, number: int = 5) -> list[float]:
        return [fired.time for _ in range(number) if (fired := play.step()) is not None]

    model = net.model()
    play = model.play(seed=7)
    first = times(play)
    play.reset()
    assert times(play) == first
    one, other = model.play(seed=7), model.play(seed=7)
    mixed = [(times(one, 1), times(other, 1)) for _ in range(5)]
    assert [a for a, _ in mixed] == [b for _, b in mixed] == [[it] for it in first]
    one.reset()
    assert times(one, 2) == first[:2]
    model.run(until=3.0, seed=1)
    assert times(one, 3) == first[2:]


def test_a_play_is_not_used_by_its_own_functions() -> None:
    net = Net("inside")
    queue = net.station("queue", int, service=1.0, initial=[0])
    plays: list[Play] = []
    with net.transition("again") as t:
        token = t.take(queue, name="token")
        t.action(lambda token: plays[0].step())
        t.put(queue, token)
    plays.append(net.play())
    with pytest.raises(RunError, match="this play is in a step"):
        plays[0].step()
