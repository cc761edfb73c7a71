"""HINDMAN's seqprocessor: the order of its versions and what limits them, on a smaller file."""

from pathlib import Path
from typing import Any

import headrace as hr

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


def report(version: int, **sets: str) -> dict[str, Any]:
    values = {"workload.0.input": "1 GB"} | {
        key.replace("__", "."): value for key, value in sets.items()
    }
    result: dict[str, Any] = hr.run(
        hr.load(SCENARIOS / f"seqprocessor-{version}.toml", values)
    ).json()
    return result


def test_each_version_is_faster_than_the_one_before() -> None:
    runs = [
        report(1),
        report(2),
        report(2, workload__0__output_volume="md1"),
        report(3),
    ]
    seconds = [run["simulated_seconds"] for run in runs]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[0] > 4 * seconds[1]


def test_a_byte_at_a_time_is_limited_by_one_processor() -> None:
    found = report(1)["bottleneck"]
    assert found["station"].endswith("/processor")
    assert "single processes" in found["sentence"]
    assert not found["saturated"]


def test_slow_disks_limit_both_other_versions() -> None:
    slow = {"machine__device__member__outer_rate": "20 MB/s"}
    slow |= {"machine__device__member__inner_rate": "20 MB/s"}
    assert not report(2, **slow)["bottleneck"]["station"].endswith("/processor")
