"""Reliability through the command: golden values, agreement of the methods, wrong inputs."""

import json
import math
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Command
from headrace.cli.app import run
from headrace.design.reliability import ask
from headrace.design.reliability.laws import (
    hazard,
    mean_seconds,
    parse_duration,
    parse_lifetime,
    read_error_probability,
)
from headrace.design.reliability.question import (
    Array,
    Bathtub,
    Constant,
    Exponential,
    HazardTable,
    Lifetime,
    Method,
    Question,
    Repair,
    Simulation,
    Weibull,
)
from headrace.quantities import HOUR, YEAR, parse_probability, parse_time

RELIABILITY = ("design", "reliability", "--json")


def answered(headrace: Command, options: str, *more: object) -> dict[str, Any]:
    ended = headrace(*RELIABILITY, *options.split(), *more)
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert isinstance(document, dict)
    return document


GOLDEN = [
    ("--level raid1 --disks 2", "1e6 h", "12 h", 2.102034128e-6),
    ("--copies 2", "1e6 h", "12 h", 2.102034128e-6),
    ("--level raid5 --disks 8", "1e6 h", "12 h", 5.884681365e-5),
    ("--level raid6 --disks 8", "1e6 h", "12 h", 2.118504098e-9),
    ("--data 6 --parity 2", "1e6 h", "12 h", 2.118504098e-9),
    ("--level raid6 --disks 8 --repair serial", "1e6 h", "12 h", 4.236565392e-9),
    ("--level raid5 --disks 8", "1e5 h", "24 h", 0.01165953728),
]


@pytest.mark.parametrize(("what", "mttf", "mttr", "loss"), GOLDEN)
def test_golden_loss_probabilities(
    headrace: Command, what: str, mttf: str, mttr: str, loss: float
) -> None:
    found = answered(headrace, what, "--mttf", mttf, "--mttr", mttr, "--years", 10)
    assert found["loss_probability"] == pytest.approx(loss, rel=2e-9)
    assert (found["standard_error"], found["years"]) == (0, 10)


def test_options_of_a_simulation_make_one(headrace: Command) -> None:
    options = "--level raid5 --disks 8 --mttf 1e5h --mttr 24h"
    found = answered(headrace, options, "--missions", 500, "--years", 10)
    assert (found["method"], found["missions"]) == ("monte-carlo", 500)
    assert abs(found["loss_probability"] - 0.01165953728) < 5 * found["standard_error"]


MTTDL = [
    ("--level raid5 --disks 8", "1e5 h", "24 h", 7_467_261.905),
    ("--level raid6 --disks 8 --repair serial", "1e5 h", "24 h", 5.184401918e9),
    ("--level raid6 --disks 8", "1e5 h", "24 h", 1.036131991e10),
    ("--level raid0 --disks 8", "1e5 h", "24 h", 12_500),
    # Patterson, Gibson and Katz 1988: 100 mirrors; groups of 10 + 1 disks, printed 820,000.
    ("--level raid1 --groups 100", "30000 h", "1 h", 4_500_000),
    ("--level raid5 --disks 11 --groups 10", "30000 h", "1 h", 818_182),
    # Elerath and Pecht 2007: 36,162 years.
    ("--level raid5 --disks 8", "461386 h", "12 h", 36_162 * 8760),
]


@pytest.mark.parametrize(("what", "mttf", "mttr", "hours"), MTTDL)
def test_golden_mean_times(
    headrace: Command, what: str, mttf: str, mttr: str, hours: float
) -> None:
    found = answered(headrace, what, "--mttf", mttf, "--mttr", mttr)
    # The old papers round to three digits, and leave (2n - 1) lambda out.
    assert found["mttdl_seconds"] / 3600 == pytest.approx(hours, rel=1e-3)


def test_read_errors_of_a_rebuild(headrace: Command) -> None:
    options = "--level raid5 --disks 8 --mttf 1e6h --mttr 24h --capacity 2TB"
    found = answered(headrace, options, "--bit-error-rate", 1e-14, "--read-error-loses", "array")
    assert found["mttdl_seconds"] / YEAR == pytest.approx(21.182, abs=6e-4)
    without = answered(headrace, options)
    assert without["mttdl_seconds"] / YEAR == pytest.approx(84_968, rel=1e-5)
    preset = answered(
        headrace,
        *[
            "--level",
            "raid5",
            "--disks",
            "8",
            "--disk-class",
            "hindman-2011-desktop",
            "--mttr",
            "24h",
        ],
    )
    assert preset["read_error_probability"] == pytest.approx(0.68, abs=5e-3)


