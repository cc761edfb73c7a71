"""Source transitions, read, inhibitor and reset arcs, exponential times, and numerical solutions
against closed forms and runs."""

import json
from fractions import Fraction
from math import comb, exp, expm1, factorial, prod
from typing import Any

import pytest

from conftest import ROOT, Command
from headrace import RunError, ScenarioError
from headrace.net import Net, NetSolution, bernoulli, exponential, load
from headrace.net.model import from_document

NETS = ROOT / "scenarios" / "nets"


def near(value: Any) -> Any:
    """Return a value, or values, to nine digits."""
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def bounded_queue(arrivals: float, services: float, servers: int, room: int) -> Net:
    """M/M/c/K: a source that an inhibitor arc holds, and a transition with c servers."""
    net = Net("queue")
    queue = net.place("queue")
    with net.transition("arrive") as t:
        t.timed(rate=arrivals)
        t.inhibit(queue, count=room)
        t.put(queue)
    with net.transition("serve") as t:
        t.timed(rate=services, servers=servers)
        t.take(queue)
    return net


@pytest.mark.parametrize(("servers", "room"), [(1, 5), (1, 60), (3, 7)])
def test_a_bounded_queue_has_the_closed_form(servers: int, room: int) -> None:
    # p(n) is in proportion to a^n / n! up to c customers, and times a / c for each more.
    load_ = 0.8 * servers
    weights = [
        load_**n / factorial(min(n, servers)) / servers ** max(0, n - servers)
        for n in range(room + 1)
    ]
    total = sum(weights)
    solution = bounded_queue(load_ * 2.0, 2.0, servers, room).solve(conditions=[f"queue == {room}"])
    assert (solution.markings, solution.tangible) == (room + 1, room + 1)
    expected = sum(n * weight for n, weight in enumerate(weights)) / total
    assert solution["queue"]["mean_inside"] == near(expected)
    lost = weights[room] / total
    assert solution[f"queue == {room}"]["probability"] == near(lost)
    assert solution["arrive"]["throughput"] == near(load_ * 2.0 * (1 - lost))
    assert solution["serve"]["throughput"] == near(load_ * 2.0 * (1 - lost))


def test_machines_and_their_repairer() -> None:
    # p(k) of k broken machines is in proportion to n! / (n - k)! f^k; f = 1/10.
    solution = load(NETS / "machine-repair.toml").solve()
    weights = [factorial(5) / factorial(5 - k) * 0.1**k for k in range(6)]
    total = sum(weights)
    assert solution["repair"]["utilisation"] == near(1 - 1 / total)
    assert solution["repair"]["mean_inside"] == near(
        sum(k * weight for k, weight in enumerate(weights)) / total
    )
    assert solution["running"]["utilisation"] is None
    assert solution["finish"]["throughput"] == near((1 - 1 / total) / 60)


def closed_network(customers: int) -> Net:
    """A closed network of a processor, two disks of which one is chosen, and a think time."""
    net = Net("closed")
    thinking = net.station(
        "thinking", discipline="infinite", service=exponential(5.0), initial=customers
    )
    processor = net.station("processor", discipline="sharing", service=exponential(0.5))
    disks = [net.station(f"disk{n}", service=exponential(mean)) for n, mean in enumerate((0.8, 2))]
    with net.transition("submit") as t:
        t.take(thinking)
        t.put(processor)
    with net.transition("compute") as t:
        t.take(processor)
        first = t.let("first", bernoulli(0.7))
        t.put(disks[0], when=first)
        t.put(disks[1], when=~first)
    for number, disk in enumerate(disks):
        with net.transition(f"finish{number}") as t:
            t.take(disk)
            t.put(thinking)
    return net


def test_a_closed_network_has_product_form() -> None:
    # Demands by station; an infinite one divides by the factorial (BCMP 1975).
    demands, customers = (5.0, 0.5, 0.7 * 0.8, 0.3 * 2.0), 6
    states = [
        (a, b, c, customers - a - b - c)
        for a in range(customers + 1)
        for b in range(customers + 1 - a)
        for c in range(customers + 1 - a - b)
    ]
    weights = {
        state: prod(d**n for d, n in zip(demands, state, strict=True)) / factorial(state[0])
        for state in states
    }
    total = sum(weights.values())
    solution = closed_network(customers).solve()
    assert solution.markings == comb(customers + 3, 3)
    for at, name in enumerate(("thinking", "processor", "disk0", "disk1")):
        mean = sum(state[at] * weight for state, weight in weights.items()) / total
        assert solution[name]["mean_inside"] == near(mean)
    busy = sum(weight for state, weight in weights.items() if state[3]) / total
    assert solution["disk1"]["utilisation"] == near(busy)
    assert solution["finish1"]["throughput"] == near(busy / 2.0)


