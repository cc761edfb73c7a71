"""Nguyen 2011 and Nguyen, Apon 2011 (ICPE), local ext3: published | ours | error.

Run it by `headrace papers nguyen-local`.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

from dataclasses import dataclass
from statistics import median
from typing import Any

import cases
import figures
import testbed_cases
from published_figures import (
    DROPS,
    JOURNAL_RANDOM,
    JOURNAL_TRACES,
    RANDOM_READ,
    RANDOM_WRITE,
    SYNCHRONOUS_RANDOM,
    SYNCHRONOUS_TRACES,
    TRACE_READS,
    TRACE_WRITES,
    Published,
)

from headrace.quantities import percent_text
from headrace.report.paper import Paper, Row, main
from headrace.validate import Point

BOUND = 0.35
"""Largest relative error at which a rate holds; the authors' largest error is 34 %."""

BLOCKS = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]
"""Call sizes of iozone, in KB."""


@dataclass(frozen=True)
class Rate:
    """Published and simulated rate, in KB/s."""

    published: Published
    ours: float

    @property
    def error(self) -> float:
        return self.ours / self.published.measured - 1

    def row(self) -> Row:
        published = self.published
        ours, theirs = (
            percent_text(error, 2, sign=True) for error in (self.error, published.error)
        )
        return Row(
            f"{published.what} (table {published.table})",
            f"simulated {published.simulated:,.0f}, measured {published.measured:,.0f} KB/s",
            f"{self.ours:,.0f} KB/s",
            f"{ours} (theirs {theirs})",
            abs(self.error) <= BOUND,
        )


def reproduce(paper: Paper) -> list[Row]:
    """Run the experiments, plot them, and return the rows of the table."""
    rates = paper.step("tables 5 to 12", all_rates)
    again = paper.step("measured again", lambda: Again(testbed_cases.Present(testbed_cases.FOLDER)))
    figures.rates(
        paper, [(rate.published, rate.ours, again.tables[rate.published]) for rate in rates]
    )
    save_rates(paper, rates, again)
    again.draw(paper)
    paper.step("numbers of requests", lambda: draw_requests(paper))
    return [
        *paper.step("second-level cache", cache_rows),
        *paper.step("sequential", lambda: sequential_rows(paper)),
        *paper.step("file sizes", lambda: size_rows(paper)),
        *(rate.row() for rate in rates),
        *paper.step("data journal", journal_rows),
        *paper.step("synchronous", synchronous_rows),
        *again.rows(),
    ]


def all_rates() -> list[Rate]:
    write, trace = cases.random_write, cases.trace
    journal, synchronous = cases.DATA_JOURNAL, cases.SYNCHRONOUS
    return [
        Rate(RANDOM_READ, cases.random_read()),
        Rate(RANDOM_WRITE, write({})),
        *(Rate(row, trace(name, {})) for name, row in (TRACE_READS | TRACE_WRITES).items()),
        Rate(JOURNAL_RANDOM, write(journal)),
        *(Rate(row, trace(name, journal)) for name, row in JOURNAL_TRACES.items()),
        Rate(SYNCHRONOUS_RANDOM, write(synchronous)),
        *(Rate(row, trace(name, synchronous)) for name, row in SYNCHRONOUS_TRACES.items()),
    ]


class Again:
    """The tables measured on a current kernel and predicted, in KB/s."""

    def __init__(self, of: testbed_cases.Present) -> None:
        self._of = of
        self.tables = {published: self.point(case) for published, case in testbed_cases.TABLES}

    def point(self, case: testbed_cases.Case) -> Point:
        """Return the measured and predicted rate of a case, as a point in which rates replace
        seconds."""
        rates = tuple(self._of.rates(case))
        return Point(case.name, case.resource, rates, self._of.predicted(case))

    def rows(self) -> list[Row]:
        return [
            Row(
                f"measured again on Linux {self._of.kernel}: {point.name}",
                f"{self.text(point)} KB/s",
                f"{point.predicted.seconds:,.0f} KB/s",
                percent_text(point.error, 2, sign=True),
                abs(point.error) <= BOUND or point.within_repetitions,
            )
            for point in self.tables.values()
        ]

    def text(self, point: Point) -> str:
        """Format the median of the repetitions and their range."""
        middle, least, most = median(point.measured), min(point.measured), max(point.measured)
        return f"{middle:,.0f} ({least:,.0f} to {most:,.0f})"

    def draw(self, paper: Paper) -> None:
        blocks = {
            ", ".join([*kind[:2], *(["synchronous"] if kind[2] else [])]): {
                block: self.point(testbed_cases.block_case(*kind, block)) for block in blocks
            }
            for kind, blocks in testbed_cases.BLOCKS.items()
        }
        figures.blocks_again(paper, blocks, self._of.kernel)
        read, write = (
            {size: self.point(testbed_cases.size_case(operation, size)) for size in sizes}
            for operation, sizes in (
                ("read", testbed_cases.READ_SIZES),
                ("write", testbed_cases.WRITE_SIZES),
            )
        )
        figures.sizes_again(paper, read, write, self._of.kernel)


