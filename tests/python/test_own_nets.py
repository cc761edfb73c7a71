"""Nets of one's own: written in Python, read from documents, run by commands."""

import json
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command
from headrace import ScenarioError
from headrace.net import EMPTY, Expression, Net, Time, choose, least, load, now

NETS = ROOT / "scenarios" / "nets"
PAGE = ROOT / "docs" / "how-to" / "own-nets.md"


class Kind(Enum):
    data = 0
    ack = 1


@dataclass
class Packet:
    number: int
    kind: Kind


def protocol() -> Net:
    """Packets that are sent in order, and answered by a server of two copies."""
    net = Net("protocol")
    queue = net.place("queue", Packet, initial=[Packet(i, Kind.data) for i in (2, 1, 3)])
    next_number = net.place("next", int, initial=[1], rest=True)
    acks = net.place("acks", int, sink=True)
    took = net.probe("took")
    with net.page("server", copies=2) as server:
        cpu = server.station("cpu", Packet, service=0.5)
        rx = server.input("rx", cpu)
        tx = server.output("tx", Packet)
        with server.transition("answer") as t:
            p = t.take(cpu, name="p")
            t.put(tx, p.replace(kind=Kind.ack))
    answered = net.place("answered", Packet)
    net.connect(tx, answered)
    with net.transition("send") as t:
        p = t.take(queue)
        n = t.take(next_number)
        t.when((p.number == n) & (p.kind == Kind.data))
        t.put(rx, p, copy=p.number % 2)
        t.put(next_number, n + 1)
    with net.transition("finish") as t:
        p = t.take(answered)
        t.put(acks, choose(p.kind == Kind.ack, p.number, EMPTY))
        t.record(took, now())
    return net


def test_a_net_runs_and_is_explored(tmp_path: Path) -> None:
    net = protocol()
    result = net.run()
    assert result.stop == "quiet"
    # Packets 1 and 3 share a server, so the last is answered after 1 s.
    assert result["took"]["most"] == 1.0
    assert result["acks"]["arrivals"] == 3
    assert result.nodes["path"].to_list()[0] == "protocol/queue"
    assert "<svg" in net.svg()
    assert "arrivals" in result._repr_html_()
    space = net.state_space(reach="acks == 3")
    assert (space.dead, space.deadlocks, space.complete) == (1, 0, True)
    assert len(space.reached["firings"]) == 9
    for name in ("net.toml", "net.json"):
        net.save(tmp_path / name)
        again = load(tmp_path / name)
        assert again.structure() == net.model().structure()
        assert again.run().runs == result.runs
        assert again.state_space().states == space.states


def cache() -> Net:
    """A cache of two lines in front of a disk; blocks 0, 1, 0, 2, 0 are asked for."""
    net = Net("reader")
    cache = net.store("cache", {"hits": 0, "tags": [-1, -1], "last": Kind.ack, "time": [0.0] * 9})
    requests = net.place("requests", int, order="fifo", initial=[0, 1, 0, 2, 0])
    disk = net.station("disk", int, service=0.010)
    done = net.place("done", int, sink=True)
    with net.transition("hit") as t:
        block = t.take(requests)
        t.when(cache.tags[block % 2] == block)
        t.set(cache.hits, cache.hits + 1)
        t.put(done, block)
    with net.transition("miss") as t:
        block = t.take(requests)
        t.when(cache.tags[block % 2] != block)
        t.put(disk, block)
    with net.transition("fill") as t:
        block = t.take(disk, name="cache")
        t.set(cache.tags[block % 2], block)
        t.set(cache.last, Kind.data)
        t.put(done, block)
    return net


def test_stores(tmp_path: Path) -> None:
    net = cache()
    result = net.run(1.0)
    fields = dict(result.stores.select("field", "value").iter_rows())
    # All blocks are asked for at once, before the disk answers.
    assert fields["hits"] == "0" and fields["last"] == "data"
    assert fields["tags"] == "[0, 1]" and fields["time"].count("0") == 9
    net.save(tmp_path / "reader.toml")
    text = (tmp_path / "reader.toml").read_text()
    assert "[stores.cache]" in text and 'last = "Kind.ack"' in text
    assert "time = { length = 9, initial = 0.0 }" in text
    space = load(tmp_path / "reader.toml").state_space(reach="cache.hits == 2")
    assert space.complete and space.reached is not None
    assert space.document == dict(net.state_space(reach="cache.hits == 2").document) | {
        "seconds": space.seconds
    }
    with pytest.raises(AttributeError, match="its fields are: hits, tags, last, time"):
        net.store("other", {"hits": 0, "tags": 1, "last": 2, "time": 3}).misses  # noqa: B018
    assert "cache" in net.svg()