RATES = [3e-9, 2e9, 5e-4, 7e8, 1e-9, 4e3, 9e9, 2e-7]


@pytest.mark.parametrize("turn", range(8))
def test_rates_that_differ_by_orders_of_magnitude(turn: int) -> None:
    # Births and deaths: sums of rates lose the small ones.
    births, deaths = RATES[turn:] + RATES[:turn], RATES[::-1]
    net = Net("births and deaths")
    places = [net.place(f"p{state}", initial=int(state == 0)) for state in range(9)]
    for state in range(8):
        for name, rate, step in (("birth", births, (0, 1)), ("death", deaths, (1, 0))):
            with net.transition(f"{name}{state}") as t:
                t.timed(rate=rate[state])
                t.take(places[state + step[0]])
                t.put(places[state + step[1]])
    solution = net.solve()
    ratios = [Fraction(b) / Fraction(d) for b, d in zip(births, deaths, strict=True)]
    weights = [prod(ratios[:state]) for state in range(9)]
    for state, weight in enumerate(weights):
        assert solution[f"p{state}"]["mean_inside"] == near(float(weight / sum(weights)))


def test_ends_and_times_of_a_net_with_fast_firings() -> None:
    # Half of the time is spent in the marking that the token leaves, whatever the fast rates.
    net = Net("leak")
    places = [net.place(name, initial=int(name == "a"), sink=name in "cd") for name in "abcd"]
    for source, target, rate in ((0, 1, 1e9), (1, 0, 1e9), (1, 2, 1e-9), (1, 3, 3e-9)):
        with net.transition(f"from {source} to {target}") as t:
            t.timed(rate=rate)
            t.take(places[source])
            t.put(places[target])
    solution = net.solve([1e7])
    assert [row["mean_inside"] for row in solution.rows("nodes")][2:4] == near([0.25, 0.75])
    assert solution.nodes.filter(time=1e7)["mean_inside"][3] == near(-0.75 * expm1(-2e-2))


def test_a_loop_without_time_that_hardly_ends_is_refused() -> None:
    net = Net("loop", choice="random")
    a, b, c = net.place("a", initial=1), net.place("b"), net.place("c", sink=True)
    for name, source, target, weight in (("x", a, b, 1e17), ("y", b, a, 1.0), ("z", a, c, 1.0)):
        with net.transition(name, weight=weight) as t:
            t.take(source)
            t.put(target)
    with pytest.raises(ValueError, match="weights that differ less"):
        net.solve()


def test_a_transient_of_two_states() -> None:
    # p(t) = f / (f + r) (1 - exp(-(f + r) t)) of a component with failures f and repairs r.
    net = Net("component")
    up, down = net.place("up", initial=1), net.place("down")
    for source, target, rate in ((up, down, 0.5), (down, up, 2.0)):
        with net.transition(f"leave {source.name}") as t:
            t.take(source)
            t.timed(rate=rate)
            t.put(target)
    times = [0.0, 0.1, 1.0, 1000.0]
    solution = net.solve(times)
    rows = [row for row in solution.rows("nodes") if row["path"] == "component/down"]
    assert [row["time"] for row in rows] == [None, *times]
    for row in rows[1:]:
        assert row["mean_inside"] == near(0.2 * (1 - exp(-2.5 * row["time"])))
    assert NetSolution.from_document(solution.document).rows("nodes") == solution.rows("nodes")


