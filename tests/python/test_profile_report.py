"""The report of a profile: HTML, PDF, figures and tables of a terminal."""

import copy
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex
from matplotlib.image import imread
from rich.console import Console

import profile_sample as sample
from headrace import kinds
from headrace.profile import document
from headrace.render.terminal import rendered
from headrace.report.document import html, pdf
from headrace.report.document.content import Paragraph, Report, Section, Table, foreign
from headrace.report.profile_report import ProfileData, write_report
from headrace.report.profile_report.charts import OF_SAMPLES, OF_TRACE
from headrace.report.profile_report.sections import charts, sections, summary, worksheet
from headrace.report.profile_report.time_chart import (
    Level,
    Line,
    Panel,
    _spread,
    phase_of,
    running_mean,
    scale,
    time_chart,
)
from headrace.views.profile import verdicts
from headrace.views.profile_values import changes
from headrace.views.verdict_words import VERDICTS
from report_checks import HOSTILE, Page, check_page, check_pdf


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path], list[str]]:
    """The sample's report, its files, and the steps that were reported."""
    directory = tmp_path_factory.mktemp("report")
    steps: list[str] = []
    files = write_report(
        directory,
        sample.profile(),
        sample.rates(),
        sample.processes(),
        sample.BASELINE,
        on_progress=lambda done, total, name: steps.append(f"{done}/{total} {name}"),
    )
    return directory, files, steps


def data(**changed: Any) -> ProfileData:
    return ProfileData(
        sample.profile() | changed, sample.rates(), sample.processes(), sample.BASELINE
    )


def text_of(report: list[Section]) -> str:
    return json.dumps([str(it) for it in report], ensure_ascii=False)


def test_the_sample_is_a_profile() -> None:
    decoded = document.from_json(json.dumps(sample.profile()).encode())
    assert decoded.verdict == "cpu" and len(decoded.phases) == 2


def test_every_verdict_has_words_and_a_colour_of_its_own() -> None:
    assert tuple(VERDICTS) == document.VERDICTS
    assert len({it.colour for it in VERDICTS.values()}) == len(VERDICTS)


def test_all_files_are_written(written: tuple[Path, list[Path], list[str]]) -> None:
    directory, files, steps = written
    assert all(it.stat().st_size > 0 for it in files)
    names = {str(it.relative_to(directory)) for it in files}
    assert {"report.html", "report.pdf"} < names
    charts = {Path(it).stem for it in names if it.endswith(".svg")}
    assert charts == {
        *("io-profile", "cores", "application", "disk-1", "memory", "write-back"),
        *("network", "requests", "latency", "process-map"),
    }
    assert {f"figures/{it}{ending}" for it in charts for ending in (".svg", ".png")} < names
    assert imread(directory / "figures/io-profile.png").std() > 0.01
    total = len(OF_SAMPLES) + len(OF_TRACE) + 1
    assert steps[0].startswith(f"0/{total} ") and steps[-1] == f"{total - 1}/{total} documents"


def test_the_page_is_valid_and_loads_nothing(written: tuple[Path, list[Path], list[str]]) -> None:
    directory, _, _ = written
    page = check_page((directory / "report.html").read_text(encoding="utf-8"))
    assert page.tags.count("svg") == 10
    for part in (
        "seqprocessor-1 was limited by the processor for 61.1 % of 3 min",
        "phase 1 runs 4.1 times as fast, and the whole run takes 83.17 s (46.2 %) less",
        "md0: raid0, chunk 256 KiB, 4 members (sda, sdb, sdc, sdd), active",
        "4 (sda, sdb, sdc, sdd)",
        "eth0: 1.00 Gbit/s, full duplex, driver e1000, MTU 1500",
        "33.00 99 171.0 99 72.00 32 39.00 97 183.0 27",
        "11,170 194,149 2,794 not measured not measured not measured",
        "Phase 2: disk md0 write throughput 148 MB/s, 87 % of the baseline's 171 MB/s.",
        "Times of high and of low activity",
        "pauses between calls",
        "takes 83.17 s (46.2 %) less. Error of the model there: -4 %.",
        "phase 1: 4.1 times as fast, model error -4 %",
        "1 110 s 108 s 104 s -4 % processor computes all",
        "all 3 min 2.97 min 2.86 min -4 %",
        "write 41,000 2 11.9 GB 61 s 372 µs 743.9 µs 2.98 ms 5.95 ms 13.39 ms",
        "2 other kinds 2 1 100 ms",
        "/mnt/data_disk1/processed 61.4 s 41,001 0 B 11.9 GB sequential",
        "1 other file 100 ms 2 0 B 0 B",
        "Share of each 20 s that a process or thread spends in file calls. In all: 3.08 min in",
        "The baseline is 40 days old.",
    ):
        assert part in page.text, part


