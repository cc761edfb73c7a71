"""Steady states of nets against the rational numbers that Storm computes.

They are those of the Quantitative Verification Benchmark Set (QComp, ctmc/*/results/Storm.exact),
rounded to 64 bits. The nets here are other writings of the same chains.
"""

from collections.abc import Callable

import pytest

from headrace.net import Net, load
from headrace.net.model import from_document
from test_net_solution import NETS, near


def test_kanban() -> None:
    document = load(NETS / "kanban.toml").document()
    solution = from_document(document | {"values": {"kanbans": 1}}, "kanban").solve()
    assert solution["in"]["throughput"] == near(0.0925846346333826)


@pytest.mark.parametrize(
    ("stations", "markings", "waiting"),
    [(3, 36, 0.1308020365834841), (4, 96, 0.14119036379818742), (6, 576, 0.14573191126269974)],
)
def test_cyclic_polling(stations: int, markings: int, waiting: float) -> None:
    # Ibe and Trivedi 1990: stations of one buffer, of which a server polls one after another.
    net = Net("polling")
    polls = [net.place(f"poll{at}", initial=int(at == 0)) for at in range(stations)]
    for at, poll in enumerate(polls):
        after = polls[(at + 1) % stations]
        serve, full = net.place(f"serve{at}"), net.place(f"full{at}")
        with net.transition(f"arrive{at}") as t:
            t.timed(rate=1.0 / stations)
            t.inhibit(full)
            t.put(full)
        with net.transition(f"pass{at}") as t:
            t.timed(rate=200.0)
            t.take(poll)
            t.inhibit(full)
            t.put(after)
        with net.transition(f"begin{at}") as t:
            t.timed(rate=200.0)
            t.take(poll)
            t.read(full)
            t.put(serve)
        with net.transition(f"end{at}") as t:
            t.timed(rate=1.0)
            t.take(serve)
            t.take(full)
            t.put(after)
    solution = net.solve(conditions=["full0 == 1 and serve0 == 0"])
    assert solution.markings == markings
    assert solution["full0 == 1 and serve0 == 0"]["probability"] == near(waiting)


def test_a_tandem_of_queues_with_coxian_service() -> None:
    # Hermanns, Meyer-Kayser and Siegle 1999, with room for five customers in each queue.
    room = 5
    net = Net("tandem")
    first, second = net.place("first"), net.place("second")
    phases = [net.place("phase1", initial=1), net.place("phase2")]
    with net.transition("arrive") as t:
        t.timed(rate=4.0 * room)
        t.inhibit(first, count=room)
        t.put(first)
    with net.transition("change") as t:
        t.timed(rate=0.2)
        t.read(first)
        t.take(phases[0])
        t.put(phases[1])
    for phase, rate in zip(phases, (1.8, 2.0), strict=True):
        with net.transition(f"route from {phase.name}") as t:
            t.timed(rate=rate)
            t.take(first)
            t.take(phase)
            t.inhibit(second, count=room)
            t.put(second)
            t.put(phases[0])
    with net.transition("leave") as t:
        t.timed(rate=4.0)
        t.take(second)
    solution = net.solve()
    assert solution.markings == 66
    inside = solution["first"]["mean_inside"] + solution["second"]["mean_inside"]
    assert inside == near(5.679249959967679)