def test_probability_of_a_read_error_keeps_its_digits() -> None:
    assert read_error_probability(7 * 2e12, 1e-14) == pytest.approx(0.6737, abs=5e-5)
    assert read_error_probability(2e12, 1e-15) == pytest.approx(0.01587, abs=5e-6)
    # 1 - (1 - 1e-16)^bits has an error of 11 %.
    assert read_error_probability(1e12, 1e-16) == pytest.approx(8e-4, rel=1e-3)


def test_a_stripe_or_the_array_is_lost(headrace: Command) -> None:
    options = "--level raid5 --disks 8 --mttf 1e6h --mttr 24h --capacity 2TB"
    options += " --bit-error-rate 1e-14"
    stripe, array = (answered(headrace, options, "--read-error-loses", it) for it in LOSES)
    assert stripe["loss_probability"] == pytest.approx(array["loss_probability"], rel=0.01)
    assert stripe["nomdl"] < 1e-2 * array["nomdl"]


LOSES = ("stripe", "array")


def test_the_calculator_that_drops_powers_is_not_followed(headrace: Command) -> None:
    found = answered(headrace, "--level raid6 --disks 6 --mttf 1e6h --mttr 24h")
    # 3.47e8 h by a web calculator; parallel repair gives twice 1.45e13 h.
    assert found["mttdl_seconds"] / 3600 == pytest.approx(2 * 1.45e13, rel=0.01)


def test_keys_of_the_document(headrace: Command) -> None:
    found = answered(headrace, "--level raid6 --disks 8 --mttf 1e6h --mttr 12h")
    assert list(found)[:8] == [
        "kind",
        "version",
        "loss_probability",
        "mttdl_seconds",
        "nomdl",
        "standard_error",
        "method",
        "assumptions",
    ]
    assert [it["horizon_seconds"] / YEAR for it in found["horizons"]] == [1, 5, 10]
    assert found["loss_probability"] == found["horizons"][-1]["loss_probability"]
    assert all(isinstance(it, str) for it in found["assumptions"])


def test_monte_carlo_is_within_three_standard_errors(headrace: Command) -> None:
    options = "--level raid5 --disks 8 --mttf 1e5h --mttr 24h --years 10"
    found = answered(headrace, options, "--method", "monte-carlo", "--relative-error", 0.02)
    assert found["method"] == "monte-carlo"
    assert abs(found["loss_probability"] - 0.01165953728) < 3 * found["standard_error"]
    assert found["interval"][0] < found["loss_probability"] < found["interval"][1]
    again = answered(headrace, options, "--method", "monte-carlo", "--relative-error", 0.02)
    assert again == found


def test_the_table_the_explanation_and_the_plot(headrace: Command, tmp_path: Path) -> None:
    options = "--level raid6 --disks 8 --disk-class hindman-2011 --mttr 12h --explain"
    ended = headrace("design", "reliability", *options.split(), "--plot", tmp_path / "loss.png")
    assert ended.returncode == 0, ended.stderr
    for words in ("RAID-6 of 8 disks", "MTTDL: ", "Assumptions", "Hindman 2011, table 3.2", "T0 ="):
        assert words in ended.stdout
    assert (tmp_path / "loss.png").stat().st_size > 10_000


def question(disks: int, tolerates: int, mttf: float, mttr: float, method: Method) -> Question:
    return Question(
        redundancy=Array(disks, tolerates),
        lifetime=Lifetime(Exponential(mttf * HOUR)),
        repair=Repair(rebuild=Exponential(mttr * HOUR)),
        horizons=(10 * YEAR,),
        method=method,
        simulation=Simulation(seed=5, relative_error=0.05, disk_years=2e7),
    )


METHODS: tuple[Method, ...] = ("markov", "closed-form", "monte-carlo")


@settings(max_examples=8, deadline=None)
@given(
    disks=st.integers(3, 12),
    parity=st.integers(1, 2),
    mttf=st.floats(2e4, 2e6),
    mttr=st.floats(2, 200),
)
def test_all_methods_agree(disks: int, parity: int, mttf: float, mttr: float) -> None:
    chain, formula, simulated = (
        ask(question(disks, parity, mttf, mttr, it))
        for it in ("markov", "closed-form", "monte-carlo")
    )
    exact = chain.horizons[0].loss_probability
    assert formula.mttdl_seconds == pytest.approx(chain.mttdl_seconds, rel=1e-6)
    assert formula.horizons[0].loss_probability == pytest.approx(exact, rel=0.05)
    found = simulated.horizons[0]
    # Several examples: five standard errors.
    assert abs(found.loss_probability - exact) <= 5 * found.standard_error + 1e-3 * exact