def test_the_document_has_pages(written: tuple[Path, list[Path], list[str]]) -> None:
    directory, _, _ = written
    check_pdf((directory / "report.pdf").read_bytes())


def test_equal_profiles_give_equal_reports(
    written: tuple[Path, list[Path], list[str]], tmp_path: Path
) -> None:
    directory, files, _ = written
    write_report(tmp_path, sample.profile(), sample.rates(), sample.processes(), sample.BASELINE)
    for it in files:
        again = tmp_path / it.relative_to(directory)
        assert again.read_bytes() == it.read_bytes(), it.name


def replaced(value: Any, text: str) -> Any:
    """A document whose free texts are all replaced."""
    if isinstance(value, dict):
        fixed = ("verdict", "unit", "started", "pattern", "kind", "gaps")
        return {key: it if key in fixed else replaced(it, text) for key, it in value.items()}
    if isinstance(value, list):
        return [replaced(it, text) for it in value]
    return text if isinstance(value, str) else value


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_foreign_text_is_never_markup(text: str) -> None:
    seconds = 3
    rates = sample.rates(seconds)
    name = text.replace("\x00", "")
    rates = rates.rename({it: it.replace("md0", name) for it in rates.columns})
    processes = sample.processes(seconds).with_columns(pl.lit(text).alias("name"))
    hostile = ProfileData(replaced(sample.profile(), text), rates, processes, sample.BASELINE)
    report = Report(title=foreign(text), subtitle=text, sections=sections(hostile, [], []))
    page = check_page(html.render(report))
    clean = check_page(html.render(Report("", "", sections(data(), [], []))))
    assert set(page.tags) == set(clean.tags)
    assert set(page.attributes) <= set(clean.attributes)
    assert "\x1b" not in page.text and "\u202e" not in page.text
    if len(text) > 1000:
        assert f"({len(text)} characters)" in page.text
    elif text.isprintable():
        assert " ".join(text.split()) in page.text
    check_pdf(pdf.render(report))


def test_hostile_names_are_drawn(tmp_path: Path) -> None:
    text = "".join(HOSTILE[:7])
    processes = sample.processes(3).with_columns(pl.lit(text).alias("name"))
    files = write_report(
        tmp_path, replaced(sample.profile(), text), sample.rates(3), processes, sample.BASELINE
    )
    check_page((tmp_path / "report.html").read_text(encoding="utf-8"))
    check_pdf((tmp_path / "report.pdf").read_bytes())
    assert all(it.stat().st_size for it in files)


def without(*keys: str) -> dict[str, Any]:
    return sample.profile() | dict.fromkeys(keys, None)


