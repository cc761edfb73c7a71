"""Findings about traces and Darshan logs, and the workload of a log."""

import json
import math
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
from command import command
from darshan_logs import contents, log, shipped
from headrace.profile import access_totals
from headrace.profile.access_totals import accesses, of_log
from headrace.profile.trace_figures import figures
from headrace.profile.trace_findings import Finding, findings, load_rules
from headrace.trace import DarshanLog, darshan_workload, data_records, record_batches

TRACES = Path(__file__).parents[1] / "data" / "traces"
SMALL = 1 << 20
HEADER = "time,process,operation,file,offset,size,duration\n"


@pytest.fixture(scope="module", params=shipped(), ids=lambda path: path.stem[:24])
def known(request: pytest.FixtureRequest) -> DarshanLog:
    return contents(request.param)


def rules_of(found: list[Finding]) -> set[str]:
    return {it.rule for it in found}


def trace(folder: Path, rows: Sequence[tuple[object, ...]]) -> Path:
    path = folder / "t.csv"
    lines = [",".join(map(str, (f"{number * 1e-3:.9f}", *row))) for number, row in enumerate(rows)]
    path.write_text(HEADER + "".join(f"{line}\n" for line in lines))
    return path


def test_findings_of_known_logs() -> None:
    expected = {
        "shane": {"small-writes", "shared-small-writes", "independent-writes", "byte-imbalance"},
        "sample-badost": {"slow-target", "no-mpi-io", "write-dominated-bytes"},
        "noposixopens": {"repeated-opens", "stdio", "no-mpi-io"},
        "ior_hdf5": {"misaligned-requests", "blocking-reads", "ordered-writes"},
        "dxt.": {"small-reads", "random-reads", "small-writes", "metadata-time"},
    }
    for name, rules in expected.items():
        found = findings(log(name))
        assert rules <= rules_of(found), name
        assert [it.level for it in found] == sorted(
            (it.level for it in found), key=("warning", "note", "good").index
        )
    slow = next(it for it in findings(log("sample-badost")) if it.rule == "slow-target")
    assert slow.evidence == ["object storage target 14"]
    assert slow.value > 10
    # Both have the same program; the targets of one are equally fast.
    assert "slow-target" not in rules_of(findings(log("sample-goodost")))


def test_every_rule_has_a_figure_that_exists() -> None:
    names = {name for path in shipped() for name in figures(of_log(contents(path), SMALL))}
    names |= set(figures(accesses(TRACES / "build.strace", None, SMALL)))
    # No shipped log has a large shared file on one target of a known layout.
    names.add("stripes.narrow_bytes")
    for rule in load_rules().rules:
        assert {it.figure for it in rule.when.values()} <= names, rule.id


def test_figures_are_finite_and_shares_are_shares(known: DarshanLog) -> None:
    for name, figure in figures(of_log(known, SMALL)).items():
        assert math.isfinite(figure.value), name
        if name.endswith(("_share", "_imbalance")):
            assert 0 <= figure.value <= 1, name


def test_a_request_of_one_mebibyte_is_not_small(tmp_path: Path) -> None:
    rows = [("1", "write", "/f", number << 20, 1 << 20, 0.001) for number in range(2000)]
    found = figures(accesses(trace(tmp_path, rows), None, SMALL))
    assert found["write.small_requests"].value == 0
    assert found["write.ordered_share"].value == 1


def test_findings_of_a_trace_of_small_random_reads(tmp_path: Path) -> None:
    rows = [("1", "read", "/f", number * 7919 % 5000 * 100, 100, 0.001) for number in range(3000)]
    found = findings(trace(tmp_path, rows))
    assert {"small-reads", "random-reads", "misaligned-requests"} <= rules_of(found)
    assert "no-mpi-io" not in rules_of(found)
    small = next(it for it in found if it.rule == "small-reads")
    assert (small.value, small.threshold) == (1.0, 0.1)
    assert small.evidence == ["read.small_requests = 3000", "/f"]


operations = st.tuples(
    st.sampled_from(["1", "2"]),
    st.sampled_from(["read", "write", "open", "stat", "sync", "close"]),
    st.sampled_from(["/a", "/b"]),
    st.integers(0, 40).map(lambda it: it * 512),
    st.integers(0, 10).map(lambda it: it * 300_000),
    st.just("0.000250000"),
)