@given(hours=st.floats(1, 1e9))
def test_times_are_parsed(hours: float) -> None:
    assert parse_time(f"{hours!r} h") == pytest.approx(hours * 3600)
    assert parse_time(f"{hours!r}hours") == pytest.approx(hours * 3600)


def test_times_in_every_unit() -> None:
    for text in ("1 y", "365 d", "8760 h", "12 months", "525,600 min", "3.1536e7 s"):
        assert parse_time(text) == pytest.approx(YEAR)
    assert parse_probability("99 %") == pytest.approx(0.99)


@given(text=st.text(max_size=20))
def test_any_text_is_a_quantity_or_refused(text: str) -> None:
    for parse in (parse_time, parse_probability, parse_lifetime, parse_duration):
        try:
            parse(text)
        except ValueError as error:
            assert str(error).startswith("expected a")


def test_laws_are_parsed() -> None:
    assert parse_lifetime("weibull:1.12,461386h") == Weibull(1.12, 461386 * HOUR)
    assert parse_duration("12 h") == Exponential(12 * HOUR)
    assert parse_duration("constant:12h") == Constant(12 * HOUR)
    assert mean_seconds(parse_duration("weibull:2,12h,6h")) / HOUR == pytest.approx(
        6 + 12 * math.gamma(1.5)
    )
    bathtub = parse_lifetime("bathtub:0.6,2000000h/1200000h/4,80000h")
    assert isinstance(bathtub, Bathtub)
    ages = [hazard(bathtub)(it * YEAR) for it in (0.1, 4, 9)]
    assert ages[1] < ages[0] < ages[2]
    table = parse_lifetime("table:0y=0.05,1y=0.014,4y=0.12")
    assert isinstance(table, HazardTable)
    assert hazard(table)(2 * YEAR) == pytest.approx(0.014 / YEAR)


