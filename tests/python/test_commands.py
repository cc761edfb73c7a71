"""Commands as records: options, forms and requests follow from the fields."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated as A
from typing import Any

import msgspec
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from headrace import commands
from headrace.cli.binding import with_options
from headrace.cli.design.output_options import figures_command
from headrace.cli.serve import command_forms
from headrace.commands import design
from headrace.commands.parameters import (
    Form,
    Help,
    Parameter,
    Word,
    WrongParameter,
    parameters,
    request,
)
from headrace.commands.values import DIRECTORY, SIZE, TIME, span
from headrace.design.figure import Figure
from headrace.quantities import DAY, HOUR

PARAMETERS = [
    (name, parameter)
    for name in design.CALCULATIONS
    for parameter in parameters(design.record(name))
]


class Tape(msgspec.Struct, frozen=True, kw_only=True):
    """Compute how long a full backup takes."""

    amount: A[float, SIZE, Help("Bytes to back up.", example="1 TB")]
    drives: A[int, Help("Drives.", least=1, most=8)] = 1
    load: A[float, TIME, Help("Time to load a tape.")] = 2 * HOUR
    tapes: A[tuple[str, ...], Help("Labels; can be repeated.")] = ()

    form = Form("Backup", ("amount",), {"amount": "2 TB"})

    def figures(self) -> list[Figure]:
        """Return the time."""
        seconds = self.amount / (self.drives * 100e6) + self.load
        return [Figure(key="time", title="time", value=seconds, unit="s", formula="amount / rate")]


def test_a_calculation_is_one_file_and_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "backup", Tape, raising=False)
    monkeypatch.setitem(design.CALCULATIONS, "backup", "headrace.commands:backup")
    values = {"amount": "2 TB", "drives": 2}
    assert [figure.value for figure in design.calculate("backup", values)] == [10_000 + 2 * HOUR]
    app = typer.Typer()
    app.command("backup")(figures_command(design.record("backup")))
    app.command("other")(lambda: None)
    runner = CliRunner()
    helped = runner.invoke(app, ["backup", "--help"]).output
    for text in ("Compute how long a full backup takes.", "--amount", "SIZE", "Bytes to back up."):
        assert text in helped
    assert "2 h" in helped
    arguments = ["backup", "--amount", "2 TB", "--drives", "2", "--json"]
    assert json.loads(runner.invoke(app, arguments).output)["time"] == 10_000 + 2 * HOUR
    (form,) = (it for it in command_forms(typer.main.get_command(app)) if it.command[0] == "backup")
    fields = {field.name: field for field in form.fields}
    assert fields["amount"].required
    assert (fields["drives"].kind, fields["drives"].minimum) == ("integer", 1)
    assert fields["load"].default == "2 h"
    assert fields["tapes"].repeated


class Copy(msgspec.Struct, frozen=True, kw_only=True):
    """Copy a directory."""

    directory: A[Path, DIRECTORY, Word(metavar="DIR", is_argument=True), Help("What to copy.")]
    only: A[tuple[Path, ...], Word(short="-f"), Help("Files; can be repeated.")] = ()
    limit: A[float, span(1.0, 60.0), Word("--time-limit"), Help("Longest time.")] = 30.0
    part: A[float, Help("Part to copy.", least=0.1, most=0.5)] = 0.5
    direct: A[bool | None, Word(off="--no-direct"), Help("Bypass the page cache.")] = None


def copied(*arguments: str) -> Any:
    """Return the record and the parameter that a command line becomes, or its output."""
    given: list[tuple[Copy, int]] = []

    def copy(asked: Copy, times: A[int, Help("Copies.", least=1)] = 1) -> None:
        given.append((asked, times))

    app = typer.Typer()
    app.command()(with_options(copy))
    result = CliRunner().invoke(app, arguments)
    return given[0] if result.exit_code == 0 and given else " ".join(result.output.split())


def test_options_of_the_terminal_follow_from_a_record() -> None:
    assert copied("data") == (Copy(directory=Path("data")), 1)
    given = ("data", "-f", "a", "--only", "b", "--time-limit", "0.5 min", "--part=0.1")
    asked = Copy(
        directory=Path("data"), only=(Path("a"), Path("b")), limit=30.0, part=0.1, direct=False
    )
    assert copied(*given, "--no-direct", "--times", "2") == (asked, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "DIR"),
        (("",), "expected a directory"),
        (("data", "--time-limit", "2 min"), '"2 min": expected 1 s to 60 s'),
        (("data", "--time-limit", "soon"), '"soon": expected'),
        (("data", "--part", "0.6"), "equal to 0.5"),
        (("data", "--times", "0"), "equal to 1"),
    ],
)
def test_the_terminal_refuses_wrong_usage(arguments: Sequence[str], message: str) -> None:
    assert message in copied(*arguments)


@pytest.mark.parametrize(
    ("values", "name", "message"),
    [
        ({}, "amount", "--amount: a value is required"),
        ({"amount": ""}, "amount", '--amount "": expected a size'),
        ({"amount": "much"}, "amount", '--amount "much": expected a size'),
        ({"amount": "1 TB", "drives": 9}, "drives", "--drives 9: expected 1 to 8"),
        ({"amount": "1 TB", "drives": "many"}, "drives", "expected a whole number"),
        ({"amount": "1 TB", "drives": 1.5}, "drives", "expected a whole number"),
        ({"amount": "1 TB", "drives": True}, "drives", "expected a text or a number"),
        ({"amount": "1 TB", "drives": 1e400}, "drives", "expected a whole number"),
        ({"amount": ["1 TB"]}, "amount", "expected a text or a number"),
        ({"amount": "1 TB", "wheels": 3}, "wheels", "there is no parameter wheels"),
    ],
)
def test_a_wrong_value_is_named(values: dict[str, object], name: str, message: str) -> None:
    with pytest.raises(WrongParameter) as error:
        request(Tape, values)
    assert error.value.name == name
    assert message in str(error.value)


def test_values_are_read_as_a_form_gives_them() -> None:
    read = request(Tape, {"amount": "5 TB", "drives": "2", "load": "1 d", "tapes": ["a", "b"]})
    assert read == Tape(amount=5e12, drives=2, load=DAY, tapes=("a", "b"))


@pytest.mark.parametrize(("command", "parameter"), PARAMETERS)
def test_a_default_is_read_as_it_is_written(command: str, parameter: Parameter) -> None:
    assert parameter.help
    text = parameter.default_text
    if parameter.value is not None and text is not None:
        assert parameter.value.read(parameter.option, text) == parameter.default


@pytest.mark.parametrize("name", design.CALCULATIONS)
def test_a_form_begins_with_values_that_compute(name: str) -> None:
    record = design.record(name)
    form, declared = record.form, {parameter.name for parameter in parameters(record)}
    assert {*form.usual, *form.example, *form.fixed} <= declared
    assert {parameter.name for parameter in parameters(record) if parameter.is_required} <= {
        *form.usual
    }
    assert design.calculate(name, {**form.example, **form.fixed})


def test_a_calculation_is_a_call_in_python() -> None:
    figures = commands.design.record("power")(nodes=10, watts=400.0).figures()
    assert {figure.key: figure.value for figure in figures}["power"] == 4000


WORDS = (
    "|nan|inf|-1|0|1e-320|1e308|1e400|5 TB|-1 h|1e9 y|1 %|raid6|raid0|weibull:0,1h|weibull:1e300,1h"
    "|a=1x9|1,2,3|x:1,1 h,1 h|8+3|bathtub:|nearline|2:8d:64c:2s|0x10|1_0|\0| "
)
TEXTS = st.sampled_from(WORDS.split("|"))
VALUES = st.one_of(
    TEXTS, st.integers(), st.floats(), st.booleans(), st.none(), st.lists(TEXTS, max_size=2)
)


@pytest.mark.parametrize("name", design.CALCULATIONS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_value_is_read_or_named(name: str, data: st.DataObject) -> None:
    record = design.record(name)
    names = [parameter.name for parameter in parameters(record)]
    values = dict(record.form.example)
    for parameter in data.draw(st.lists(st.sampled_from(names), max_size=3)):
        values[parameter] = data.draw(VALUES)
    # A simulation of any number of missions takes any time.
    for parameter in ("missions", "relative_error", "crude", "count_losses", "rebuild_load"):
        values.pop(parameter, None)
    try:
        figures = design.calculate(name, {**values, **record.form.fixed})
    except WrongParameter as error:
        assert str(error)
    else:
        assert msgspec.json.encode(figures)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("growth", {"growth_rate": "1e308"}, "growth 1e+308: expected -0.99 to 10"),
        ("growth", {"growth_rate": "-5", "years": 2.5}, "growth -5: expected"),
        ("capacity", {"disks": 10**400}, "expected 1 to 1000000"),
        ("capacity", {"disks": 2**53 + 1}, "expected 1 to 1000000"),
        ("power", {"voltage": float("nan")}, "expected a voltage such as 120 or 230"),
        ("capacity", {"code": ""}, '--code "": expected data and parity'),
    ],
)
def test_an_absurd_value_is_refused(name: str, values: dict[str, object], message: str) -> None:
    with pytest.raises(WrongParameter, match=re.escape(message)):
        design.calculate(name, {**design.record(name).form.example, **values})


def test_a_seed_may_have_64_bits() -> None:
    seeds = (2**53 + 1, 2**64 - 1)
    values = {"level": "raid6", "disks": 8, "mttf": "1000000 h", "mttr": "12 h", "missions": 10}
    for seed in seeds:
        assert design.calculate("reliability", {**values, "seed": seed})
    with pytest.raises(WrongParameter, match="expected 0 to 18,446,744,073,709,551,615"):
        design.calculate("reliability", {**values, "seed": 2**64})