def test_shared_rates_and_random_choice() -> None:
    net = Net("uplinks", choice="random")
    sizes = net.place("sizes", float, initial=[10.0] * 4)
    links = net.station(
        "links", float, discipline="flows", rates=[5.0, 20.0], links=[0, 1], work=net.token()
    )
    pool = net.station(
        "pool", float, discipline="load_sharing", rates=[5, 8.0], work=net.token() * 2
    )
    done = net.place("done", float, sink=True)
    for name, weight, station in (("left", 3.0, links), ("right", 1.0, pool)):
        with net.transition(name, weight=weight) as t:
            t.put(station, t.take(sizes))
        with net.transition(f"end {name}") as t:
            t.put(done, t.take(station))
    result = net.run(20.0)
    sent = {name: result[name]["firings"] for name in ("left", "right")}
    assert sum(sent.values()) == 4
    # All flows share 5 units/s; the pool does 5 units/s of one job, and 8 of more.
    busy = {0: 0.0, 1: 4.0}
    assert result["links"]["residence"] == pytest.approx(sent["left"] * 10 / 5)
    expected = busy.get(int(sent["right"]), sent["right"] * 20 / 8)
    assert result["pool"]["residence"] == pytest.approx(expected)
    assert net.state_space().complete


def test_replications_give_intervals() -> None:
    result = load(NETS / "queue.toml").run(until=2000.0, replications=5)
    row = result["desk"]
    assert abs(row["mean_inside"] - 1.0) < 3 * row["mean_inside_half_width"]
    assert result.transitions.height == 2


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda a, b: a + b * 2, "a + b * 2"),
        (lambda a, b: (a + b) * 2, "(a + b) * 2"),
        (lambda a, b: a - (b - 1), "a - (b - 1)"),
        (lambda a, b: 1 - a - b, "1 - a - b"),
        (lambda a, b: (a == 1) & ~(b > 2) | (a < b), "a == 1 and not b > 2 or a < b"),
        (lambda a, b: ((a == 1) | (b == 2)) & (a != b), "(a == 1 or b == 2) and a != b"),
        (lambda a, b: -(a + b) % -3, "-(a + b) % -3"),
        (lambda a, b: choose(a == b, a, choose(a < b, 1, 2)) + 1,
         "(if a == b then a else if a < b then 1 else 2) + 1"),
        (lambda a, b: Packet(a, Kind.ack), "Packet(a, Kind.ack)"),
        (lambda a, b: (a == b) == (b == 1), "(a == b) == (b == 1)"),
    ],
)  # fmt: skip
def test_operators_build_texts(build: Any, text: str) -> None:
    from headrace.net.expressions import text_of

    assert text_of(build(Expression("a"), Expression("b"))) == text


def test_mistakes_in_python_are_refused_at_once() -> None:
    net = Net("n")
    place = net.place("p", Packet)
    with net.transition("t") as t:
        token = t.take(place)
        with pytest.raises(AttributeError, match="no field 'numbr'; its fields are: number, kind"):
            _ = token.numbr
        with pytest.raises(TypeError, match="write & for and"):
            _ = token.number == 1 and token.number == 2
        with pytest.raises(TypeError, match="expected a number"):
            t.put(place, object())
        with pytest.raises(TypeError, match="finite"):
            t.put(place, float("nan"))
    with pytest.raises(ValueError, match="two elements called 'p'"):
        net.place("p")
    with pytest.raises(TypeError, match="is no colour"):
        net.place("q", list)
    with pytest.raises(ValueError, match=r"\.toml, \.json, \.cpn or \.pnml"):
        net.save("net.xml")


def test_errors_of_a_net_in_python_name_the_element() -> None:
    net = Net("n")
    place = net.place("p", Time, initial=[1.5])
    with net.transition("t") as t:
        token = t.take(place)
        t.when(token == Expression("'text'"))
    with pytest.raises(ScenarioError, match=r"^net n: transitions\.t\.when\.0: .*go together"):
        net.run(until=1.0)