def sparse() -> Iterator[tuple[str, dict[str, Any], pl.DataFrame | None, pl.DataFrame | None]]:
    rates, processes = sample.rates(12), sample.processes(12)
    yield "no baseline", without("baseline"), rates, processes
    yield (
        "no trace",
        without("trace", "capture", "characteristics", "workload", "prediction"),
        rates,
        processes,
    )
    disks = [it for it in rates.columns if it.startswith("disk.")]
    yield "no disks", sample.profile(), rates.drop(disks), processes
    yield "times only", sample.profile(), rates.select("from_s", "to_s"), None
    yield "one sample", sample.profile(), sample.rates(1), sample.processes(1)
    empty = sample.profile() | {"verdict": None, "phases": [], "duration_s": 0.0}
    yield "no samples", empty, rates.clear(), processes.clear()
    yield "no frames", empty, None, None
    nothing: dict[str, Any] = {"phases": [], "verdict": None}
    yield "no document", nothing, None, None
    gaps = rates.with_columns(
        pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.all().exclude("from_s", "to_s"))
    )
    yield "unknown values", sample.profile(), gaps, processes
    bare = sample.profile() | {"environment": {}}
    yield "no facts", bare, rates, processes


@pytest.mark.parametrize(
    ("profile", "rates", "processes"), [it[1:] for it in sparse()], ids=[it[0] for it in sparse()]
)
def test_missing_parts_are_named(
    tmp_path: Path,
    profile: dict[str, Any],
    rates: pl.DataFrame | None,
    processes: pl.DataFrame | None,
) -> None:
    if rates is None or rates.height < 2:
        write_report(tmp_path, profile, rates, processes)
        page = check_page((tmp_path / "report.html").read_text(encoding="utf-8"))
        check_pdf((tmp_path / "report.pdf").read_bytes())
    else:
        # As there, but no figure is written, which takes most of the time.
        figures = (profile.get("baseline") or {}).get("figures") or {}
        part = ProfileData(profile, rates, processes, figures)
        assert all(it.figure.axes for draw in [*OF_SAMPLES, *OF_TRACE] for it in draw(part))
        report = Report("", "", sections(part, [], []))
        page = check_page(html.render(report))
        check_pdf(pdf.render(report))
    if rates is None or not rates.height:
        assert "is unknown: no interval was sampled." in page.text and "No chart" in page.text
    if not profile.get("characteristics"):
        assert "No trace was captured." in page.text
    if not (profile.get("baseline") or {}).get("figures"):
        assert "No baseline of this machine" in page.text
    assert "nan" not in page.text.split() and "None" not in page.text


def test_the_baseline_of_the_document_is_used(tmp_path: Path) -> None:
    profile = sample.profile() | {"characteristics": None}
    profile["baseline"]["figures"] = sample.BASELINE
    write_report(tmp_path, profile)
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "33.00 99 171.0 99" in page.text


def test_the_change_that_saves_most_is_first() -> None:
    phases = copy.deepcopy(sample.profile()["phases"])
    # Halves 70 s of the second phase: less than 3.1 of 110 s, but more than the rest of it.
    phases[1]["advice"].append(phases[0]["advice"][0] | {"predicted_gain": 1.0})
    found = changes(phases)
    assert [it.name for it in found] == ["larger-requests", "faster-device", "separate-disks"]
    assert found[0].gains == [(1, 3.1, -0.037), (2, 1.0, -0.037)]
    assert found[0].saved_s == pytest.approx(110 * (1 - 1 / 4.1) + 70 / 2)


def test_no_advice_is_said() -> None:
    profile = sample.profile()
    for phase in profile["phases"]:
        phase["advice"] = []
    found = summary.section(data(phases=profile["phases"]), [])
    assert any(
        isinstance(it, Paragraph) and str(it.text).startswith("No change has")
        for it in found.blocks
    )


def test_even_activity_is_recognised() -> None:
    assert worksheet.distribution(data()).startswith("Times of high and of low activity: phase 1")
    one = [sample.profile()["phases"][0] | {"to_s": 180.0}]
    assert worksheet.distribution(data(phases=one)).startswith("Even: ")
    halves = [one[0] | {"to_s": 50.0}, one[0] | {"from_s": 50.0, "to_s": 100.0}]
    assert worksheet.distribution(data(phases=halves)).startswith("Even: phase 1 ")