@pytest.mark.parametrize(
    ("parts", "markings", "productivity"),
    [(1, 54, 13.85312833622229), (2, 810, 29.154698799657936)],
)
def test_a_flexible_manufacturing_system(parts: int, markings: int, productivity: float) -> None:
    # Ciardo and Trivedi 1993. Parts wait on pallets of which there are 3 parts / 2: each of k
    # waiting parts moves at the rate min(1, pallets / k).
    pallets = 3 * parts // 2
    net = Net("fms")
    waiting = net.place("waiting", initial=3 * parts)
    initial = {"P1": parts, "P2": parts, "P3": parts, "M1": 3, "M2": 1, "M3": 2}
    names = (
        "P1 P2 P3 P12 M1 M2 M3 P1M1 P1wM1 P1s P1wP2 P2M2 P2wM2 P2s P2wP1 P3M2 P3s P12M3 P12wM3 P12s"
    )
    place = {
        name: net.place(name, initial=initial.get(name, 0))
        for name in (names + " P1tM1 P2tM2 P12tM3").split()
    }
    counted: dict[str, list[str]] = {}

    def move(
        name: str, takes: str, puts: str, rate: float = 0.0, servers: str | int = 1, **other: str
    ) -> None:
        with net.transition(name) as t:
            if rate:
                t.timed(rate=rate, servers=servers)
            for word in takes.split():
                t.take(place[word])
            for word in other.get("without", "").split():
                t.inhibit(place[word])
            for word in other.get("read", "").split():
                t.read(place[word])
            for word in puts.split():
                t.put(place[word])
            arc: Callable[..., object] = t.take
            for word in (takes, puts):
                for _ in set(word.split()) & {"P1", "P2", "P3", "P12"}:
                    arc(waiting)
                arc = t.put
            number = other.get("waiting")
            if number is not None:
                t.read(waiting, count=int(number))
                t.inhibit(waiting, count=int(number) + 1)

    for part, machine in (("P1", "M1"), ("P2", "M2"), ("P3", None), ("P12", "M3")):
        for number in range(1, 3 * parts + 1):
            rate = min(1.0, pallets / number)
            names_of = counted.setdefault(part, [])
            cases = (
                [
                    ("free", f"{part}t{machine}", "", machine),
                    ("busy", f"{part}w{machine}", machine, ""),
                ]
                if machine
                else [("free", "P3M2", "", "")]
            )
            for case, puts, without, read in cases:
                name = f"start {part} {case} {number}"
                names_of.append(name)
                where = {"without": without, "read": read, "waiting": str(number)}
                move(name, part, puts, rate, "infinite", **where)
        if machine:
            # The machine itself would limit the rate of the parts.
            move(f"seize {machine}", f"{part}t{machine} {machine}", f"{part}{machine}")
    # A machine that ends with a part takes one that waits for it, if there is one: then all
    # machines of the kind are busy.
    for part, machine, number, ship, join, other in (
        ("P1", "M1", 3, 0.2, 0.05, "P2"),
        ("P2", "M2", 1, 0.1, 1 / 15, "P1"),
    ):
        at, queue, theirs = f"{part}{machine}", f"{part}w{machine}", f"{other}w{part}"
        place[f"joins{part}"] = net.place(f"joins{part}")
        for end, takes, put, without, servers in (
            ("free", at, machine, queue, "infinite"),
            ("next", queue, "", "", 1),
        ):
            many = 1 if end == "free" else number
            move(
                f"ship {part} {end}", takes, f"{put} {part}s", many * ship, servers, without=without
            )
            puts = f"{put} {part}w{other}"
            without += f" {theirs}"
            move(f"wait {part} {end}", takes, puts, many * join, servers, without=without)
            puts, without = f"{put} joins{part}", without.removesuffix(theirs)
            move(
                f"join {part} {end}",
                takes,
                puts,
                many * join,
                servers,
                without=without,
                read=theirs,
            )
        move(f"joined {part}", f"joins{part} {theirs}", "P12")
    move("P3M2 end", "P3M2", "P3s", 0.5, read="M2")
    move("P12M3 free", "P12M3", "M3 P12s", 1.0, "infinite", without="P12wM3")
    move("P12M3 next", "P12wM3", "P12s", 2.0)
    # Shipped parts come back together: one in 60 minutes, the others at once with it.
    for part in ("P1", "P2", "P3", "P12"):
        back = net.place(f"back {part}")
        place[f"back {part}"] = back
        targets = [place[part], waiting]
        if part == "P12":
            targets = [place["P1"], place["P2"], waiting, waiting]
        for name in (f"return {part}", f"all {part}"):
            with net.transition(name) as t:
                t.take(place[f"{part}s"])
                if name.startswith("return"):
                    t.timed(rate=1 / 60)
                    t.inhibit(back)
                    t.put(back)
                else:
                    t.read(back)
                for target in targets:
                    t.put(target)
        with net.transition(f"returned {part}") as t:
            t.take(back)
            t.inhibit(place[f"{part}s"])
    solution = net.solve()
    value = {"P1": 400, "P2": 600, "P3": 100, "P12": 1100}
    total = sum(
        value[part] * solution[name]["throughput"]
        for part, each in counted.items()
        for name in each
    )
    assert total == near(productivity)
    assert solution.tangible == markings