@given(rows=st.lists(operations, min_size=1, max_size=60), size=st.integers(1, 60))
def test_figures_do_not_depend_on_batches(
    rows: list[tuple[object, ...]], size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = trace(tmp_path_factory.mktemp("t"), rows)
    whole = figures(accesses(path, None, SMALL))

    def pieces(reader: object) -> object:
        for batch in record_batches(reader):  # type: ignore[arg-type]
            for begin in range(0, batch.height, size):
                yield batch.slice(begin, size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access_totals, "record_batches", pieces)
        parts = figures(accesses(path, None, SMALL))
    assert {name: it.value for name, it in parts.items()} == pytest.approx(
        {name: it.value for name, it in whole.items()}
    )
    data = [row for row in rows if row[1] in ("read", "write")]
    assert whole["read.bytes"].value + whole["write.bytes"].value == sum(
        int(str(row[4])) for row in data
    )
    last: dict[tuple[object, ...], int] = {}
    ordered = steps = 0
    for process, operation, file, offset, length, _ in data:
        key = (process, operation, file)
        begin, end = int(str(offset)), int(str(offset)) + int(str(length))
        if operation == "write" and key in last:
            steps += 1
            ordered += begin >= last[key]
        last[key] = end
    if steps:
        assert whole["write.ordered_share"].value == pytest.approx(ordered / steps)


def test_own_rules_change_and_add_single_rules(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(
        "parameters.small_request = 10\n"
        "[rule.any]\nlevel = 'note'\ntext = 't'\nrecommendation = 'r'\n"
        "when.reads = { figure = 'read.requests', at_least = 2, of = 'processes' }\n"
        "when.size = { figure = 'read.mean_size', is_known = true }\n"
        "[rule.small-reads]\nwhen.small_share.above = 0.5\n"
        "[rule.stdio]\nenabled = false\n"
    )
    table = load_rules(path)
    rules = {rule.id: rule for rule in table.rules}
    assert table.parameters.small_request == 10
    assert len(rules) == len(load_rules().rules) and "stdio" not in rules
    assert rules["small-reads"].conditions()[0] == "read.small_share > 0.5"
    own = next(each for each in findings(TRACES / "tar.strace", rules=table) if each.rule == "any")
    assert (own.source, own.comparison) == ("user's rule, rules.toml", "at_least")
    assert (
        own.threshold == 2 * figures(accesses(TRACES / "tar.strace", None, 10))["processes"].value
    )
    assert [line.split(" = ")[0] for line in own.evidence[:2]] == ["processes", "read.mean_size"]


FORMER_RULE = (
    '[[rule]]\nid = "any"\nlevel = "note"\ntitle = "t"\nfigure = "read.requests"\n'
    'above = 0\nrequires = { "read.bytes" = 0 }\nsource = "s"\nrecommendation = "r"\n'
)


def test_a_list_of_rules_in_the_former_form_replaces_the_table(tmp_path: Path) -> None:
    table = tmp_path / "rules.toml"
    table.write_text(f"[parameters]\nsmall_request = 10\n{FORMER_RULE}")
    done = command("trace", "findings", TRACES / "tar.strace", "--rules", table, "--json")
    assert done.returncode == 0, done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["rule"], finding["title"], finding["threshold"]) == ("any", "t", 0)
    assert finding["evidence"][0].startswith("read.bytes = ")


def test_texts_of_the_former_form_may_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(FORMER_RULE.replace('"t"', '""').replace('"s"', '""').replace('"r"', '""'))
    assert load_rules(path).rules[0].text == "any"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("above = 0\n", "", r":3:3: rule\.0\.when\.figure: expected one of above, at_least"),
        ("above = 0\n", "above = 0\nbelow = 1\n", r":3:3: .*: expected one of above, at_least"),
        ("above = 0\n", "above = nan\n", r":8:1: .*above = nan: expected a finite number"),
        ("above = 0\n", "over = 0\n", r":8:1: rule\.0\.over: unknown key: expected one of level"),
        ('"note"', '"bad"', r":5:1: rule\.0\.level: expected one of warning, note, good"),
        ('{ "read.bytes" = 0 }', "3", r":9:1: rule\.0\.requires: expected a table of figures"),
        ('title = "t"\n', "", r":3:3: rule\.0\.text: expected a text"),
        (
            "above = 0\n",
            'above = 0\nwhen.a = { figure = "read.bytes", above = 2 }\n',
            r":9:1: rule\.0\.when: unknown key: expected a table \[rule\.any\.when\]",
        ),
        ("[[rule]]", "[[rule]", r":3:7: expected a file of rules in TOML"),
        (FORMER_RULE, "[rule.stdio]\nlevel = 3", r":4:1: rule\.stdio\.level: expected one of"),
        (
            FORMER_RULE,
            "[rule.stdio]\nwhen.byte_share = { is_known = true }",
            r":4:1: rule\.stdio\.when: expected one of above, .* in the first condition",
        ),
    ],
)
def test_wrong_rules_have_a_message_with_a_place(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    table = tmp_path / "rules.toml"
    table.write_text(f"[parameters]\nsmall_request = 10\n{FORMER_RULE.replace(old, new)}")
    with pytest.raises(ValueError, match=message) as error:
        load_rules(table)
    assert "\n" not in str(error.value) and str(table) in str(error.value)


def test_findings_as_text() -> None:
    done = command("trace", "findings", log("shane"))
    assert done.returncode == 0, done.stderr
    assert "warning: Many writes are small (small-writes)" in done.stdout
    assert "write.small_share is 99.9 %, above 10.0 %" in done.stdout


def test_a_workload_is_a_scenario_with_the_bytes_of_the_log(known: DarshanLog) -> None:
    made = darshan_workload(known)
    loaded = hr.load(made.toml)
    assert loaded.toml
    tables = tomllib.loads(made.toml)
    assert len(tables["workload"]) == made.workloads
    clients = tables["clients"]
    processes = clients["count"] * clients["processes"]
    assert processes == known.header.processes
    if made.source == "segments":
        assert tables["workload"][0]["file"] == str(known.path.absolute())
        return
    moved = requests = 0
    for table in tables["workload"]:
        if table["kind"] == "ior":
            block, transfer = (int(table[name].split()[0]) for name in ("block", "transfer"))
            each = block * table["files"] * processes
            moved, requests = moved + each, requests + each // transfer
        else:
            for direction in ("read", "write"):
                if direction in table["weights"]:
                    (size,) = table[f"{direction}_sizes"]
                    moved += table["amount"] * int(size.split()[0])
                    requests += table["amount"]
    expected = _totals(known)
    if "two-phase" in made.toml:
        # Its calls are those of MPI-IO, which moved what no POSIX call shows.
        return
    # Equal numbers of requests for all processes, of one size: within a few percent.
    assert moved == pytest.approx(expected[0], rel=0.15)
    assert requests == pytest.approx(expected[1], rel=0.15)


def _totals(known: DarshanLog) -> tuple[int, int]:
    """Bytes and requests of a log on files, each at the lowest level."""
    used = data_records(known).used
    moved = sum(it.bytes("READ") + it.bytes("WRITE") for it in used)
    return moved, sum(it.all_requests() for it in used)


def test_the_command_writes_a_scenario_that_runs(tmp_path: Path) -> None:
    output = tmp_path / "shane.toml"
    done = command("trace", "workload", log("shane"), "-o", output)
    assert done.returncode == 0, done.stderr
    assert "assumed: " in done.stderr
    result = hr.run(hr.load(output))
    assert result.document["simulated_seconds"] > 0
    done = command("trace", "workload", log("shane"), "--json", "--system", "pvfs2")
    document = json.loads(done.stdout)
    assert document["source"] == "counters"
    assert 'system = "pvfs2"' in document["toml"]
    done = command("trace", "workload", log("shane"), "--system", "none")
    assert done.returncode == 2
    assert "expected one of" in done.stderr
    done = command("trace", "workload", log("shane"), "-o", tmp_path / "none" / "x.toml")
    assert done.returncode == 2


def test_a_name_in_a_log_cannot_break_the_scenario() -> None:
    from headrace.document_io import toml_value
    from headrace.trace.darshan.workload import _one_line

    for text in ('"', "\\", "a\nb", "\x7f\x00", "é\u2028", "#"):
        assert tomllib.loads(f"x = {toml_value(text)}") == {"x": text}
        assert tomllib.loads(f"# {_one_line(text)}") == {}
