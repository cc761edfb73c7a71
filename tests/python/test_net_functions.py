"""Functions in Python as guards, actions and service times of nets."""

import os
import signal
import threading
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from random import Random
from typing import Any

import pytest

from headrace import RunError
from headrace._core import replication_seed
from headrace.net import Net, Time, below, exponential, now


class Size(Enum):
    small = 0
    large = 1


@dataclass
class Job:
    number: int
    size: Size
    born: Time
    weight: float = field(kw_only=True)


def workshop(seen: list[int] | None = None) -> Net:
    """Three workers with jobs that Python makes, and whose times it draws."""
    net = Net("workshop")
    idle = net.station(
        "idle", int, discipline="infinite", service=exponential(4.0), initial=[0, 1, 2]
    )

    def minutes(token: Job, random: Random) -> float:
        return random.expovariate(1 / 3) * (2 if token.size is Size.large else 1)

    def make(idle: int, now: Any, random: Random) -> Job:
        return Job(idle, random.choice(list(Size)), now, weight=random.random())

    machines = net.station("machines", Job, servers=2, service=minutes)
    took, weight = net.probe("took"), net.probe("weight")
    with net.transition("begin") as t:
        t.take(idle)
        t.put(machines, t.let("job", make, Job))
    with net.transition("end") as t:
        job = t.take(machines, name="job")
        if seen is not None:
            t.action(lambda job: seen.append(job.number))
        t.put(idle, job.number)
        t.record(took, now() - job.born)
        t.record(weight, job.weight)
    return net


def filter_net(**use: Any) -> Net:
    """Ten numbers, of which a guard or let of Python's decides."""
    net = Net("filter")
    numbers = net.place("number", int, initial=list(range(10)))
    passed = net.place("passed", int, sink=True)
    with net.page("inner") as page, page.transition("pass") as t:
        number = t.take(numbers)
        if "when" in use:
            t.when(use["when"])
        if "let" in use:
            number = t.let("value", use["let"], int)
        t.put(passed, number)
    return net


def test_values_of_all_colours_come_and_go() -> None:
    seen: list[int] = []
    result = workshop(seen).run(until=5000.0)
    assert set(seen) == {0, 1, 2}
    assert len(seen) == result["took"]["count"]
    # Half of the jobs take twice as long as 3 s.
    assert 4.0 < result["machines"]["service"] < 5.0
    assert 0.45 < result["weight"]["mean"] < 0.55


def test_results_follow_from_the_seed() -> None:
    model = workshop().model()
    first, again, other = (model.run(until=500.0, seed=seed) for seed in (1, 1, 2))
    assert first.runs == again.runs
    assert first.runs != other.runs
    both = model.run(until=500.0, seed=1, replications=2)
    second = model.run(until=500.0, seed=replication_seed(1, 1))
    assert both.runs == [*first.runs, *second.runs]
    # Experiments with adjacent seeds share no run.
    assert other.runs[0] not in both.runs


def test_a_guard_chooses_tokens() -> None:
    result = filter_net(when=lambda number: number % 3 == 0).run()
    assert result["passed"]["arrivals"] == 4
    assert result.stop == "deadlock"


def fails(number: int) -> int:
    if number == 3:
        raise KeyError("three")
    return number


def returns_text(number: int) -> Any:
    return f"{number}"


def line_of(text: str) -> int:
    lines = Path(__file__).read_text("utf-8").splitlines()
    return next(at for at, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize("use", ["when", "let"])
def test_an_exception_ends_the_run_with_its_place(use: str) -> None:
    with pytest.raises(RunError) as caught:
        filter_net(**{use: fails if use == "let" else lambda number: fails(number) >= 0}).run()
    place = f"{__file__}:{line_of('raise KeyError')}: filter/inner/pass: "
    assert str(caught.value).startswith(place)
    assert "raised KeyError: 'three'" in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("use", "function", "text"),
    [
        ("let", returns_text, "returns_text() returned '0': expected an int"),
        ("let", lambda: 1.5, "returned 1.5: expected an int"),
        ("when", returns_text, "returns_text() returned '0': expected a bool"),
    ],
)
def test_a_value_of_another_type_is_refused(use: str, function: Any, text: str) -> None:
    with pytest.raises(RunError, match="filter/inner/pass: ") as caught:
        filter_net(**{use: function}).run()
    assert text in str(caught.value)


@pytest.mark.parametrize("time", [-1.0, float("nan"), "1 s"])
def test_a_service_time_that_is_none_is_refused(time: Any) -> None:
    net = Net("n")
    desk = net.station("desk", service=lambda: time, initial=1)
    with net.transition("leave") as t:
        t.take(desk)
        t.put(net.place("left", sink=True))
    with pytest.raises(RunError, match=r"n/desk: <lambda>\(\) returned .*expected a time in sec"):
        net.run()


def test_parameters_are_names_of_tokens() -> None:
    with pytest.raises(TypeError, match=r"filter/inner/pass: .* 'numbr': .*number"):
        filter_net(let=lambda numbr: numbr)
    with pytest.raises(TypeError, match="a guard depends on tokens only"):
        filter_net(when=lambda number, random: random.random() < number)
    with pytest.raises(TypeError, match="take the \\* before it out"):
        filter_net(let=lambda *, number: number)
    assert filter_net(let=lambda number, more=2: number + more).run()["passed"]["arrivals"] == 10
    with pytest.raises(TypeError, match="'now'"):
        filter_net(when=lambda now: now > 1)
    net = Net("n")
    place = net.place("p", initial=1)
    with net.transition("t") as t:
        t.take(place)
        with pytest.raises(TypeError, match="needs its colour"):
            t.let("x", lambda: 1)
        t.put(place)


def test_documents_and_state_spaces_refuse_functions(tmp_path: Path) -> None:
    net = workshop()
    for name in ("net.toml", "net.json"):
        with pytest.raises(ValueError, match=r"no functions in Python: service time minutes\(\)"):
            net.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="let make"):
        net.document()
    with pytest.raises(RunError, match=r"state spaces refuse .* of workshop/machines"):
        net.state_space()
    assert net.check()["functions"] == [
        "service time minutes() of workshop/machines",
        "let make() of workshop/begin",
    ]
    drawing = net.svg()
    assert "minutes()" in drawing and "make()" in drawing


def test_ctrl_c_ends_an_endless_function() -> None:
    def endless(number: int) -> int:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True:
            number += 1

    with pytest.raises(KeyboardInterrupt):
        filter_net(let=endless).run()


def test_a_run_within_a_function_is_refused() -> None:
    model: Any = None
    net = filter_net(let=lambda number: model.run() and number)
    model = net.model()
    with pytest.raises(RunError, match="this net is running already"):
        model.run()
    # The other net's run is its own.
    other = Net("other")
    place = other.place("p", initial=1)
    with other.transition("t") as t:
        t.take(place)
        t.put(other.place("q", int, sink=True), t.let("x", below(3)))
    assert filter_net(let=lambda number: other.run().stop == "quiet" and number).run()