WRONG = [
    ("", "what keeps the data safe is not given"),
    ("--level raid6 --disks 2", "expected 4 or more"),
    ("--level raid6", "expected --disks"),
    ("--level raid10 --disks 7", "expected a multiple of the 2 copies"),
    ("--level raid7 --disks 8", "raid7"),
    ("--disks 4 --data 8 --parity 4", "12"),
    ("--disks 4 --data 2 --parity 4", "leave no data"),
    ("--data 0 --parity 4", "--data 0: expected"),
    ("--data 8 --parity -1", "--parity -1: expected"),
    ("--data 8", "expected both --data and --parity"),
    ("--copies 0", "--copies 0: expected"),
    ("--level raid5 --disks -3", "--disks -3: expected"),
    ("--level raid5 --disks 8 --data 3", "expected --disks without --data"),
    ("--level draid --disks 8 --data 8 --parity 2", "needs as many disks"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_impossible_redundancy_is_one_line(
    capsys: pytest.CaptureFixture[str], options: str, message: str
) -> None:
    refused(capsys, message, *options.split(), "--mttf", "1e6 h", "--mttr", "12 h")


WRONG_VALUES = [
    # Options that would have no effect.
    ({"--replace-manner": "staggered"}, "--replace-manner: expected --replace-age"),
    ({"--spare-groups": "2"}, "--spare-groups: expected --spares"),
    ({"--rebuild-share": "0.5"}, "--rebuild-share: expected --rebuild-rate"),
    ({"--method": "markov", "--missions": "10"}, "--method markov beside"),
    # Numbers that the engine cannot hold.
    ({"--groups": "99999999999999"}, "Invalid value for '--groups'"),
    ({"--spares": "99999999999999", "--restock": "9 d"}, "Invalid value for '--spares'"),
    ({"--seed": "99999999999999999999"}, "Invalid value for '--seed'"),
    ({"--missions": "99999999999999999999"}, "Invalid value for '--missions'"),
    ({"--batches": "99999999999,0.5,2"}, "--batches"),
    ({"--domain": "shelf:99999999999,1 y,1 h"}, "--domain"),
    ({"--plot": "loss.bmp"}, "loss.bmp: expected a file of .png"),
    ({"--mttf": "0 h"}, '--mttf "0 h": expected a time'),
    ({"--mttf": "-1 h"}, "it must not be negative"),
    ({"--mttf": "nan h"}, '--mttf "nan h": expected a time'),
    ({"--mttf": "inf h"}, '--mttf "inf h": expected a time'),
    ({"--mttf": "1e6"}, "the unit is missing"),
    ({"--mttf": "1e6 furlongs"}, "furlongs is no unit"),
    ({"--mttr": "0 h"}, '--mttr "0 h"'),
    ({"--mttr": None}, "how long a failed disk takes is not given"),
    ({"--mttf": None}, "how disks fail is not given"),
    ({"--lifetime": "weibull:1,5h"}, "--mttf beside --lifetime"),
    ({"--mttf": None, "--lifetime": "weibull:1"}, "expected a lifetime such as"),
    ({"--mttf": None, "--lifetime": "weibull:nan,5h"}, "expected a lifetime such as"),
    ({"--mttf": None, "--lifetime": "weibull:0,5h"}, "the shape must be"),
    ({"--bit-error-rate": "2"}, "--bit-error-rate 2: expected"),
    ({"--bit-error-rate": "nan"}, "--bit-error-rate nan: expected"),
    ({"--bit-error-rate": "1e-14"}, "expected --capacity"),
    ({"--capacity": "2"}, "the unit is missing"),
    ({"--capacity": "0 TB"}, "more than 0"),
    ({"--years": "0"}, "expected years above 0"),
    ({"--years": "nan"}, "expected years above 0"),
    ({"--years": "ten"}, "expected years above 0"),
    ({"--scrub": "168 h"}, "expected --latent"),
    ({"--latent": "9259 h", "--scrub": "often"}, "expected a period such as"),
    ({"--spares": "2"}, "expected --restock"),
    ({"--rebuild-rate": "100 MB"}, "expected a rate such as"),
    ({"--rebuild-rate": "100 MB/s"}, "--mttr beside --rebuild-rate"),
    ({"--rebuild-share": "0"}, "--rebuild-share 0: expected"),
    ({"--failure-factor": "nan"}, "--failure-factor nan: expected"),
    ({"--batches": "3,4"}, "expected the disks of a batch"),
    ({"--domain": "shelf"}, "expected NAME:DISKS,MTTF,OUTAGE"),
    ({"--repair": "never"}, "never"),
    ({"--method": "guess"}, "guess"),
    ({"--disk-class": "floppy"}, "floppy"),
    ({"--groups": "0"}, "--groups"),
    ({"--groups": "1000000000"}, "--groups: "),
    ({"--rebuild-load": "8"}, "--rebuild-load 8: expected --rebuild-rate"),
    ({"--plot": "/nowhere/loss.png"}, "/nowhere: no such directory"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG_VALUES)
def test_wrong_values_are_one_line(
    capsys: pytest.CaptureFixture[str], changes: dict[str, str | None], message: str
) -> None:
    options = {"--level": "raid5", "--disks": "8", "--mttf": "1e6 h", "--mttr": "12 h"} | changes
    words = [word for key, it in options.items() if it is not None for word in (key, it)]
    refused(capsys, message, *words)


def refused(capsys: pytest.CaptureFixture[str], message: str, *options: str) -> None:
    """Check that the command refuses its options, in this process: a start takes far longer."""
    assert run([*RELIABILITY, *options]) == 2
    ended = capsys.readouterr()
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    assert message in ended.err


RAID5 = "--level raid5 --disks 3 --capacity 4TB --bit-error-rate 1e-14 --mttf 1000000h"


@pytest.mark.parametrize(
    "repair", ['--mttr "11.111 h" --repair-law constant', "--rebuild-rate 100MB/s"]
)
def test_nomdl_counts_lost_arrays_beside_frequent_lost_stripes(
    headrace: Command, repair: str
) -> None:
    found = answered(headrace, RAID5, *shlex.split(repair))
    first = found["horizons"][0]
    # 3 x 2 / MTTF^2 x 11.11 h x 8760 h: the exact chain gives 5.81e-7.
    assert first["nomdl_low"] < 6e-12 * 11.111 * 8760 * 1.01 and first["nomdl_high"] > 5.75e-7
    assert first["nomdl_standard_error"] < 0.02 * first["nomdl"]
    assert found["nomdl_interval"][0] < 5.5e-6 < found["nomdl_interval"][1] * 1.01
    low, high = found["mttdl_interval_seconds"]
    assert low < found["mttdl_seconds"] < high


def test_a_figure_without_its_event_is_a_bound_with_the_reason(headrace: Command) -> None:
    options = (*shlex.split(RAID5), "--rebuild-rate", "100MB/s", "--crude", "--missions", "5000")
    printed = headrace("design", "reliability", *options)
    assert printed.returncode == 0, printed.stderr
    assert "below 0.0006" in printed.stdout
    assert "losses by too many failures were seen in 0 of 5,000 missions" in printed.stdout
    found = answered(headrace, " ".join(options))
    assert found["nomdl"] is None and found["nomdl_interval"][1] == pytest.approx(6e-4, rel=0.01)
