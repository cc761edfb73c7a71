"""One fio job file carried out by fio and by Headrace in turn, in one directory.

python benches/load/job_file.py DIR [ROUNDS] [FILE]

Prints IOPS and latencies of reads and writes of each job by both (medians over the rounds), and
the median of the ratios of a round. Who comes first changes with each round. The last line has the
processor time of the whole commands, start and files included.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

JOBS = """
[global]
ioengine=io_uring
direct=1
size=256m
runtime=3
time_based
[random read, depth 1]
rw=randread
bs=4k
[random read, depth 16]
stonewall
rw=randread
bs=4k
iodepth=16
[random write, depth 16]
stonewall
rw=randwrite
bs=4k
iodepth=16
[mixed, depth 8]
stonewall
rw=randrw
rwmixread=70
bs=8k
iodepth=8
[sequential read, depth 4]
stonewall
rw=read
bs=256k
iodepth=4
"""
FIGURES = ("IOPS", "mean", "p50", "p99", "p999")


def by_fio(file: Path, below: Path) -> dict[str, dict[str, float]]:
    """Return IOPS and latencies in ms, by job and operation."""
    with tempfile.TemporaryDirectory(dir=below) as directory:
        command = ["fio", str(file), f"--directory={directory}", "--output-format=json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, dict[str, float]] = {}
    for job in json.loads(done.stdout[done.stdout.index("{") :])["jobs"]:
        for operation in ("read", "write"):
            if not job[operation]["total_ios"]:
                continue
            latency = job[operation]["clat_ns"]
            at = {key: value * 1e-6 for key, value in latency["percentile"].items()}
            found[f"{job['jobname']}, {operation}"] = {
                "IOPS": job[operation]["iops"],
                # From the submission on.
                "mean": job[operation]["lat_ns"]["mean"] * 1e-6,
                "p50": at["50.000000"],
                "p99": at["99.000000"],
                "p999": at["99.900000"],
            }
    return found


def by_headrace(file: Path, below: Path) -> dict[str, dict[str, float]]:
    """Return IOPS and latencies in ms, by job and operation."""
    command = [sys.executable, "-m", "headrace", "bench", str(file), str(below)]
    command += ["--json", "--no-store", "--no-progress"]
    # fio starts a session per job. The kernel shares processors between sessions (autogroup,
    # sched(7)), so a session shared with other programs would get less than fio's.
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, start_new_session=True
    )
    found: dict[str, dict[str, float]] = {}
    job: dict[str, Any]
    for job in json.loads(done.stdout)["jobs"]:
        for operation, of_it in job["operations"].items():
            latency = {key: value * 1e3 for key, value in of_it["latency"].items()}
            found[f"{job['name']}, {operation}"] = {"IOPS": of_it["per_second"], **latency}
    return found


def spent() -> float:
    """Return the processor seconds of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def per_request(work: dict[str, dict[str, float]], seconds: float) -> float:
    """Return microseconds of processor time for each request of a second of all jobs."""
    return seconds * 1e6 / sum(one["IOPS"] for one in work.values())


def main() -> None:
    """Measure both in turn, and print the medians."""
    below = Path(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "jobs.fio"
        text = Path(sys.argv[3]).read_text(encoding="utf-8") if len(sys.argv) > 3 else JOBS
        file.write_text(text, encoding="utf-8")
        each: list[tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]] = []
        times: list[tuple[float, float]] = []
        for number in range(rounds):
            taken = {}
            done = {}
            for program in (by_headrace, by_fio) if number % 2 else (by_fio, by_headrace):
                before = spent()
                done[program] = program(file, below)
                taken[program] = per_request(done[program], spent() - before)
            each.append((done[by_headrace], done[by_fio]))
            times.append((taken[by_headrace], taken[by_fio]))
    print("| job | figure | Headrace | fio | ratio |\n| --- | --- | --- | --- | --- |")
    for name in each[0][1]:
        for figure in FIGURES:
            mine, others = ([of[side][name][figure] for of in each] for side in (0, 1))
            ratio = statistics.median(one / other for one, other in zip(mine, others, strict=True))
            middle = [statistics.median(of) for of in (mine, others)]
            unit = "" if figure == "IOPS" else " (ms)"
            print(
                f"| {name} | {figure}{unit} | {middle[0]:,.4g} | {middle[1]:,.4g} | {ratio:.2f} |"
            )
    mine, others = (statistics.median(side) for side in zip(*times, strict=True))
    ratio = statistics.median(one / other for one, other in times)
    print(f"| all | processor time of the command / sum of IOPS (us s) | {mine:,.4g} |", end="")
    print(f" {others:,.4g} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