def test_weights_of_immediate_transitions_are_eliminated() -> None:
    # A token waits 1 s, then goes left with weight 3 of 4 for 2 s, or right for 4 s: a round takes
    # 1 + 1.5 + 1 = 3.5 s.
    net = Net("routes", choice="random")
    start, fork = net.place("start", initial=1), net.place("fork")
    with net.transition("go") as t:
        t.take(start)
        t.timed(delay=exponential(1.0))
        t.put(fork)
    for name, weight, mean in (("left", 3.0, 2.0), ("right", 1.0, 4.0)):
        way = net.place(name)
        with net.transition(f"turn {name}", weight=weight) as t:
            t.take(fork)
            t.put(way)
        with net.transition(f"end {name}") as t:
            t.take(way)
            t.timed(rate=1.0 / mean)
            t.put(start)
    solution = net.solve()
    assert (solution.markings, solution.tangible) == (4, 3)
    assert solution["left"]["mean_inside"] == near(1.5 / 3.5)
    assert solution["turn right"]["throughput"] == near(0.25 / 3.5)
    assert solution["fork"]["mean_inside"] == 0.0
    first = Net("first")
    fork, left = first.place("fork", initial=1), first.place("left", sink=True)
    right = first.place("right", sink=True)
    for way in (left, right):
        with first.transition(f"turn {way.name}") as t:
            t.take(fork)
            t.put(way)
    # Without a random choice the first fires, as in a run.
    assert first.solve()["left"]["mean_inside"] == 1.0


def test_absorbing_markings_and_several_ends() -> None:
    # Of two ways with rates 1 and 3, a quarter of the tokens ends on the first.
    net = Net("ends")
    start = net.place("start", initial=1)
    for name, rate in (("a", 1.0), ("b", 3.0)):
        end = net.place(name, sink=True)
        with net.transition(f"to {name}") as t:
            t.take(start)
            t.timed(rate=rate)
            t.put(end)
    solution = net.solve([0.5])
    assert solution["a"]["mean_inside"] == near(0.25)
    assert solution["to a"]["throughput"] == 0.0
    after = [row["mean_inside"] for row in solution.rows("nodes") if row["time"] == 0.5]
    assert after == near([exp(-2.0), 0.25 * (1 - exp(-2.0)), 0.75 * (1 - exp(-2.0))])


def test_the_published_state_spaces_of_kanban() -> None:
    # Ciardo and Tilgner 1996: 160 and 4,600 markings with one and two kanbans a cell; 616 and
    # 28,120 arcs in the documentation of PRISM.
    document = load(NETS / "kanban.toml").document()
    for kanbans, markings, arcs in ((1, 160, 616), (2, 4600, 28120)):
        model = from_document(document | {"values": {"kanbans": kanbans}}, "kanban")
        space = model.state_space()
        assert (space.states, space.arcs, space.components) == (markings, arcs, 1)
        solution = model.solve()
        assert solution.markings == markings
        rates = [solution[name]["throughput"] for name in ("in", "split", "join", "out")]
        assert rates == near([rates[0]] * 4)
        # The in-house flows of a cell balance too.
        assert solution["redo2"]["throughput"] == near(solution["repair2"]["throughput"])


@pytest.mark.parametrize("name", ["kanban", "bounded-queue", "machine-repair"])
def test_runs_agree_with_the_solution(name: str) -> None:
    model = load(NETS / f"{name}.toml")
    solution = model.solve()
    until = 1e6 if name == "machine-repair" else 4000.0
    result = model.run(until, warmup=100.0, replications=10)
    for row in result.rows("nodes"):
        exact = solution[row["path"]]["mean_inside"]
        # Twice the half width: one interval of twenty does not contain its mean.
        assert abs(row["mean_inside"] - exact) <= 2 * row["mean_inside_half_width"] + 1e-9
    for row in result.rows("transitions"):
        exact = solution[row["path"]]["throughput"]
        assert abs(row["throughput"] - exact) <= 2 * row["throughput_half_width"] + 1e-9


def coloured() -> Net:
    """Two tokens that work with rates of their own, and pause for 1 s."""
    net = Net("coloured")
    jobs, done = net.place("jobs", int, initial=[2, 4]), net.place("done", int)
    with net.transition("work") as t:
        job = t.take(jobs)
        t.timed(rate=job * 1.0)
        t.put(done, job)
    with net.transition("again") as t:
        job = t.take(done)
        t.timed(rate=1.0)
        t.put(jobs, job)
    return net