def test_requests_without_a_call_count_as_activity() -> None:
    rates = sample.rates().with_columns(
        *(pl.lit(1e3).alias(f"tree.{way}_call_bytes_per_s") for way in ("read", "write")),
        *(pl.lit(5e6).alias(f"tree.{way}_bytes_per_s") for way in ("read", "write")),
    )
    asynchronous = ProfileData(sample.profile(), rates)
    assert worksheet.distribution(asynchronous) == "Even: phase 1 10 MB/s, phase 2 10 MB/s."


def test_changes_since_the_baseline_are_named() -> None:
    changed = data(baseline={"id": "b1", "changed_since": ["another kernel"]})
    assert "another kernel" in text_of(sections(changed, [], []))


def test_sizes_that_occur_once_are_merged() -> None:
    profile = sample.profile()
    sizes = [("read", 4096, 1000), ("read", 1 << 30, 1), *(("read", 5 + n, 1) for n in range(40))]
    names = ("operation", "bytes", "count")
    rows = [dict(zip(names, size, strict=True)) for size in sizes]
    profile["characteristics"]["common_sizes"] = rows
    (table,) = (
        block
        for section in sections(ProfileData(profile), [], [])
        for block in section.blocks
        if isinstance(block, Table) and block.title == "Most frequent sizes"
    )
    assert [row[1:] for row in table.rows] == [
        ["4 KiB", "1,000"],
        ["1 GiB", "1"],
        ["40 other sizes", "40"],
    ]


def test_marks_follow_from_the_verdicts() -> None:
    found = worksheet.section(data()).blocks[-1]
    assert isinstance(found, Table)
    assert [row[2:5] for row in found.rows] == [["X", "", ""], ["", "", "X"]]


def test_phase_means_are_those_of_its_intervals() -> None:
    everything = data()
    first = everything.within(everything.phases[0])
    assert first.rates.height == sample.CHANGE
    expected = everything.rates.head(sample.CHANGE)["tree.user"].mean()
    assert first.mean("tree.user") == pytest.approx(expected)
    assert first.mean("none") is None


def test_disks_of_an_array_have_no_chart_of_their_own() -> None:
    assert data().disks == ["md0"]
    rates = sample.rates(3).select(
        "from_s",
        "to_s",
        *(
            pl.lit(rate).alias(f"disk.{name}.write_bytes_per_s")
            for name, rate in (("nvme0n1", 9e6), ("nvme0n1p1", 9e6), ("sda", 2e6), ("sdb", 1e3))
        ),
    )
    # A partition counts with its disk, and sdb moves less than 1 % of what nvme0n1 does. The
    # directory lies on sda.
    assert ProfileData(sample.profile(), rates).disks == ["sda", "nvme0n1"]


def test_a_running_mean_stays_within_its_phase() -> None:
    values = pl.Series([1.0] * 12 + [5.0] * 3 + [None, 5.0, float("nan")], dtype=pl.Float64)
    phases = pl.Series([0] * 12 + [1] * 6)
    found = running_mean(values, phases).to_list()
    assert found == [1.0] * 12 + [5.0] * 3 + [None, 5.0, None]
    slope = running_mean(pl.Series(np.arange(30.0)), pl.Series([0] * 30)).to_list()
    # Ten samples from five before to four after.
    assert slope[10] == pytest.approx(9.5) and slope[0] == pytest.approx(2.0)
    assert phase_of(data()).value_counts(sort=True)["count"].to_list() == [110, 70]


def test_labels_of_baselines_do_not_overlap() -> None:
    places = _spread([0.1, 0.11, 0.5, 0.99, 1.0, 1.0], 0.08)
    assert places == sorted(places) and max(places) <= 1.0
    assert np.diff(places).min() == pytest.approx(0.08)


def test_a_baseline_far_above_the_lines_does_not_flatten_them() -> None:
    line = Line("read", pl.Series([10e6] * 180), "#0072B2")
    levels = [Level("low", 20e6), Level("high", 5e9), Level("unknown", None)]
    figure = time_chart(data(), [Panel("Disk", "B/s", [line], levels)])
    assert figure is not None
    axes = figure.axes[1]
    assert 20 < axes.get_ylim()[1] < 25
    texts = [it.get_text() for it in axes.texts]
    assert texts == ["low 20 MB/s", "↑ high 5 GB/s"]


