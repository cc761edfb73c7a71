"""Hot spares: the formula against sums, a simulation and its limits."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Command
from headrace.cli.app import run
from headrace.design.reliability import ask
from headrace.design.reliability.laws import found_probability
from headrace.design.reliability.question import (
    Array,
    Constant,
    Exponential,
    Lifetime,
    Question,
    Repair,
    Simulation,
    Spares,
    Weibull,
)
from headrace.design.spares import advise, fewest_spares, simulate
from headrace.quantities import DAY, HOUR, YEAR


def poisson_below(spares: int, mean: float) -> float:
    return math.fsum(
        math.exp(-mean + n * math.log(mean) - math.lgamma(n + 1)) for n in range(spares)
    )


@given(spares=st.integers(0, 60), mean=st.floats(1e-6, 50))
def test_the_formula_is_a_sum_of_poisson_terms(spares: int, mean: float) -> None:
    assert found_probability(spares, mean) == pytest.approx(
        poisson_below(spares, mean), rel=1e-9, abs=1e-12
    )


@given(mean=st.floats(1e-6, 500), wanted=st.floats(0.01, 0.999999))
def test_one_spare_fewer_is_too_few(mean: float, wanted: float) -> None:
    spares = fewest_spares(mean, wanted)
    assert found_probability(spares, mean) >= wanted
    assert spares == 1 or found_probability(spares - 1, mean) < wanted


@settings(max_examples=10, deadline=None)
@given(disks=st.integers(10, 500), days=st.integers(1, 60), shelves=st.integers(1, 5))
def test_the_simulation_agrees(disks: int, days: int, shelves: int) -> None:
    mttf, restocking = 100_000 * HOUR, days * DAY
    advice = advise(disks=disks, mttf=mttf, restocking=restocking, target=0.9, pools=shelves)
    found = simulate(
        advice,
        disks=disks,
        lifetime=Exponential(mttf),
        restocking=restocking,
        years=10,
        missions=200,
        seed=1,
    )
    for row in found.rows:
        if row.simulated is not None and row.standard_error:
            assert abs(row.simulated - row.probability) <= 5 * row.standard_error + 1e-3


def test_disks_that_age_together_need_more_spares() -> None:
    law = Weibull(4.0, 40_000 * HOUR)
    restocking = 30 * DAY
    advice = advise(disks=2000, mttf=36_000 * HOUR, restocking=restocking, target=0.99)
    found = simulate(
        advice,
        disks=2000,
        lifetime=law,
        restocking=restocking,
        years=6,
        missions=20,
        seed=1,
    )
    chosen = next(it for it in found.rows if it.spares == advice.per_pool)
    assert chosen.simulated is not None and chosen.simulated < 0.95


def test_the_command_compares_shelves_with_all(tmp_path: Path, headrace: Command) -> None:
    arguments = ["design", "spares", "--disks", 480, "--shelves", 30, "--mttf", "1000000 h"]
    arguments += ["--restock", "14 d", "--probability", "0.99", "--missions", 100]
    ended = headrace(*arguments, "--json", "--plot", tmp_path / "spares.png")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    # 480 disks x 336 h / 1e6 h = 0.161 on order.
    assert document["missing"] == pytest.approx(0.16128)
    assert (document["spares"], document["other"]["spares"]) == (3, 30)
    assert document["probability"] == pytest.approx(poisson_below(3, 0.16128))
    assert (tmp_path / "spares.png").stat().st_size > 10_000
    of_shelf = json.loads(headrace(*arguments, "--per-shelf", "--json").stdout)
    assert (of_shelf["spares"], of_shelf["per_pool"]) == (30, 1)
    again = headrace(*arguments, "--json")
    assert again.stdout == ended.stdout
    shown = headrace(*arguments)
    assert "3 hot spares, for all shelves together" in shown.stdout


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--disks": "0"}, "--disks"),
        ({"--mttf": "0 h"}, '--mttf "0 h": expected a time'),
        ({"--mttf": "nan h"}, '--mttf "nan h": expected a time'),
        ({"--mttf": "-5 h"}, "it must not be negative"),
        ({"--mttf": "5 parsecs"}, "parsecs is no unit"),
        ({"--restock": "14"}, "the unit is missing"),
        ({"--probability": "1"}, "expected a probability between 0 and 1"),
        ({"--probability": "-0.1"}, "expected a probability between 0 and 1"),
        ({"--shelves": "481"}, "expected no more shelves than --disks 480"),
        ({"--lifetime": "weibull:1,5h"}, "expected either --mttf"),
        ({"--years": "0"}, "expected a number above 0"),
        ({"--failure-factor": "nan"}, "expected a number above 0"),
        ({"--mttf": "1 s", "--disks": "1000000"}, "expected fewer disks"),
    ],
)
def test_wrong_input_is_one_line(
    capsys: pytest.CaptureFixture[str], changes: dict[str, str], message: str
) -> None:
    options = {"--disks": "480", "--mttf": "1000000 h", "--restock": "14 d"} | changes
    assert run(["design", "spares", *[word for pair in options.items() for word in pair]]) == 2
    ended = capsys.readouterr()
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    assert message in ended.err


@pytest.mark.parametrize(("count", "groups"), [(1, 0), (3, 0), (1, 1)])
def test_the_engine_agrees(count: int, groups: int) -> None:
    """The missions of the reliability engine find as many spares: 30 shelves of 16 disks."""
    mttf, restocking = 100_000 * HOUR, 14 * DAY
    question = Question(
        # An array that loses nothing, so that every mission runs to its end.
        redundancy=Array(16, 15),
        groups=30,
        lifetime=Lifetime(Exponential(mttf)),
        repair=Repair(
            rebuild=Constant(60.0),
            replacement=Constant(restocking),
            spares=Spares(count, Constant(restocking), groups),
        ),
        horizons=(20 * YEAR,),
        method="monte-carlo",
        simulation=Simulation(seed=3, missions=1000, biasing=False),
    )
    counts = ask(question).counts
    assert counts is not None
    disks = 480 if groups == 0 else 16
    found = 1 - counts.waits_for_spare / counts.failures
    # All spares are there when a mission begins: a little more are found.
    assert found == pytest.approx(found_probability(count, disks * restocking / mttf), abs=0.005)


def test_a_pool_may_have_fewer_failures_than_spares() -> None:
    advice = advise(
        disks=10, mttf=1e6 * HOUR, restocking=14 * DAY, target=0.9999, pools=2, pooling="per-shelf"
    )
    simulated = simulate(
        advice,
        disks=10,
        lifetime=Exponential(1e6 * HOUR),
        restocking=14 * DAY,
        years=5,
        missions=500,
        seed=1,
    )
    for it in simulated.rows:
        assert it.simulated is not None and it.standard_error is not None
        assert abs(it.simulated - it.probability) <= 4 * it.standard_error