def test_each_choice_of_tokens_races() -> None:
    # A token that works with rate r and then pauses for 1 s is at work for 1/r of 1/r + 1.
    assert coloured().solve()["jobs"]["mean_inside"] == near(0.5 / 1.5 + 0.25 / 1.25)


def test_arcs_that_read_and_reset_in_python() -> None:
    net = Net("arcs")
    a, key = net.place("a", initial=4), net.place("key", int, initial=[7])
    out = net.place("out", int, sink=True)
    with net.transition("flush") as t:
        number = t.read(key, name="number")
        t.take(a)
        t.reset(a)
        t.put(out, number)
    play = net.play()
    fired = play.step()
    assert fired is not None
    assert fired.binding == {"number": 7}
    assert {tokens.place: tokens.token for tokens in play.marking} == {
        "arcs/key": 7,
        "arcs/out": 7,
    }
    assert net.state_space(reach="a == 0 and key == 1").states == 2
    drawn = net.svg()
    assert ">read<" in drawn
    assert ">reset<" in drawn
    assert "<circle" in bounded_queue(1.0, 1.0, 1, 3).svg()


def test_an_unbounded_place_is_named_with_its_firings() -> None:
    net = Net("leak")
    free, busy = net.place("free", initial=2), net.place("busy")
    log = net.place("log", sink=True)
    with net.transition("begin") as t:
        t.take(free)
        t.put(busy)
    with net.transition("end") as t:
        t.take(busy)
        t.put(free)
        t.put(log)
    space = net.state_space()
    assert not space.complete
    assert space.unbounded["places"] == ["leak/log"]
    assert space.unbounded["path"]["firings"] == ["leak/begin", "leak/end"]
    assert space.unbounded["repeated"] == 2
    words = " ".join(space.sentences())
    assert "not bounded: leak/log" in words
    assert "number 1 on can be repeated" in words
    # A bound, an inhibitor and data forbid the conclusion.
    assert net.state_space(reach="log == 5").reached is not None
    assert bounded_queue(1.0, 1.0, 1, 3).state_space().unbounded is None
    source = Net("source")
    made = source.place("made", sink=True)
    with source.transition("make") as t:
        t.put(made)
    assert source.state_space().unbounded["path"]["firings"] == ["source/make"]
    with pytest.raises(RunError, match="takes nothing and would fire forever"):
        source.run(1.0)


def test_a_transient_solution_ends_at_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    net = bounded_queue(1.0, 1.0, 1, 500)
    assert net.solve([10.0]).document["transient"][0]["time"] == 10.0
    monkeypatch.setattr("headrace.net.solution.MOST_WORK", 1e6)
    with pytest.raises(ValueError, match=r"at = 1000: 2\.02e\+03 jumps of 501 markings"):
        net.solve([1000.0])


def test_what_a_solution_refuses() -> None:
    fixed = Net("fixed")
    desk = fixed.station("desk", service=1.0, initial=1)
    with fixed.transition("again") as t:
        t.take(desk)
        t.put(desk)
    with pytest.raises(RunError, match="fixed/desk: a numerical solution needs exponential"):
        fixed.solve()
    loop = Net("loop")
    place = loop.place("place", initial=1)
    with loop.transition("round") as t:
        t.take(place)
        t.put(place)
    with pytest.raises(ValueError, match="while time stands still"):
        loop.solve()
    with pytest.raises(RunError, match="more than 10 markings"):
        bounded_queue(1.0, 1.0, 1, 30).solve(limit=10)
    with pytest.raises(ValueError, match="at = -1"):
        bounded_queue(1.0, 1.0, 1, 3).solve([-1.0])
    with pytest.raises(ScenarioError, match="a rate of 0 per second"):
        bounded_queue(0.0, 1.0, 1, 3).solve()


def test_the_command(headrace: Command) -> None:
    file = NETS / "bounded-queue.toml"
    asked = ("net", "solve", file, "--at", "1s", "--where", "queue == room")
    shown = headrace(*asked).stdout
    assert "in the steady state" in shown
    assert "at 1 s:" in shown
    document = json.loads(headrace(*asked, "--json").stdout)
    assert document["kind"] == "net-solution"
    assert document["transient"][0]["time"] == 1.0
    assert 0.0 < document["steady"]["probabilities"][0]["probability"] < 1.0
