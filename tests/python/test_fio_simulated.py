"""fio's job files, simulated: `headrace run JOB.fio` and what takes a scenario."""

from pathlib import Path

import pytest

from headrace import simulate

SYSTEM = """
system = "ext4"
[machine.device]
kind = "simple"
read_rate = "100 MB/s"
write_rate = "100 MB/s"
time_per_request = "1 ms"
"""


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "machine.toml"
    file.write_text(SYSTEM)
    return file


def simulated(job: str, system: Path) -> "simulate.Result":
    file = system.with_name("job.fio")
    file.write_text(f"[global]\ndirect=1\nsize=1m\nbs=102400\n{job}")
    return simulate.run(simulate.load(file, {"system": str(system)}), requests=True)


def test_a_job_file_is_a_scenario(system: Path) -> None:
    """By hand: 10 requests of 102,400 bytes take 1 ms each, and 1.024 ms for the data:
    20.24 ms for the first job. The second begins after it, and its requests are 50 ms apart."""
    result = simulated("[a]\nrw=randread\n[b]\nstonewall\nrw=write\nrate_iops=20\n", system)
    requests = result.requests
    assert requests is not None
    first, second = (
        requests.filter(workload=number, operation=word).sort("issued_s")
        for number, word in enumerate(("read", "write"))
    )
    assert (first.height, second.height) == (10, 10)
    assert sorted(first["offset_bytes"]) == [102_400 * block for block in range(10)]
    assert first["completed_s"].max() == pytest.approx(0.02024)
    starts = second["issued_s"].to_list()
    assert starts[0] == pytest.approx(0.02024)
    assert starts[-1] - starts[0] == pytest.approx(0.45)


def test_a_queue_depth_keeps_requests_in_flight(system: Path) -> None:
    result = simulated("[a]\nrw=randread\nioengine=libaio\niodepth=5\n", system)
    requests = result.requests
    assert requests is not None
    at_once = requests.filter(operation="read", issued_s=0.0)
    assert at_once.height == 5


def test_what_is_not_simulated_is_in_the_description(system: Path) -> None:
    file = system.with_name("job.fio")
    file.write_text("[a]\nsize=1m\nnice=5\n[b]\nioengine=cpuio\ncpuload=50\nruntime=1\n")
    scenario = simulate.load(file, {"system": str(system)})
    assert "not simulated: a: its processors and nice value, b: it uses no files" in scenario.toml
    file.write_text("[b]\nioengine=cpuio\ncpuload=50\nruntime=1\n")
    with pytest.raises(ValueError, match="none of its jobs"):
        simulate.load(file)
