"""Nets of one's own: written in Python, read from documents, run by commands."""

import contextlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command
from headrace import ScenarioError
from headrace.net import (
    EMPTY,
    Expression,
    Net,
    Time,
    choose,
    counter,
    least,
    load,
    marking,
    now,
    tokens,
)

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
    ended = headrace("net", "check", NETS / "philosophers.toml", "--state-space")
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
    refused(headrace("net", queue, "-o", tmp_path / "net.gif"), ".gif", ".svg")
    refused(headrace("net", queue, "--set", "a=1", "-o", tmp_path / "n.svg"), "--set")
    refused(headrace("net", "run", queue, "--until", "never"), "--until", "never")
    refused(headrace("net", "run", queue, "--warm-up", "20000 s"), "warmup")
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


def named_desk() -> tuple[Net, Any]:
    net = Net("office")
    return net, net.station("desk", int, service=1.0, initial=[1])


def put_a_name(net: Net, desk: Any) -> None:
    with net.transition("t") as t:
        t.put("desk", t.take(desk))  # type: ignore[arg-type]


def take_a_name(net: Net, _desk: Any) -> None:
    with net.transition("t") as t:
        t.take("desk")  # type: ignore[arg-type]


def connect_a_name(net: Net, desk: Any) -> None:
    net.connect("out", desk)  # type: ignore[arg-type]


def no_block(net: Net, desk: Any) -> None:
    net.transition("t").take(desk)


def no_block_of_a_page(net: Net, _desk: Any) -> None:
    net.page("inner").place("p")


def forgotten_block(net: Net, _desk: Any) -> None:
    net.transition("t")
    net.check()


def class_as_text(net: Net, _desk: Any) -> None:
    net.station("line", int, discipline="priority", service=1.0, class_="token")


def service_as_text(net: Net, _desk: Any) -> None:
    net.station("line", int, service="exponential(1 s)")


def condition_as_text(net: Net, desk: Any) -> None:
    with net.transition("t") as t:
        t.take(desk)
        t.when("desk > 1")


def deep_initial(net: Net, _desk: Any) -> None:
    value: Any = 1
    for _ in range(5000):
        value = [value]
    net.place("p", int, initial=value)


def deep_table(net: Net, _desk: Any) -> None:
    value: Any = 1
    for _ in range(5000):
        value = {"token": value}
    net.place("p", int, initial=[value])
    net.check()


def deep_pages(net: Net, _desk: Any) -> None:
    with contextlib.ExitStack() as blocks:
        page: Any = net
        for number in range(5000):
            page = blocks.enter_context(page.page(f"p{number}"))
    net.check()


def deep_expression(net: Net, desk: Any) -> None:
    with net.transition("t") as t:
        token = t.take(desk)
        for _ in range(5000):
            token = (token + 1) * 2
        t.put(desk, token)
    net.check()


def large_number(net: Net, _desk: Any) -> None:
    net.place("p", int, initial=[10**5000])


def large_number_of_servers(net: Net, _desk: Any) -> None:
    net.station("line", int, service=1.0, servers=10**400)
    net.check()


@pytest.mark.parametrize(
    ("write", "error", "message"),
    [
        (put_a_name, TypeError, r"office/t: put: 'desk' is a name: expected a place, station or"),
        (take_a_name, TypeError, r"office/t: take: 'desk' is a name: .* x = net.place\('desk'\)"),
        (connect_a_name, TypeError, r"office: connect: 'out' is a name: expected a port"),
        (no_block, AttributeError, r"with net.transition\('t'\) as t: …, and call t.take in it"),
        (no_block_of_a_page, AttributeError, r"with net.page\('inner'\) as p: …, and call p.place"),
        (forgotten_block, ValueError, r"net office: .* write with net.transition\('t'\) as t"),
        (
            class_as_text,
            TypeError,
            r"station\(…, class_\): 'token' is a text: .*net.token\(colour\)",
        ),
        (
            service_as_text,
            TypeError,
            r"service\): 'exponential\(1 s\)' is a text: .*exponential\(1.0",
        ),
        (
            condition_as_text,
            TypeError,
            r"office/t: when: 'desk > 1' is a text: expected a number or",
        ),
        (deep_initial, TypeError, "expected a number, a text"),
        (deep_table, ScenarioError, "expected at most 100 tables and lists within each other"),
        (deep_pages, ScenarioError, "expected at most 100 tables and lists within each other"),
        (deep_expression, ScenarioError, "expected at most 100 expressions within each other"),
        (large_number, TypeError, "expected a whole number of at most 64 bits"),
        (large_number_of_servers, ScenarioError, "stations.line.servers: expected a whole number"),
    ],
)
def test_mistakes_in_python_have_one_clear_error(
    write: Callable[[Net, Any], None], error: type[Exception], message: str
) -> None:
    net, desk = named_desk()
    with pytest.raises(error, match=message) as raised:
        write(net, desk)
    assert len(str(raised.value)) < 400


