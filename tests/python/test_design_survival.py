"""The reliability engine through Python: answers, wrong questions, progress, interruption."""

import json
from typing import Any

import pytest

from headrace import _core

HOUR = 3600.0


def question(**changes: Any) -> dict[str, Any]:
    """RAID-6 of 8 disks, 1e6 h and 12 h, ten years."""
    made: dict[str, Any] = {
        "redundancy": {"kind": "array", "disks": 8, "tolerates": 2},
        "lifetime": {"law": {"kind": "exponential", "mean": 1e6 * HOUR}},
        "repair": {"rebuild": {"kind": "exponential", "mean": 12 * HOUR}},
        "horizons": [87_600 * HOUR],
    }
    made.update(changes)
    return made


def ask(asked: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(_core.reliability(json.dumps(asked)))
    return answer


def test_raid6_of_eight_by_each_method() -> None:
    chain = ask(question(method="markov"))
    assert chain["horizons"][0]["loss_probability"] == pytest.approx(2.118504098e-9, rel=1e-9)
    assert ask(question())["method"] == "markov"
    formula = ask(question(method="closed-form"))["horizons"][0]["loss_probability"]
    assert formula == pytest.approx(2.1185e-9, rel=1e-3)
    simulated = ask(question(method="monte-carlo"))["horizons"][0]
    assert simulated["standard_error"] <= 0.01 * simulated["loss_probability"]
    distance = abs(simulated["loss_probability"] - 2.118504098e-9)
    assert distance < 4.5 * simulated["standard_error"]
    assert simulated["low"] < simulated["loss_probability"] < simulated["high"]


def test_an_answer_says_what_it_assumes() -> None:
    sentences = ask(question())["assumptions"]
    assert any("parallel" in sentence for sentence in sentences)
    assert any("Not in the loss probability" in sentence for sentence in sentences)
    assert all(len(sentence.split()) <= 25 for sentence in sentences)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"redundancy": {"kind": "array", "disks": 3, "tolerates": 3}},
            "redundancy: 3 disks cannot survive 3 failures",
        ),
        ({"horizons": []}, "horizons: expected at least one"),
        ({"horizons": [0]}, "horizons: 0: expected more than 0"),
        ({"disk": {"bit_error_rate": 1.5}}, "disk.bit_error_rate: 1.5"),
        ({"unknown": 1}, "unknown field `unknown`"),
        ({"method": "guess"}, "unknown variant `guess`"),
        (
            {
                "redundancy": {"kind": "declustered", "disks": 40, "data": 8, "parity": 2},
                "batches": {"disks": 8, "bad_share": 0.1, "bad_factor": 10},
                "method": "monte-carlo",
            },
            "batches: not modelled for declustered pools",
        ),
    ],
)
def test_wrong_questions_are_refused_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(_core.ScenarioError) as refused:
        ask(question(**changes))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def long_question() -> str:
    """A question that takes far longer than a test should."""
    simulation = {"missions": 100_000_000}
    return json.dumps(question(method="monte-carlo", simulation=simulation))


def test_progress_is_reported_and_can_break_off() -> None:
    parts: list[float] = []

    def stop(part: float) -> None:
        parts.append(part)
        if len(parts) > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.reliability(long_question(), stop)
    assert parts == sorted(parts)
    assert all(0 <= part <= 1 for part in parts)


def test_an_error_of_the_callback_is_the_callers() -> None:
    def fail(part: float) -> None:
        raise LookupError(f"at {part}")

    with pytest.raises(LookupError, match="at [0-9]"):
        _core.reliability(long_question(), fail)
