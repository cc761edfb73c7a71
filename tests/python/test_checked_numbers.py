"""Numbers and nesting of documents and options are checked where they are read."""

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Command
from headrace import ScenarioError
from headrace.document_io import LARGEST_INTEGER, parse_json, parse_toml, read_document
from headrace.optimisation.prices import WrongPrice, parse, read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a = " + "[" * 5000 + "]" * 5000,
            "x.toml: expected a file of prices in TOML: it is nested more than 100 levels deep",
        ),
        (
            "a = " + "9" * 400,
            f"x.toml:1:1: a = {'9' * 40} ...: expected a whole number of at most 64 bits",
        ),
        (
            "a = " + "9" * 5000,
            "x.toml: expected a whole number of at most 64 bits, got one of over 4,300 digits",
        ),
        (
            "a = 0x" + "f" * 5000,
            f"x.toml:1:1: a = 0x{'f' * 38} ...: expected a whole number of at most 64 bits",
        ),
        (
            "[t]\nb = [1, -9223372036854775809]",
            "x.toml:2:1: t.b[1] = -9223372036854775809: expected a whole number of at most 64 bits",
        ),
        ("b = inf", "x.toml:1:1: b = inf: expected a finite number"),
        ("b = { c = nan }", "x.toml:1:7: b.c = nan: expected a finite number"),
        ("b = \nc = 1", "x.toml:1:5: expected a file of prices in TOML"),
    ],
)
def test_toml_with_impossible_values_is_one_clear_error(text: str, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        parse_toml("x.toml", text, "a file of prices in TOML")
    assert str(raised.value).startswith(message)


def test_the_largest_integer_of_toml_is_read() -> None:
    assert parse_toml("x.toml", f"a = {LARGEST_INTEGER}", "a file") == {"a": LARGEST_INTEGER}


def test_json_with_impossible_integers_is_one_clear_error() -> None:
    for digits in (400, 5000):
        with pytest.raises(ValueError, match="expected a whole number of at most 64 bits"):
            parse_json("x.json", f'{{"a": {"9" * digits}}}', "a file")


DIGITS = "expected a whole number of at most 64 bits, got one of over 4,300 digits"
LEVELS = "it is nested more than 100 levels deep"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("9" * 5000, DIGITS),
        ('{"a":' * 5000 + "1" + "}" * 5000, LEVELS),
        ("[" * 5000 + "]" * 5000, LEVELS),
    ],
)
@pytest.mark.parametrize(
    "arguments",
    ["design report", "design smart", "explain", "results import", "run", "sweep --vary a=1"],
)
def test_commands_refuse_impossible_values_of_json_alike(
    arguments: str, value: str, message: str, tmp_path: Path, headrace: Command, place: Path
) -> None:
    file = tmp_path / "x.json"
    file.write_text(f'{{"smartctl": {{}}, "x": {value}}}')
    ended = headrace(*arguments.split(), file)
    last = ended.stderr.splitlines()[-1]
    assert ended.returncode in (1, 2) and ended.stdout == ""
    assert last.startswith(str(file)) and last.endswith(message)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("9" * 400, f"x = {'9' * 40} ...: expected a whole number of at most 64 bits"),
        ("NaN", "x = nan: expected a finite number"),
        ("-1e999", "x = -inf: expected a finite number"),
        ("[" * 150 + "]" * 150, f"expected fewer levels: {LEVELS}"),
    ],
)
def test_saved_results_with_impossible_values_are_refused(
    value: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "x.json"
    file.write_text(f'{{"x": {value}}}')
    with pytest.raises(ScenarioError) as raised:
        read_document(file)
    assert str(raised.value) == f"{file}: {message}"


@pytest.mark.parametrize(("value", "message"), [("9" * 5000, DIGITS), ("[" * 5000, LEVELS)])
def test_archives_with_impossible_values_are_refused(
    value: str, message: str, tmp_path: Path, headrace: Command, place: Path
) -> None:
    file = tmp_path / "x.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("headrace-results.json", f'{{"format": {value}}}')
    ended = headrace("results", "import", file)
    assert ended.returncode == 2
    assert message in ended.stderr


@given(st.floats() | st.integers(-(10**400), 10**400))
def test_any_price_is_finite_or_refused(number: float) -> None:
    try:
        found = parse(f"servers.count={number}")
    except WrongPrice:
        return
    # Products and quotients with the amounts of a scenario stay finite.
    assert found.price == 0 or 1e-12 <= abs(found.price) <= 1e15


def test_files_of_prices_with_impossible_values(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    for text in (
        "prices = " + "[" * 5000 + "]" * 5000,
        '[prices]\n"servers.count" = 1e-320\n',
        '[prices]\n"servers.count" = "' + "9" * 400 + ' x disk"\n',
    ):
        file.write_text(text)
        with pytest.raises(WrongPrice):
            read(file, {"disk": 1.0})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("cost --node-price 1e-320", "--node-price 9.99989e-321: expected 0, or at least 1e-09"),
        ("cost --years 2147483648", "--years 2.14748e+09: expected 0.0833333 to 50"),
        ("cost --disk-price 1e300", "--disk-price 1e+300: expected 0 to 1e+12"),
        ("growth --years 2147483648", "--years 2.14748e+09: expected 0.0833333 to 50"),
        ("reliability --years 2147483648", '--years "2147483648": expected years above 0, up to'),
        ('reliability --mttr "1e-9 h"', "it must be 0.001 s or more, and at most 1e9 y"),
    ],
)
def test_options_of_design_are_checked(options: str, message: str, headrace: Command) -> None:
    import shlex

    command, *given_options = shlex.split(options)
    usual = {
        "cost": "--nodes 4 --node-price 4000 --disks 12 --disk-price 120 --level raid6",
        "growth": "--usable 20TB --unit 20TB --node-price 4000 --disks-price 1000",
        "reliability": "--copies 2 --mttf 1e6h --mttr 12h",
    }[command]
    more = ("--capacity", "4 TB") if command == "cost" else ()
    ended = headrace("design", command, *usual.split(), *more, *given_options)
    assert ended.returncode == 2 and message in ended.stderr, ended.stderr


def test_a_rules_file_with_a_number_of_400_digits(tmp_path: Path, headrace: Command) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("[zfs]\nweight = " + "9" * 400 + "\n")
    worksheet = tmp_path / "lab.toml"
    assert headrace("design", "init", "--example", "lab", worksheet).returncode == 0
    ended = headrace("design", "recommend", worksheet, "--rules", rules)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith(f"{rules}:2:1: zfs.weight = {'9' * 40} ...")
    assert "expected a whole number of at most 64 bits" in ended.stderr
