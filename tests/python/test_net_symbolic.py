"""Markings counted by decision diagrams: published numbers, and those of the search one by one."""

import json
import random

import pytest

from conftest import ROOT, Command
from headrace import RunError, ScenarioError
from headrace.net import Net, StateSpace, load
from headrace.net.model import from_document

NETS = ROOT / "scenarios" / "nets"


def random_net(seed: int) -> Net:
    """A net of few places, with weights and inhibitor, read and reset arcs."""
    drawn = random.Random(seed)
    net = Net("drawn")
    places = [
        net.place(f"p{at}", initial=drawn.randrange(4), rest=drawn.random() < 0.7)
        for at in range(drawn.randrange(2, 6))
    ]
    for at in range(drawn.randrange(1, 6)):
        with net.transition(f"t{at}") as t:
            for place in drawn.sample(places, drawn.randrange(1, min(3, len(places)) + 1)):
                t.take(place, count=drawn.randrange(1, 3))
            for place in drawn.sample(places, drawn.randrange(min(3, len(places) + 1))):
                t.put(place, count=drawn.randrange(1, 3))
            if drawn.random() < 0.3:
                t.inhibit(drawn.choice(places), count=drawn.randrange(1, 4))
            if drawn.random() < 0.3:
                t.read(drawn.choice(places), count=drawn.randrange(1, 3))
            if drawn.random() < 0.2:
                t.reset(drawn.choice(places))
    return net


def figures(space: StateSpace) -> tuple[object, ...]:
    fired = [transition["arcs"] for transition in space.transitions]
    return space.states, space.arcs, space.dead, space.deadlocks, space.bound_of, fired


def test_nets_have_the_figures_of_the_search_one_by_one() -> None:
    compared = 0
    for seed in range(150):
        net = random_net(seed)
        try:
            space = net.state_space(2_000)
        except ScenarioError:
            # Nothing takes from a place.
            continue
        if space.complete:
            assert figures(net.symbolic_space()) == figures(space), seed
            compared += 1
    assert compared > 50


@pytest.mark.parametrize(("kanbans", "markings"), [(5, 2_546_432), (10, 1_005_927_208)])
def test_the_published_state_spaces_of_kanban(kanbans: int, markings: int) -> None:
    document = load(NETS / "kanban.toml").document() | {"values": {"kanbans": kanbans}}
    assert from_document(document, "kanban").symbolic_space().states == markings


def test_a_dead_marking_is_shown() -> None:
    net = Net("forks")
    forks = [net.place(f"fork{at}", initial=1) for at in range(60)]
    for at, left in enumerate(forks):
        right = forks[(at + 1) % 60]
        waits, eats = net.place(f"waits{at}"), net.place(f"eats{at}")
        for name, takes, puts in (
            ("left", [left], [waits]),
            ("right", [waits, right], [eats]),
            ("end", [eats], [left, right]),
        ):
            with net.transition(f"{name}{at}") as t:
                for place in takes:
                    t.take(place)
                for place in puts:
                    t.put(place)
    space = net.symbolic_space()
    assert (space.dead, space.deadlocks) == (1, 1)
    # One thinks, has its left fork, or eats; beside one that eats, the next thinks. The rings of
    # 60 are the trace of the 60th power of the matrix of such pairs.
    pairs = [[1, 1, 1], [1, 1, 1], [1, 0, 0]]
    power = [[int(row == column) for column in range(3)] for row in range(3)]
    for _ in range(60):
        power = [
            [sum(row[k] * pairs[k][column] for k in range(3)) for column in range(3)]
            for row in power
        ]
    assert space.states == sum(power[at][at] for at in range(3))
    assert [place for place, _ in space.deadlock["marking"]] == [
        f"forks/waits{at}" for at in range(60)
    ]
    sentences = "\n".join(space.sentences())
    assert f"{space.states:.6e} markings" in sentences
    assert "a dead marking:\n  forks/waits0: 1 token\n" in sentences


def test_the_command(headrace: Command) -> None:
    kanban = NETS / "kanban.toml"
    ended = headrace("net", "check", kanban, "--symbolic")
    assert "4,600 markings, 28,120 arcs" in ended.stdout
    space = json.loads(headrace("net", "check", kanban, "--symbolic", "--json").stdout)
    assert space["state_space"]["states"] == 4600
    ended = headrace("net", "check", kanban, "--symbolic", "--holds", "AG(free1 == 0)")
    assert ended.returncode == 2
    assert "leave out" in ended.stderr


def test_nets_of_more_than_plain_tokens_are_refused() -> None:
    with pytest.raises(RunError, match="tokens of philosophers/thinking have data"):
        load(NETS / "philosophers.toml").symbolic_space()


@pytest.mark.parametrize(
    "condition",
    [
        "p0 >= 2",
        "p0 + p1 == 3 or p0 > 2 * p1 + 1",
        "not (p1 - p0 < 1) and p0 != 2",
        'tokens("drawn/p1") * 3 <= 4 - p0',
        "-1 < p0 - 2 * p1 or false",
        "p0 == p1 and 0 * p0 == 0",
    ],
)
def test_conditions_hold_in_the_markings_of_the_search_one_by_one(condition: str) -> None:
    compared = 0
    for seed in range(60):
        net = random_net(seed)
        try:
            space = net.state_space(2_000, reach=condition, holds=[condition])
        except ScenarioError:
            continue
        if space.complete:
            symbolic = net.symbolic_space(reach=condition)
            assert symbolic.having == space.formulas[0]["markings"], seed
            assert (symbolic.reached is None) == (space.reached is None), seed
            compared += 1
    assert compared > 20


def test_conditions_that_are_no_sums() -> None:
    net = load(NETS / "kanban.toml")
    assert net.symbolic_space(reach="free1 + work1 + back1 + done1 != 2").reached is None
    with pytest.raises(RunError, match="expected comparisons of sums such as"):
        net.symbolic_space(reach="free1 * free2 == 4")
    with pytest.raises(ScenarioError, match="free9"):
        net.symbolic_space(reach="free9 == 4")


def test_stations_and_folded_pages() -> None:
    machines = load(NETS / "machine-repair.toml")
    assert figures(machines.symbolic_space()) == figures(machines.state_space())
    net = Net("cells")
    with net.page("cell", copies=3) as line:
        ready, busy = line.place("ready", initial=2), line.place("busy")
        for name, before, after in (("begin", ready, busy), ("end", busy, ready)):
            with line.transition(name) as t:
                t.take(before)
                t.put(after)
    space = net.symbolic_space()
    assert space.states == 3**3
    assert figures(space) == figures(net.state_space())


def test_a_place_without_bound_is_named() -> None:
    net = Net("grows")
    one, many = net.place("one", initial=1), net.place("many", sink=True)
    with net.transition("grow") as t:
        t.take(one)
        t.put(one)
        t.put(many)
    with pytest.raises(RunError, match="grows/many has 65,536 tokens or no bound"):
        net.symbolic_space()