def test_names_with_a_slash_are_found() -> None:
    net = Net("in/out")
    box = net.place("I/O", initial=3)
    done = net.place("done", sink=True)
    with net.transition("read/write") as t:
        t.take(box)
        t.put(done)
    net.monitor("firings", counter(t))
    net.monitor("waiting", marking(tokens(box)))
    result = net.run()
    assert result["firings"]["count"] == 3
    # Initial tokens are arrivals.
    assert result["I/O"]["arrivals"] == 3
    assert net.play().fire("read/write").transition == "in/out/read/write"
    for text in ("I/O", "I//O"):
        assert net.state_space(reach=f'tokens("{text}") == 1').reached is not None
    with pytest.raises(ScenarioError, match=r'is called I: write tokens\("I/O"\)'):
        net.state_space(reach="I/O == 1")
    odd = Net("M/M/1")
    near, far = odd.place("d", initial=1), odd.place("P-2")
    for source, target in ((near, far), (far, near)):
        with odd.transition(f"from {source.name}") as t:
            t.take(source)
            t.put(target)
    odd.monitor("here", marking(near))
    assert odd.document()["monitors"]["here"]["value"] == 'tokens("d")'
    assert odd.state_space(reach=tokens(far) == 1).reached is not None
    with pytest.raises(ScenarioError, match=r'is called P; write tokens\("P-2"\)'):
        odd.state_space(reach="P-2 == 1")
    net.monitor("text", marking("I/O"))
    with pytest.raises(ScenarioError, match=r'monitors.text.value: .*write tokens\("I/O"\)'):
        net.check()


@pytest.mark.parametrize("ending", [".json", ".toml"])
def test_deep_documents_are_refused_with_their_place(
    ending: str, tmp_path: Path, headrace: Command
) -> None:
    deep = "[" * 5000 + "1" + "]" * 5000
    text = {
        ".json": f'{{"places": {{"p": {{"initial": {deep}}}}}}}',
        ".toml": f"[places.p]\ninitial = {deep}\n",
    }[ending]
    file = tmp_path / f"deep{ending}"
    file.write_text(text)
    ended = headrace("net", "check", file)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert re.match(rf"{re.escape(str(file))}:\d+:\d+: expected at most 80 tables", ended.stderr)
    assert len(ended.stderr.splitlines()) == 1


NUMBER_400 = "9" * 400


@pytest.mark.parametrize(
    "element",
    [
        f"places.a.initial = {NUMBER_400}",
        f'places.a.initial = "{NUMBER_400}"',
        f"stations.s.servers = {NUMBER_400}",
        f'stations.s.service = "{NUMBER_400} s"',
        f"transitions.t.weight = {NUMBER_400}",
        f"transitions.t.priority = {NUMBER_400}",
        f'monitors.m = {{ kind = "marking", value = "a + {NUMBER_400}" }}',
        f'monitors.m = {{ kind = "breakpoint", when = "a > 1", count = {NUMBER_400} }}',
        f"run.seed = {NUMBER_400}",
        f'run.until = "{NUMBER_400} s"',
        'values.large = "9223372036854775807 + 1"',
    ],
)
def test_large_numbers_are_refused_with_their_place(
    element: str, tmp_path: Path, headrace: Command
) -> None:
    file = tmp_path / "large.toml"
    file.write_text(
        f"{element}\n" + 'places.a.rest = true\n[transitions.t]\ntake = "a"\nput = "a"\n'
        if "transitions" not in element
        else f'{element}\ntransitions.t.take = "a"\ntransitions.t.put = "a"\nplaces.a.rest = true\n'
    )
    ended = headrace("net", "check", file)
    assert ended.returncode == 2, ended.stdout
    assert ended.stderr.startswith(f"{file}:1:")
    assert "internal error" not in ended.stderr


def test_weights_whose_sum_is_infinite_keep_their_ratio() -> None:
    net = Net("heavy", choice="random")
    a = net.place("a", initial=1)
    for number, weight in enumerate((1e308, 1e308, 1e308)):
        with net.transition(f"t{number}", weight=weight) as t:
            t.take(a)
            t.put(a, delay=1.0)
    result = net.run(3000.0)
    for number in range(3):
        # 1000 with a standard deviation of 26.
        assert 870 < result[f"t{number}"]["firings"] < 1130