def test_a_panel_without_values_is_left_out() -> None:
    zero, unknown = pl.Series([0.0] * 180), pl.Series([None] * 180, dtype=pl.Float64)
    quiet = Panel("Swap", "B/s", [Line("in", zero, "black")], if_positive=True)
    assert time_chart(data(), [quiet, Panel("X", "s", [Line("y", unknown, "black")])]) is None
    shown = time_chart(data(), [quiet, Panel("Z", "s", [Line("in", zero, "black")])])
    assert shown is not None and len(shown.axes) == 2


def test_phases_are_shaded_in_the_colour_of_their_verdict() -> None:
    line = Line("read", sample.rates()["tree.user"], "#0072B2")
    figure = time_chart(data(), [Panel("Processors", "%", [line])])
    assert figure is not None
    strip, axes = figure.axes
    assert [it.get_text() for it in strip.texts] == ["1 cpu", "2 disk-write"]
    shades = [it for it in axes.patches if it.get_alpha() == 0.1]
    assert [to_hex(it.get_facecolor()) for it in shades] == [
        VERDICTS[it].colour.lower() for it in ("cpu", "disk-write")
    ]


def test_many_samples_make_a_small_picture() -> None:
    many = 50_000
    rates = pl.DataFrame({"from_s": np.arange(many) * 1.0, "to_s": np.arange(many) + 1.0})
    values = pl.Series(np.random.default_rng(1).random(many))
    long = ProfileData(sample.profile() | {"phases": [], "duration_s": 5e4}, rates)
    figure = time_chart(long, [Panel("X", "%", [Line("x", values, "#0072B2")])])
    assert figure is not None
    picture = io.BytesIO()
    figure.savefig(picture, format="svg")
    assert len(picture.getvalue()) < 400_000


@pytest.mark.parametrize(
    ("largest", "unit", "expected"),
    [
        (1.5e9, "B/s", (1e9, "GB/s")),
        (999.0, "B/s", (1.0, "B/s")),
        (2e-3, "s", (1e-3, "ms")),
        (0.0, "s", (1e-6, "µs")),
        (0.4, "%", (0.01, "%")),
        (7.0, "1/s", (1.0, "1/s")),
    ],
)
def test_axes_have_fitting_units(largest: float, unit: str, expected: tuple[float, str]) -> None:
    assert scale(largest, unit) == expected


@pytest.mark.parametrize("width", [60, 120])
def test_tables_of_a_terminal_show_phases_evidence_and_advice(width: int) -> None:
    console = Console(width=width, file=io.StringIO(), markup=False)
    console.print(rendered(verdicts(kinds.read("profile", sample.profile()))))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "limited by the processor (cpu)" in text
    assert "disk-write" in text and "larger-requests" in text and "83.17 s" in text
    assert "phase 2: The baseline is 40 days old." in text


def test_tables_of_a_profile_without_a_phase_say_so() -> None:
    console = Console(width=100, file=io.StringIO(), markup=False)
    empty = sample.profile() | {"phases": [], "verdict": None, "name": "\x1b[31mx"}
    console.print(rendered(verdicts(kinds.read("profile", empty))))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert ": no verdict" in text and "\x1b" not in text


def test_several_hosts_are_compared() -> None:
    usage = {
        host: {"tree.user": {"mean": cores, "peak": 1.0}, "cpu.iowait": {"mean": 0.1, "peak": 1.0}}
        for host, cores in (("a1", 0.5), ("a2", 0.25))
    }
    found = charts.section(data(hosts=["a1", "a2"], usage=usage), []).blocks[0]
    assert isinstance(found, Table)
    assert [row[:3] for row in found.rows] == [["a1", "50.0", "10.0"], ["a2", "25.0", "10.0"]]
    single = charts.section(data(hosts=["a1"], usage=usage), []).blocks[0]
    assert isinstance(single, Table) and single.title != "Hosts"
