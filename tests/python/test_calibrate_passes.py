"""Several measurements within a round: their order, their middle, and what follows from them."""

import os

import pytest

from headrace._core import RunError
from headrace.calibrate.calibration import Step, in_rounds, in_turn, of_round
from headrace.calibrate.case import Bound
from headrace.calibrate.equations.equation import Equation
from headrace.calibrate.measured import _solved
from headrace.calibrate.middle import middle


def test_the_middle_of_passes_is_their_mean_but_for_a_disturbed_one() -> None:
    assert middle([3.0]) == 3.0
    assert middle([1.0, 2.0]) == 1.5
    # Of two speeds seen as often it lies between, where a median of three or five is one of them.
    assert middle([1.0, 1.4, 1.0, 1.4]) == pytest.approx(1.2)
    # By hand: of the ten means of 1, 1, 9 and 1 six are 1, three are 5, and one is 9.
    assert middle([1.0, 1.0, 9.0, 1.0]) == 1.0
    # One of three or of five decides nothing either.
    assert middle([1.0, 1.2, 1e6]) == 1.2
    assert middle([1.0, 1.0, 1e6, 1.0, 1.0]) == 1.0


def step(name: str, bound: Bound) -> Step:
    return Step(name, bound, lambda: None)


def test_passes_are_spread_over_a_round() -> None:
    steps = [step("a", "cache"), step("d1", "device"), step("b", "cache"), step("d2", "device")]
    assert [it.name for it in of_round(steps, 1)] == ["a", "b", "d1", "d2"]
    assert [it.name for it in of_round(steps, 2)] == ["a", "b", "d1", "a", "b", "d2"]
    # Though there is nothing to put between some of them.
    assert [it.name for it in of_round(steps, 3)] == ["a", "b", "a", "b", "d1", "a", "b", "d2"]


def test_calibration_and_cases_take_turns() -> None:
    probes = [step(name, "cache") for name in "ab"] + [step(name, "device") for name in "cdef"]
    cases = [step("A", "cache"), step("B", "device"), step("C", "device")]
    for first, second in ((probes, cases), (cases, probes)):
        order = in_turn(first, second)
        assert sorted(it.name for it in order) == sorted("abcdefABC")
        assert [it.name for it in order if it.bound == "cache"] == ["a", "A", "b"]
        assert [it.name for it in order if it.bound == "device"] == ["c", "B", "d", "e", "C", "f"]


def test_what_is_measured_next_is_told_with_how_much_there_is() -> None:
    steps = [step("a", "cache"), step("d1", "device")]
    seen: list[tuple[int, int, str]] = []
    ends = in_rounds(steps, "", 2, 2, lambda *it: seen.append(it))
    assert next(ends) == 0
    assert seen == [(0, 6, "a"), (1, 6, "a"), (2, 6, "d1")]
    assert list(ends) == [1]
    assert seen[3:] == [(3, 6, "a"), (4, 6, "a"), (5, 6, "d1")]


def test_a_parameter_is_what_the_middles_of_the_rounds_times_give() -> None:
    quotient = Equation(
        (), lambda times, _: {"quotient": times["dividend"] / times["divisor"]}, "a quotient", {}
    )
    dividends, divisors = (1.0, 2.0, 2.0), (1.0, 0.5, 2.0)
    times = [
        {"dividend": one, "divisor": other} for one, other in zip(dividends, divisors, strict=True)
    ]
    found = _solved(times, [], [quotient])[0]
    # The middle of the rounds' own is 1.
    assert (found.value, found.values) == (2.0, (1.0, 4.0, 1.0))

    def told_by_large_ones(times: dict[str, float], _: object) -> dict[str, float]:
        return {"dividend": times["dividend"]} if times["divisor"] > 0.7 else {}

    partly = Equation((), told_by_large_ones, "what not all rounds tell", {})  # type: ignore[arg-type]
    found = _solved(times, [], [partly])[0]
    assert (found.value, found.values) == (1.5, (1.0, 1.5, 2.0))
    assert found.method.endswith("2 of 3 rounds tell it")


def test_no_passes_are_refused() -> None:
    with pytest.raises(ValueError, match="passes = 0: expected 1 or more"):
        next(in_rounds([step("a", "cache")], "", 2, 0))


def test_what_a_round_gives_goes_with_what_it_gave_before() -> None:
    call = Equation((), lambda times, _: {"call": times["empty"]}, "an empty call", {})
    page = Equation((), lambda times, known: {"page": times["full"] - known["call"]}, "a page", {})
    # In the second round everything took twice as long.
    times = [{"empty": 1.0, "full": 3.0}, {"empty": 2.0, "full": 6.0}]
    found = {it.field: it for it in _solved(times, [], [call, page])}
    assert found["page"].values == (2.0, 4.0)
    assert found["page"].value == 3.0


def test_one_process_is_measured_on_each_processor_in_turn() -> None:
    before = os.sched_getaffinity(0)
    on: dict[str, list[set[int]]] = {"cached": [], "device": [], "several": []}

    def noted(name: str, bound: Bound, processes: int = 1) -> Step:
        return Step(name, bound, lambda: on[name].append(os.sched_getaffinity(0)), processes)

    steps = [
        noted("cached", "cache"),
        noted("device", "device"),
        noted("several", "device", 2),
    ]
    for _ in in_rounds(steps, "", 4, 2):
        assert os.sched_getaffinity(0) == before
    assert on["several"] == [before] * 4
    for name, turns in (("cached", 8), ("device", 4)):
        chosen = [it for (it,) in on[name]]
        times = [chosen.count(it) for it in set(chosen)]
        assert len(chosen) == turns and len(times) == min(len(before), turns)
        assert max(times) - min(times) <= 1
    with pytest.raises(RunError):
        list(in_rounds([Step("fails", "device", fail)], "", 1, 1))
    assert os.sched_getaffinity(0) == before


def fail() -> None:
    raise RunError("no room")