def refused(ended: Any, *parts: str) -> None:
    """Check that a command refused its input, in one line with these parts."""
    assert ended.returncode == 2, ended.stderr
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    for part in parts:
        assert part in ended.stderr


def test_commands(headrace: Command, tmp_path: Path) -> None:
    ended = headrace("net", "run", NETS / "queue.toml", "--until", "1000 s", "--json")
    document = json.loads(ended.stdout)
    assert document["runs"][0]["stop"] == "time"
    ended = headrace("net", "run", NETS / "machine-repair.toml", "--until", "100000 s")
    assert "utilisation" in ended.stdout and "repair" in ended.stdout
    ended = headrace("net", "check", NETS / "philosophers.toml", "--space")
    assert ended.returncode == 1
    assert "1 of them with tokens that may not remain" in ended.stdout
    assert "5. philosophers/left (p = 4)" in ended.stdout
    ended = headrace("net", "check", NETS / "token-ring.toml", "--reach", "sends == 1")
    assert ended.returncode == 0
    assert "always " in ended.stdout and "after 2 firings" in ended.stdout
    picture = tmp_path / "net.svg"
    assert headrace("net", NETS / "common.toml", "-o", picture).returncode == 0
    assert "disk" in picture.read_text()
    page = tmp_path / "net.html"
    assert headrace("net", "draw", NETS / "queue.toml", "--load", "-o", page).returncode == 0
    copy = tmp_path / "queue.json"
    assert headrace("net", "export", NETS / "queue.toml", "-o", copy).returncode == 0
    assert load(copy).structure() == load(NETS / "queue.toml").structure()


def test_wrong_input_of_commands(headrace: Command, tmp_path: Path) -> None:
    queue = NETS / "queue.toml"
    refused(headrace("net", "export", queue, "-o", tmp_path / "net.xls"), ".cpn", ".json")
    refused(headrace("net", "export", queue, "-o", tmp_path / "net"), ".toml, .json")
    refused(headrace("net", queue, "-o", tmp_path / "net.png"), ".png", ".svg")
    refused(headrace("net", queue, "--set", "a=1", "-o", tmp_path / "n.svg"), "--set")
    refused(headrace("net", "run", queue, "--until", "never"), "--until never")
    refused(headrace("net", "run", queue, "--warmup", "20000 s"), "warmup")
    refused(headrace("net", "run", tmp_path / "none.toml"), "none.toml")
    refused(headrace("net", "check", queue, "--reach", "desk >"), "reach", "column 7")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(queue.read_text().replace('take = "desk"', 'take = "desc"'))
    line = wrong.read_text().splitlines().index('take = "desc"') + 1
    refused(headrace("net", "run", wrong), f"{wrong}:{line}:8: ", 'did you mean "desk"?')
    wrong.write_text("places = [")
    refused(headrace("net", "check", wrong), f"{wrong}:1:")


def test_the_example_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text("utf-8")
    names: dict[str, Any] = {}
    whole = [it for it in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "Net(" in it]
    for code in reversed(whole):
        names = {"__name__": "own_nets_example"}
        exec(compile(code, str(PAGE), "exec"), names)
    # A worker is idle for 4 s, then uses a machine for 10/3 s in all.
    assert 0.3 < names["result"]["machines"]["utilisation"] < 0.7
    assert load("workshop.toml").structure() == names["net"].model().structure()
    document = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)[0]
    Path("queue.toml").write_text(document)
    assert load("queue.toml").run(until=10.0).stop == "time"


def test_values_of_another_transition_are_refused() -> None:
    net = Net("two")
    first, second = net.place("first", int, initial=[1]), net.place("second", int, initial=[2])
    with net.transition("t") as t:
        taken = t.take(first)
        t.put(second, taken)
    with net.transition("u") as u:
        u.take(second)
        for use in (
            lambda: u.put(first, taken + 1),
            lambda: u.when(~(taken == 2)),
            lambda: u.let("number", least(taken, 3)),
        ):
            with pytest.raises(ValueError, match="value of the transition t"):
                use()


@pytest.mark.parametrize("command", ["run", "check", "play"])
def test_a_scenario_is_no_net(headrace: Command, command: str) -> None:
    ended = headrace("net", command, ROOT / "scenarios" / "straggler.toml")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1 and "but this is a scenario: headrace run" in ended.stderr
