"""What tables show in narrow terminals, and of names that would steer a terminal."""

import io
from typing import Any

import pytest
from rich.console import Console, RenderableType
from rich.table import Table

import headrace as hr
from conftest import SMALL
from headrace import kinds
from headrace.kinds import blocks
from headrace.plain_text import plain
from headrace.render.fitted_table import FittedTable
from headrace.render.terminal import rendered
from headrace.views import trace_info


def printed(what: RenderableType, width: int) -> str:
    text = io.StringIO()
    Console(file=text, width=width, highlight=False).print(what, crop=False)
    return text.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("replications", [1, 3])
def test_names_never_go_for_lack_of_room(width: int, replications: int) -> None:
    document = hr.run(hr.load(SMALL, {"run.replications": replications})).document
    text = printed(rendered(blocks("simulated", document)), width)
    lines = text.splitlines()
    assert "…" not in text
    for word in ("operation", "station", "place", "MB/s", "mean ms", "busy %"):
        assert word in text
    for group in ("G1", "G2"):
        row = next(line for line in lines if line.split()[:1] == [group])
        assert "read" in row or "write" in row
    if width >= 60:
        for station in document["stations"]:
            # A folded name stays in its column, piece by piece.
            assert station["station"][:20] in text
    if width in (60, 80):
        assert max(map(len, lines)) <= width
        assert "p50 ms, p95 ms" in text
    if width == 120 and replications == 1:
        assert "a wider terminal" not in text


def test_long_names_are_folded_and_whole() -> None:
    name = "".join(chr(ord("a") + number % 26) for number in range(200))
    table = FittedTable("T", 1, ("name", "much", "less"), ("less",))
    table.add_row(name, "7", "8")
    cells = [line.split()[0] for line in printed(table, 30).splitlines() if line.split()]
    assert name in "".join(cells)


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("names", [1, 2, 3, 4])
def test_names_and_texts_leave_room_for_each_other(names: int, width: int) -> None:
    columns = [*(f"name {number}" for number in range(names)), "throughput gain", "reason"]
    table = FittedTable("T", names, columns)
    for row in range(2):
        cells = [f"servers.device.time_per_request.{row}"] * names
        table.add_row(*cells, "123,456,789.01", "a text that no narrow terminal has room for")
    text = printed(table, width)
    # The narrowest names, then a column of figures.
    assert max(map(len, text.splitlines())) <= max(width, 9 * names + 22)
    assert text.count("123,456,789.01") == 2 and "…" not in text


def test_the_first_name_is_folded_last() -> None:
    table = FittedTable("T", 2, ("id", "name", "started"))
    table.add_row("1m8hmh29vrg0wj", "a name of 28 characters, all", "2026-11-28 17:51:26")
    text = printed(table, 60)
    assert "1m8hmh29vrg0wj" in text and "2026-11-28 17:51:26" in text


def test_a_redirected_table_may_have_a_width() -> None:
    table = FittedTable("T", 1, ("name", "much", "less"), ("less",), redirected_width=50)
    table.left_out_caption = "less: 8"
    table.add_row("some words " * 5, "7" * 10, "8" * 10)
    text = printed(table, 1000)
    assert max(map(len, text.splitlines())) <= 50
    assert "less: 8" in text and "a wider terminal" not in text


