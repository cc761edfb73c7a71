"""Documents in TOML and JSON that are damaged in every way are refused in one line."""

import json
import string
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
from conftest import Command
from headrace.design.catalogue_file import load_catalogue
from headrace.design.performance import recorded
from headrace.design.solution_file import read_solution
from headrace.design.worksheet_file import load_worksheet
from headrace.document_io import parse_json, parse_toml, read_json, read_toml
from headrace.fields import DEEPEST
from headrace.measure.resume import read_earlier
from headrace.measure.tuning.targets import target
from headrace.optimisation import prices
from headrace.profile import rules, trace_findings
from headrace.profile.baseline.prediction import check_machine
from headrace.result_import import import_results
from headrace.validate.saved_measurement import read_measurement

DEEP = 5000
DAMAGED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "expected"),
    "null bytes": (b"\0" * 64, "expected"),
    "not UTF-8": (b'a = "\xe9"\n', "it is not UTF-8 at byte 5"),
    "nested JSON": (b'{"a":' + b"[" * DEEP + b"]" * DEEP + b"}", "expected"),
    "nested TOML": (b"a = " + b"[" * DEEP + b"]" * DEEP, "expected"),
    "dotted TOML": (b"a" + b".a" * DEEP + b" = 1", "expected"),
    "tables in TOML": (b"a = " + b"{a=" * DEEP + b"1" + b"}" * DEEP, "expected"),
    "400 digits in TOML": (b"a = " + b"9" * 400, "expected"),
    "400 digits in JSON": (b'{"a": ' + b"9" * 400 + b"}", "expected"),
    "5,000 digits": (b'{"a": ' + b"9" * 5000 + b"}", "expected"),
    "not a number": (b'{"a": NaN}', "expected"),
    "infinity": (b"a = inf", "expected"),
    "2^64": (b"a = %d" % 2**64, "expected"),
    "below -2^63": (b'{"a": %d}' % (-(2**63) - 1), "expected"),
}


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("read", [read_toml, read_json])
def test_damaged_documents(read: Callable[[Path, str], Any], name: str, tmp_path: Path) -> None:
    content, expected = DAMAGED[name]
    file = tmp_path / "document"
    file.write_bytes(content)
    if name == "empty" and read is read_toml:
        assert read(file, "a table") == {}
        return
    with pytest.raises(ValueError) as raised:
        read(file, "a table")
    message = str(raised.value)
    assert message.startswith(f"{file}:") and expected in message
    assert "\n" not in message and len(message) < 400


def test_positions() -> None:
    with pytest.raises(ValueError, match=r"^x\.toml:2:5: expected rules in TOML: "):
        parse_toml("x.toml", "a = 1\nb = =\n", "rules in TOML")
    with pytest.raises(ValueError, match=r"^x\.json:2:2: expected JSON: "):
        parse_json("x.json", "{\n x: 1}", "JSON")
    with pytest.raises(ValueError, match=r"^x\.json: a\.b\[1\] = inf: expected a finite number$"):
        parse_json("x.json", '{"a": {"b": [1, Infinity]}}', "JSON")


def test_levels() -> None:
    inside = "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1)
    assert parse_json("x", f'{{"a": {inside}}}', "JSON")
    with pytest.raises(ValueError, match="more than 100 levels"):
        parse_json("x", f'{{"a": [[{inside}]]}}', "JSON")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_what_is_read_is_what_json_says(value: Any) -> None:
    text = json.dumps(value)
    try:
        assert parse_json("x", text, "JSON") == json.loads(text)
    except ValueError as error:
        assert str(error).startswith("x: ")


@given(st.text(string.printable, max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_toml, parse_json):
        try:
            parse("x", text, "a document")
        except ValueError as error:
            assert str(error).startswith("x:")
        else:
            if parse is parse_toml:
                assert tomllib.loads(text) is not None


READERS: dict[str, Callable[[Path], object]] = {
    "a scenario .toml": hr.load,
    "a result .json": hr.load,
    "an imported result .json": lambda path: import_results(hr.store.open(), path),
    "an earlier result .json": lambda path: read_earlier(str(path)),
    "a measurement .json": read_measurement,
    "prices .toml": prices.read,
    "a workload .toml": recorded._of_scenario,
    "a profile's workload .json": recorded._of_profile,
    "rules of profiles .toml": rules.load_rules,
    "rules of traces .toml": trace_findings.load_rules,
    "a protocol mix .json": lambda path: target(str(path)),
    "a protocol mix .toml": lambda path: target(str(path)),
    "a solution .json": read_solution,
    "a worksheet .toml": load_worksheet,
    "a catalogue .toml": load_catalogue,
    "a machine .toml": check_machine,
}
"""Functions that read a document which a user names, and the ending of its file."""


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("reader", READERS)
def test_readers_refuse_damaged_documents(reader: str, damage: str, tmp_path: Path) -> None:
    file = tmp_path / f"damaged{reader[reader.rindex('.') :]}"
    file.write_bytes(DAMAGED[damage][0])
    try:
        READERS[reader](file)
    except ValueError as error:
        assert str(error).splitlines()
    else:
        assert damage == "empty"


@pytest.mark.parametrize(
    "arguments",
    [
        ["results", "import", "FILE.json"],
        ["sweep", "SMALL", "--vary", "clients.count=2,4", "--on", "slurm:FILE"],
        ["bench", "tune", "DIR", "--profiler", "fuse", "--target", "FILE.json"],
        ["design", "report", "FILE.json"],
        ["trace", "findings", "TRACE", "--rules", "FILE"],
    ],
)
def test_commands_refuse_damaged_documents(
    arguments: list[str], headrace: Command, small: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.csv"
    assert headrace("trace", "synth", trace).returncode == 0
    file = tmp_path / "damaged.toml"
    named = {
        "FILE": file,
        "slurm:FILE": f"slurm:{file}",
        "FILE.json": file.with_suffix(".json"),
        "SMALL": small,
        "DIR": tmp_path,
        "TRACE": trace,
    }
    for name in ("not UTF-8", "nested JSON", "nested TOML"):
        for written in (file, file.with_suffix(".json")):
            written.write_bytes(DAMAGED[name][0])
        ended = headrace(*(named.get(it, it) for it in arguments))
        told = f"{arguments}, {name}: {ended.stderr}"
        assert ended.returncode == 2, told
        assert ended.stderr.count("\n") == 1 and str(tmp_path) in ended.stderr, told
        assert "internal error" not in ended.stderr and "Errno" not in ended.stderr, told


def test_a_number_in_a_list_of_tables_is_found_at_its_own_line() -> None:
    text = "[[rule]]\nweight = 1\n[[rule]]\nweight = 123456789012345678901\n"
    with pytest.raises(ValueError, match=r"^x\.toml:4:1: "):
        parse_toml("x.toml", text, "rules")