def parallel(ways: int) -> str:
    """Two places, and transitions each way."""
    lines = ["[places.p]", "initial = 1", "[places.q]", "[transitions]"]
    for number in range(ways):
        lines.append(f'there{number} = {{ take = "p", put = "q" }}')
        lines.append(f'back{number} = {{ take = "q", put = "p" }}')
    return "\n".join(lines)


def test_equal_transitions_are_one_in_invariants(tmp_path: Path, headrace: Command) -> None:
    """120 transitions each way have 120 · 120 invariants, in one line for all."""
    file = tmp_path / "ways.toml"
    file.write_text(parallel(120))
    ended = headrace("net", "check", file, "--state-space", "--json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    invariants = document["invariants"]
    assert invariants["places"] == {"ways/p + ways/q": 1}
    assert invariants["transitions"] == ["ways/there0 + ways/back0"]
    assert [len(it) for it in invariants["alike"]] == [120, 120]
    assert invariants["not_computed"] == {}
    assert (document["state_space"]["states"], document["state_space"]["arcs"]) == (2, 240)


def test_too_many_invariants_are_named_and_the_state_space_follows(
    tmp_path: Path, headrace: Command
) -> None:
    """A ring of stages with two parallel places each has 2^20 sums."""
    file = tmp_path / "ring.toml"
    places = [f"[places.{side}{stage}]" for stage in range(20) for side in "ab"]
    places[0] += "\ninitial = 1"
    places[1] += "\ninitial = 1"
    steps = [
        f'step{stage} = {{ take = ["a{stage}", "b{stage}"], put = ["a{(stage + 1) % 20}",'
        f' "b{(stage + 1) % 20}"] }}'
        for stage in range(20)
    ]
    file.write_text("\n".join([*places, "[transitions]", *steps]))
    ended = headrace("net", "check", file, "--state-space")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert "not computed: sums of tokens: there are too many candidates" in lines
    assert any(it.startswith("20 markings, 20 arcs") for it in lines)


def two_locks(second: str) -> str:
    """Ten pairs of processes; those of a pair take two locks, one in the order of `second`."""
    lines = []
    for pair in range(10):
        first, last = f"a{pair}", f"b{pair}"
        lines += [f"[places.{lock}]\ninitial = 1" for lock in (first, last)]
        for process, order in (("p", (first, last)), ("q", tuple(f"{it}{pair}" for it in second))):
            idle, holds, both = (f"{process}{state}{pair}" for state in ("idle", "one", "two"))
            lines += [
                f"[places.{idle}]\ninitial = 1\nrest = true\n[places.{holds}]\n[places.{both}]"
            ]
            for name, take, put in (
                ("first", [idle, order[0]], [holds]),
                ("second", [holds, order[1]], [both]),
                ("free", [both], [idle, *order]),
            ):
                lines.append(f"[transitions.{process}{name}{pair}]\ntake = {take}\nput = {put}")
    return "\n".join(lines)


def test_a_search_for_a_deadlock_needs_few_markings(tmp_path: Path, headrace: Command) -> None:
    """A pair with opposite orders has 8 markings, ten of them 8^10; locks of equal order 7^10."""
    file = tmp_path / "locks.toml"
    file.write_text(two_locks("ba"))
    ended = headrace("net", "check", file, "--deadlock")
    assert ended.returncode == 1, ended.stderr
    lines = ended.stdout.splitlines()
    assert "deadlock, after 20 firings:" in lines
    assert "reduced to a net of" in ended.stdout and "and by stubborn sets" in ended.stdout
    space = load(file).state_space(deadlock=True)
    assert (space.deadlocks, space.states) == (1, 21)
    assert len(set(space.deadlock["firings"])) == 20
    ended = headrace("net", "check", file, "--deadlock", "--max-markings", "5")
    assert ended.returncode == 1
    assert "unknown: the limit ended the search" in ended.stdout.splitlines()
    file.write_text(two_locks("ab"))
    ended = headrace("net", "check", file, "--deadlock")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "no deadlock"
    assert load(file).state_space(deadlock=True).states < 1000


def test_a_search_for_a_deadlock_says_why_it_is_not_reduced(headrace: Command) -> None:
    """Tokens of the philosophers have data; the nearest deadlock is the same."""
    file = NETS / "philosophers.toml"
    ended = headrace("net", "check", file, "--deadlock")
    assert ended.returncode == 1, ended.stderr
    lines = ended.stdout.splitlines()
    assert "not reduced: tokens of philosophers/thinking have data" in lines
    assert "deadlock, after 5 firings:" in lines
    ended = headrace("net", "check", file, "--deadlock", "--holds", "AG(eating == 1)")
    assert ended.returncode == 2
    assert "expected --deadlock alone" in ended.stderr
    ended = headrace("net", "check", file, "--deadlock", "--reach", "eating == 1")
    assert "expected --deadlock alone, or --reduced with --reach" in ended.stderr
    with pytest.raises(ValueError, match="`reduced=True` with a condition to `reach`"):
        load(file).state_space(reduced=True)
    ended = headrace("net", "check", file, "--reach", "eating == 4", "--reduced")
    assert ended.returncode == 1 and "deadlock" not in ended.stdout
    held = load(file).state_space(holds="AG(EF(dead))").formulas
    assert [each["holds"] for each in held] == [True]


def test_a_marking_is_looked_for_in_a_part_of_them(tmp_path: Path, headrace: Command) -> None:
    """Ten pairs of locks of equal order have 7^10 markings; one process of a pair has both."""
    file = tmp_path / "locks.toml"
    file.write_text(two_locks("ab"))
    ended = headrace("net", "check", file, "--reach", "ptwo0 + qtwo0 == 2", "--reduced")
    assert ended.returncode == 1, ended.stderr
    assert ended.stdout.splitlines()[-1] == "no marking has the property ptwo0 + qtwo0 == 2"
    space = load(file).state_space(reach="ptwo0 == 1 and qtwo1 == 1", reduced=True)
    assert space.states < 20 and not space.complete
    assert sorted(space.reached["firings"]) == [
        f"locks/{name}" for name in ("pfirst0", "psecond0", "qfirst1", "qsecond1")
    ]
    assert {"locks/ptwo0", "locks/qtwo1"} <= {path for path, _ in space.reached["marking"]}


def test_values_that_are_alike_are_counted_once(tmp_path: Path, headrace: Command) -> None:
    """Seven clients that are idle or served have 2^7 markings, and 8 without their names."""
    file = tmp_path / "clients.toml"
    file.write_text(
        """
        [places.idle]
        colour = "int"
        initial = [1, 2, 3, 4, 5, 6, 7]
        [places.served]
        colour = "int"
        [transitions.serve]
        take = { place = "idle", token = "c" }
        put = { place = "served", token = "c" }
        [transitions.leave]
        take = { place = "served", token = "c" }
        put = { place = "idle", token = "c" }
        """
    )
    assert load(file).state_space().states == 2**7
    ended = headrace("net", "check", file, "--deadlock")
    assert ended.returncode == 0, ended.stderr
    first, *others = ended.stdout.splitlines()
    assert first.startswith("8 markings visited")
    assert others == [
        "reduced: markings that differ by 1 sort of alike values are one",
        "no deadlock",
    ]
    space = load(file).state_space(reach="served == 7", reduced=True)
    assert len(set(space.reached["firings"])) == 7
    one = load(file).state_space(reach="tokens('served', 3) == 1", reduced=True)
    assert one.reached["firings"] == ["clients/serve (c = 3)"]


@pytest.mark.parametrize(
    ("formula", "holds"),
    [
        ("EF(dead)", True),
        ("AG(EF(thinking == 5))", False),
        # A way without eating ends when all hold their left fork.
        ("AF(eating >= 1 or dead)", True),
        ("AF(eating >= 1)", False),
        ("EG(eating == 0)", True),
        ("A[eating == 0 U (eating >= 1 or dead)]", True),
        ("AG(eating <= 2) and EF(eating == 2)", True),
        ("AX(waiting == 1)", True),
        ("EX(eating == 1)", False),
        ('AG(not fires("right") or waiting >= 1)', True),
        ('EF(fires("finish") and dead)', False),
    ],
)
def test_formulas_of_five_philosophers(formula: str, holds: bool) -> None:
    net = load(NETS / "philosophers.toml")
    (held,) = net.state_space(holds=[formula]).formulas
    assert (held["formula"], held["holds"]) == (formula, holds)


def test_a_formula_that_does_not_hold_has_a_way_that_shows_it(headrace: Command) -> None:
    philosophers = NETS / "philosophers.toml"
    ended = headrace("net", "check", philosophers, "--holds", "AG(eating < 2)")
    assert ended.returncode == 1
    # Two firings of each of two philosophers.
    assert "a way that shows it, after 4 firings:" in ended.stdout
    ended = headrace("net", "check", philosophers, "--holds", "AG(eaten < 2)")
    refused(ended, 'holds = "AG(eaten < 2)"', "nothing here is called eaten")