def save_rates(paper: Paper, rates: list[Rate], again: Again) -> None:
    """Write the rates as a Markdown table."""
    lines = [
        "| tables 5 to 12, KB/s | measured | simulated by the author | ours | our error | his "
        "| measured again, an eighth as large | predicted | error |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for rate in rates:
        row = rate.published
        point = again.tables[row]
        lines.append(
            f"| {row.what} | {row.measured:,.0f} | {row.simulated:,.0f} | {rate.ours:,.0f} "
            f"| {100 * rate.error:+.0f} % | {100 * row.error:+.0f} % "
            f"| {again.text(point)} | {point.predicted.seconds:,.0f} | {100 * point.error:+.0f} % |"
        )
    paper.folder.mkdir(parents=True, exist_ok=True)
    (paper.folder / "rates.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def cache_rows() -> list[Row]:
    drops = {}
    for cache in DROPS:
        rates = [
            cases.sequential_read(
                block, machine__copying__l2=f"{cache} KiB", workload__0__block="64 MiB"
            )
            for block in BLOCKS
        ]
        drops[cache] = next(
            block
            for block, rate, after in zip(BLOCKS, rates, rates[1:], strict=False)
            if after < rate
        )
    in_cache, in_memory, call = cases.copy_times()
    formula = [(min(block, 64) * in_cache + max(block - 64, 0) * in_memory) / 4 for block in BLOCKS]
    deviation = max(
        abs(cases.sequential_read(block) / (block / (time + call) * 1e6) - 1)
        for block, time in zip(BLOCKS, formula, strict=True)
    )
    text = "{} KB for {} KB".format
    return [
        Row(
            "block from which copying slows, by second-level cache (table 2)",
            ", ".join(text(drop, cache) for cache, drop in DROPS.items()),
            ", ".join(text(drop, cache) for cache, drop in drops.items()),
            "",
            drops == DROPS,
        ),
        Row(
            "time to copy (section 4.5)",
            "T_L2 a page up to S_threshold, then the weighted mean, towards T_memory",
            "calls of 4 KB to 16 MB take just that and one system call",
            percent_text(deviation, 2),
            deviation < 0.01,
        ),
    ]


def sequential_rows(paper: Paper) -> list[Row]:
    read = dict(zip(BLOCKS, map(cases.sequential_read, BLOCKS), strict=True))
    kinds: dict[str, dict[str, Any]] = {
        "ordered": {},
        "data journal": cases.DATA_JOURNAL,
        "synchronous": cases.SYNCHRONOUS,
    }
    writes = {
        name: {block: cases.sequential_write(block, sets) for block in BLOCKS}
        for name, sets in kinds.items()
    }
    figures.blocks(paper, {"read": read} | {f"write, {name}": it for name, it in writes.items()})
    write = writes["ordered"]
    fall = {name: 1 - rates[1024] / rates[64] for name, rates in (("read", read), ("write", write))}
    rows = []
    for name, rates in (("read", read), ("write", write)):
        rows.append(
            Row(
                f"sequential {name}: block from which throughput falls (figures 31, 32)",
                "64 KB",
                f"{max(rates, key=lambda block: rates[block])} KB",
                "",
                rates[128] < rates[64] and min(rates[32], rates[16]) > 0.95 * rates[64],
            )
        )
        level = max(abs(rates[block] / rates[1024] - 1) for block in (2048, 4096, 8192, 16384))
        rows.append(
            Row(
                f"sequential {name}: blocks above 1 MB",
                "levels off",
                f"{min(rates[block] for block in BLOCKS[8:]):,.0f} to "
                f"{max(rates[block] for block in BLOCKS[8:]):,.0f} KB/s",
                percent_text(level, 2),
                level < 0.10,
            )
        )
    rows.append(
        Row(
            "sequential: what 1 MB blocks lose against 64 KB",
            "writes lose less than reads",
            f"reads {percent_text(fall['read'], 2)}, writes {percent_text(fall['write'], 2)}",
            "",
            0 < fall["write"] < fall["read"],
        )
    )
    journal = writes["data journal"]
    hidden = abs(journal[1024] / journal[64] - 1)
    rows.append(
        Row(
            "data journal: effect of the second-level cache (figure 39)",
            "not noticeable any longer",
            f"1 MB against 64 KB: {percent_text(journal[1024] / journal[64] - 1, 2, sign=True)}",
            "",
            hidden < 0.05,
        )
    )
    synchronous = writes["synchronous"]
    slower = cases.sequential_write(
        1024, {**cases.SYNCHRONOUS, "machine.copying.page_in_memory": "2.77 us"}
    )
    effect = 1 - synchronous[1024] / slower
    rows.append(
        Row(
            "synchronous: effect of the second-level cache (figure 40)",
            "insignificant",
            f"at 1 MB {percent_text(effect, 2)}; of reads {percent_text(fall['read'], 2)}",
            "",
            effect < 0.05,
        )
    )
    return rows


def size_rows(paper: Paper) -> list[Row]:
    memory = 4096 - 171
    sizes = [1 / 256, 1 / 16, 1, 16, 256, 1024, 3072, 3840, 4096]
    read = {
        size: cases.sequential_read(4, workload__0__block=f"{round(size * 1024)} KiB")
        for size in sizes
    }
    small = [read[size] for size in sizes if size <= 1024]
    spread = max(small) / min(small) - 1
    fall = read[4096] / read[1024]
    written = [128, 256, 320, 384, 448, 512, 640, 768, 1024, 2048]
    write = {
        size: cases.sequential_write(64, {"workload.0.block": f"{size} MiB"}) for size in written
    }
    figures.sizes(paper, read, write, memory, 512)
    past = [write[size] for size in written if size >= 512]
    return [
        Row(
            "sequential read, files of 4 KB to 1 GB (figures 5, 6)",
            "independent of the file's size",
            f"{min(small):,.0f} to {max(small):,.0f} KB/s",
            percent_text(spread, 2),
            spread < 0.02,
        ),
        Row(
            "sequential read, file as large as memory (figure 9)",
            "very large degradation",
            f"to {percent_text(fall, 2)}: {read[4096]:,.0f} KB/s",
            "",
            fall < 0.25,
        ),
        Row(
            "sequential write, file larger than the dirty threshold, ~512 MB (figures 10, 38)",
            "falls; the authors' model is 10 to 20 % too low, figures lost",
            f"{write[256]:,.0f} KB/s at 256 MB, {write[512]:,.0f} at 512, "
            f"{write[1024]:,.0f} at 1 GB",
            "",
            past == sorted(past, reverse=True) and write[1024] < 0.75 * write[256],
        ),
    ]


def journal_rows() -> list[Row]:
    share = cases.bandwidth({}) / cases.bandwidth(cases.ORDERED)
    threshold = "machine.file_system.journal.checkpoint_at"
    half, quarter = (
        cases.random_write({**cases.DATA_JOURNAL, threshold: part}) for part in (0.5, 0.25)
    )
    measured = JOURNAL_RANDOM.measured
    return [
        Row(
            "data journal: bandwidth of the disk that is left (section 5.7)",
            "the same data are written twice: about half",
            percent_text(share, 2),
            percent_text(share / 0.5 - 1, 2, sign=True),
            abs(share - 0.5) < 0.10,
        ),
        Row(
            "data journal: checkpoint at 1/2 or 1/4 of the journal free (random write, 8 KB)",
            "1/2 fits best",
            f"1/2: {percent_text(half / measured - 1, 2, sign=True)}, "
            f"1/4: {percent_text(quarter / measured - 1, 2, sign=True)} against measured",
            "",
            abs(half / measured - 1) <= abs(quarter / measured - 1),
        ),
    ]


def synchronous_rows() -> list[Row]:
    ordered = cases.random_write(cases.SYNCHRONOUS)
    journal = cases.random_write({**cases.SYNCHRONOUS, **cases.DATA_JOURNAL})
    effect = journal / ordered - 1
    return [
        Row(
            "synchronous: data journal against ordered (section 5.8; random write, 8 KB)",
            "no effect",
            f"{journal:,.0f} against {ordered:,.0f} KB/s",
            percent_text(effect, 2, sign=True),
            abs(effect) < 0.05,
        )
    ]


def draw_requests(paper: Paper) -> None:
    """Draw the effect of the number of random writes, which is not published."""
    numbers = [4096, 8192, 16384, 32768, 65536]
    kinds: dict[str, dict[str, Any]] = {
        "ordered": {},
        "data journal": cases.DATA_JOURNAL,
        "synchronous": cases.SYNCHRONOUS,
    }
    curves = {
        f"{name}, {file} file": [
            cases.random_write({**sets, **more, "workload.0.requests": number})
            for number in numbers
        ]
        for name, sets in kinds.items()
        for file, more in (("new", {}), ("cached", cases.CACHED))
    }
    figures.requests(paper, numbers, curves)


if __name__ == "__main__":
    sys.exit(main("nguyen-local", "Nguyen 2011: ext3 on one machine", reproduce))