NAMES = ["/src/app/[slug]/page.tsx", "team[red]", "[/]", "[bold]x[/bold]", "\\[x]"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_not_read_as_markup(name: str) -> None:
    table = FittedTable("T", 1, ("name", "much"))
    table.add_row(name, "7")
    assert name in printed(table, 80)
    summary: dict[str, Any] = {
        **dict.fromkeys(("records", "processes", "files", "bytes_read", "bytes_written"), 1),
        **dict.fromkeys(("metadata_share", "sequential_share")),
        "span_seconds": 1.0,
        "operations": [],
        "request_sizes": [],
        "busiest_files": [{"file": name, "bytes_read": 1, "bytes_written": 1}],
    }
    report = kinds.read("trace-info", {"summary": summary, "skipped": []})
    assert printed(rendered(trace_info.view(report, name)), 80).count(name) == 2


def test_groups_in_brackets() -> None:
    text = SMALL.replace('["G1", "G2"]', '["team[red]", "[/]"]').replace(
        '"small"', '"[/]\\u001b[31m"'
    )
    document = hr.run(hr.load(text)).document
    shown = printed(rendered(blocks("simulated", document)), 80)
    assert "team[red]" in shown
    assert "\n [/] " in shown
    assert shown.startswith("[/]\\x1b[31m")
    assert "\x1b" not in shown


def test_control_characters_are_written_as_escapes() -> None:
    assert plain("a\x1b[2Jb\x07\x9b\udc80é日") == "a\\x1b[2Jb\\x07\\x9b\\udc80é日"


@pytest.mark.parametrize("width", [40, 80, 120, 160])
@pytest.mark.parametrize("names", [0, 1, 2])
def test_a_table_that_is_too_wide_is_split(width: int, names: int) -> None:
    columns = [f"{letter}{'x' * 17}" for letter in "abcdefghi"]
    table = FittedTable("T", names, columns, columns[-1:])
    rows = [[f"{row}{letter}" for letter in "abcdefghi"] for row in range(3)]
    for row in rows:
        table.add_row(*row)
    text = printed(table, width)
    assert max(map(len, text.splitlines())) <= max(width, 41)
    # Headings of names are folded where a column of figures has no room beside them.
    for word in (*columns[max(names, 1) :], *(cell for row in rows for cell in row)):
        assert word in text
    # What a row is of is in each part.
    parts = text.count(rows[0][0])
    assert parts > 1 and f"T (1 of {parts})" in text
    assert all(text.count(row[0]) == parts for row in rows)
    assert "a wider terminal" not in text


def test_a_sweep_fits_its_terminal() -> None:
    tests = ("write", "rewrite", "read", "reread", "random read", "random write", "backward read")
    document = {
        "scenario": {"name": "bench sweep", "description": "file size by block size"},
        "parameters": ["file", "block"],
        "sizes": ["file", "block"],
        "wanted_repeats": 3,
        "warnings": [],
        "stop": {"reason": "workload"},
        "summary": [
            {
                "file": 1 << 20,
                "block": block,
                "test": test,
                "unit": "throughput",
                "median": 2e10,
                "mean": 2.1e10,
                "half_width": 1e9,
                "least": 1e10,
                "most": 3e10,
                "in_memory": False,
                "repeats": 3,
            }
            for block in (4096, 65536)
            for test in tests
        ],
    }
    for width in (80, 120):
        text = printed(rendered(blocks("study", document)), width)
        assert max(map(len, text.splitlines())) <= width
        assert text.count("21,000 ± 1,000") == 2 * len(tests)
    assert "eans of 3 repeats, ± half the width of their 95 % interval" in text


@pytest.mark.parametrize("width", [20, 60, 1000])
def test_rows_of_one_line_are_laid_out_together(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Layout takes most of the time of a list; the text stays the same."""
    table = FittedTable("Rows", 1, ("name", "figure", "other"))
    for number in range(40):
        table.add_row(f"a name {number} ", str(10**number), "" if number % 3 else "\u4e2d x")
        if number in (7, 8):
            table.add_section()
    laid_out: list[object] = []
    add_row = Table.add_row

    def counted(self: Table, *cells: RenderableType, **options: Any) -> None:
        laid_out.append(cells)
        add_row(self, *cells, **options)

    monkeypatch.setattr(Table, "add_row", counted)
    together = printed(table, width)
    assert width < 1000 or len(laid_out) == 3
    table.rows[0] = ("a name 0 \n", *table.rows[0][1:])
    apart = printed(table, width).splitlines()
    # Its second line makes each row one of its own, and is the only difference.
    first = next(number for number, line in enumerate(apart) if "a name 0" in line)
    assert together.splitlines() == apart[: first + 1] + apart[first + 2 :] or width < 1000


def test_several_names_share_a_narrow_terminal() -> None:
    table = FittedTable("title", 3, ("aspect", "recommended", "why"))
    table.add_row("x" * 30, "word " * 20, "reason " * 40)
    assert max(map(len, printed(table, 80).splitlines())) <= 80
