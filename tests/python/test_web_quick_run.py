"""Quick runs: answers, limits, and the newest request of a page."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from headrace import simulate
from headrace.web.quick_run import QuickAnswer, QuickRuns

T = TypeVar("T")
SMALL = """
name = "small"
system = "pvfs2"
[clients]
count = 2
[servers]
count = 1
[servers.device]
kind = "simple"
read_rate = "100 MB/s"
write_rate = "100 MB/s"
[network]
bandwidth = "1 Gbit/s"
latency = "0.1 ms"
[[workload]]
kind = "ior"
block = "16 MiB"
transfer = "1 MiB"
"""
LONG = SMALL.replace("16 MiB", "64 TiB")


def with_pool(use: Callable[[QuickRuns], Awaitable[T]], **options: Any) -> T:
    async def whole() -> T:
        pool = QuickRuns(processes=1, **options)
        try:
            return await use(pool)
        finally:
            await pool.close()

    # A browser of other tests may have left its event loop in this thread.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(whole())).result()


def test_a_quick_run_gives_the_document_of_a_run() -> None:
    answer = with_pool(lambda pool: pool.ask("run", SMALL, ["clients.count=4"]))
    assert answer.error is None
    expected = simulate.run(simulate.load(SMALL, {"clients.count": 4})).document
    for figure in ("throughput", "latency", "bottleneck", "stations"):
        assert answer.result[figure] == expected[figure]


def test_an_error_has_its_line_and_column() -> None:
    wrong = SMALL.replace('"100 MB/s"', '"fast"', 1)
    answer = with_pool(lambda pool: pool.ask("check", wrong))
    assert answer.error is not None
    line = wrong.split("\n")[(answer.error.line or 0) - 1]
    assert line == 'read_rate = "fast"'
    assert line[(answer.error.column or 0) - 1 :] == '"fast"'


def test_a_run_over_the_time_limit_ends_and_the_next_one_is_answered() -> None:
    async def use(pool: QuickRuns) -> tuple[QuickAnswer, QuickAnswer]:
        return await pool.ask("run", LONG), await pool.ask("check", SMALL)

    late, next_one = with_pool(use, seconds=2.0)
    assert late.error is not None and "longer than 2 s" in late.error.message
    assert next_one.result["name"] == "small"


def test_a_run_over_the_memory_limit_ends_and_the_next_one_is_answered() -> None:
    many = SMALL.replace("count = 2", "count = 2000000")

    async def use(pool: QuickRuns) -> tuple[QuickAnswer, QuickAnswer]:
        return await pool.ask("run", many), await pool.ask("check", SMALL)

    large, next_one = with_pool(use, seconds=60.0, memory=1 << 30)
    assert large.error is not None and "memory" in large.error.message
    assert next_one.result["name"] == "small"


def test_the_newest_request_of_a_page_wins() -> None:
    async def use(pool: QuickRuns) -> list[QuickAnswer]:
        first = asyncio.create_task(pool.ask("run", LONG, page="mine"))
        await asyncio.sleep(0)
        # The first one runs, or waits for the process: either way it ends.
        await pool.ask("check", SMALL, page="other") if first.done() else None
        second = asyncio.create_task(pool.ask("run", LONG, page="mine"))
        await asyncio.sleep(0)
        third = asyncio.create_task(pool.ask("run", SMALL, page="mine"))
        return list(await asyncio.gather(first, second, third))

    first, second, third = with_pool(use, seconds=60.0)
    assert first.superseded and second.superseded
    assert third.result["scenario"]["name"] == "small"


def test_a_running_request_is_superseded_without_a_new_process() -> None:
    async def use(pool: QuickRuns) -> tuple[QuickAnswer, QuickAnswer, bool]:
        await pool.ask("check", SMALL)
        (before,) = pool._helpers
        first = asyncio.create_task(pool.ask("run", LONG, page="mine"))
        while not any(it.helper for it in pool._tickets.values()):
            await asyncio.sleep(0)
        second = await pool.ask("run", SMALL, page="mine")
        (after,) = pool._helpers
        return await first, second, before is after

    first, second, same = with_pool(use, seconds=60.0)
    assert first.superseded and second.result is not None and same


TRACE = SMALL.split("[[workload]]")[0] + '[[workload]]\nkind = "trace"\nfile = "{}"\n'


def message(answer: QuickAnswer) -> str:
    assert answer.error is not None
    return answer.error.message


def test_quick_runs_read_only_files_that_the_operator_allows(tmp_path: Path) -> None:
    secret, allowed = tmp_path / "secret.toml", tmp_path / "allowed"
    secret.write_text("password = 1\n")
    allowed.mkdir()
    (allowed / "trace.csv").write_text("not a trace\n")

    async def use(pool: QuickRuns) -> list[QuickAnswer]:
        return [
            await pool.ask("check", SMALL.replace('"pvfs2"', f'"{secret}"')),
            await pool.ask("check", SMALL.replace('"pvfs2"', f'"{allowed}/../secret.toml"')),
            await pool.ask("check", SMALL, [f"system={secret}"]),
            await pool.ask("run", TRACE.format(secret)),
            await pool.ask("run", SMALL, [f'workload.0={{kind="trace", file="{secret}"}}']),
            await pool.ask("run", TRACE.format(allowed / "trace.csv")),
        ]

    *refused, read = with_pool(use, directories=[allowed])
    for it in refused:
        assert "outside the directories" in message(it)
        assert "password" not in message(it)
    assert "trace.csv" in message(read) and "outside" not in message(read)


def test_a_quick_run_executes_no_code_of_a_scenario(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    (tmp_path / "evil.py").write_text(f"open({str(marker)!r}, 'w')\n")
    text = f'{SMALL}\n[scheduler]\npython = "evil:Evil"\nfolder = "{tmp_path}"\n'
    answer = with_pool(lambda pool: pool.ask("run", text), directories=[tmp_path])
    assert answer.error is not None and "a class in Python" in answer.error.message
    assert not marker.exists()
