"""`headrace bench DIR`: the quick start, block devices, and fio's job files carried out."""

import contextlib
import csv
import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace import _core
from headrace.live_rates import LiveJobRates
from headrace.measure.jobs import JobsLive, Options, quick_start, run_jobs
from headrace.measure.jobs.target import opened
from headrace.views.jobs import live_line

SHORT = ("--time", "0.2", "--file-size", "8m")
needs_io_uring = pytest.mark.skipif(
    not _core.has_io_uring(), reason="this system does not let programs use io_uring"
)
ALL = [
    f"{order} {way}, depth {depth}"
    for depth in (1, 16)
    for order in ("sequential", "random")
    for way in ("read", "write")
]


def empty(below: Path) -> bool:
    return not list(below.iterdir())


@needs_io_uring
def test_a_directory_alone_gives_figures_of_all_patterns(
    headrace: Any, below: Path, place: Path
) -> None:
    done = headrace("bench", below, *SHORT, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["kind"] == "jobs"
    assert [job["name"] for job in document["jobs"]] == ALL
    for job in document["jobs"]:
        [(operation, of_it)] = job["operations"].items()
        assert operation == job["name"].split()[1].rstrip(",")
        latency = of_it["latency"]
        assert 0 < latency["p50"] <= latency["p99"] <= latency["p999"] <= latency["max"]
        assert of_it["per_second"] == pytest.approx(of_it["count"] / of_it["active_seconds"])
        assert of_it["throughput"] == pytest.approx(of_it["per_second"] * job["block"])
        assert job["bytes"] == 8 << 20
        assert job["in_flight"]["max"] <= job["queue_depth"]
        # By Little's law; what a thread computes between requests is no latency.
        assert job["in_flight"]["mean"] <= job["queue_depth"] * 1.001
    assert document["stop"] == {"reason": "done"}
    assert empty(below)
    # It is in the store as every other result.
    listed = headrace("results", "list", "--kind", "jobs", "--json")
    [entry] = json.loads(listed.stdout)["results"]
    assert entry["figures"]["random read, depth 16"]["operations_per_s"] > 0
    assert entry["figures"]["random read, depth 16"]["latency_p999_s"] > 0
    shown = headrace("results", "show", entry["id"])
    assert "random read, depth 16" in shown.stdout
    assert headrace("bench", below, *SHORT).returncode == 0
    other = json.loads(headrace("results", "list", "--json").stdout)["results"][0]["id"]
    compared = headrace("results", "compare", entry["id"], other, "--json")
    rows = json.loads(compared.stdout)["figures"]
    assert {"sequential write, depth 1"} <= {row["operation"] for row in rows}


def test_the_page_cache_is_named_where_it_answers(headrace: Any, below: Path) -> None:
    common = (*SHORT, "--calls", "posix", "--queue-depth", "1", "--no-store", "--json")
    done = headrace("bench", below, *common, "--no-direct")
    document = json.loads(done.stdout)
    assert not any(job["direct"] for job in document["jobs"])
    assert all(job["stable"] == ("write" in job["operations"]) for job in document["jobs"])
    conditions = {it["condition"] for it in document["warnings"]}
    assert conditions & {"not-direct", "in-memory"}
    reads = [job for job in document["jobs"] if "read" in job["operations"]]
    if any(job["cache_hit_rate"] is None for job in reads):
        pytest.skip("the kernel has no cachestat(2), which Linux 6.5 has")
    # The file is read many times over.
    assert max(job["cache_hit_rate"] for job in reads) > 0.5
    assert "page-cache" in conditions
    table = headrace("bench", below, *common[:-1], "--no-direct")
    assert "part of the reads were page-cache hits" in " ".join(table.stdout.split())


def test_direct_requests_meet_no_page_cache(below: Path) -> None:
    with opened(below) as target:
        if not target.engine.takes_direct():
            pytest.skip("this file system takes no O_DIRECT")
        options = Options(file=8 << 20, queue_depths=[1], seconds=0.2, calls="posix")
        result = run_jobs(quick_start(below, options), target)
    document = result.document
    if document["place"]["file_system"] == "tmpfs":
        pytest.skip("all of tmpfs is page cache")
    reads = [job for job in document["jobs"] if "read" in job["operations"]]
    assert all(job["direct"] and job["cache_hit_rate"] in (None, 0.0) for job in reads)
    conditions = {it["condition"] for it in document["warnings"]}
    assert not conditions & {"page-cache", "not-direct", "in-memory"}
    assert empty(below)


@needs_io_uring
def test_the_device_has_as_many_requests_in_flight_as_the_queue_depth_says(below: Path) -> None:
    """The kernel's own count, /proc/diskstats, of one process with one thread."""
    number = os.stat(below).st_dev
    device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/inflight")
    if not device.exists():
        pytest.skip("no block device below the directory")
    depth, most, threads = 32, 0, 0
    ends = threading.Event()

    def watch() -> None:
        nonlocal most, threads
        while not ends.is_set():
            most = max(most, sum(map(int, device.read_text().split())))
            names = []
            for task in Path("/proc/self/task").iterdir():
                # It may end at any time.
                with contextlib.suppress(OSError):
                    names.append((task / "comm").read_text(errors="replace").strip())
            threads = max(threads, sum(name.startswith("job ") for name in names))

    with opened(below) as target:
        if not target.engine.takes_direct():
            pytest.skip("this file system takes no O_DIRECT")
        options = Options(file=64 << 20, queue_depths=[depth], seconds=1.0)
        plan = quick_start(below, options)
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            result = run_jobs(plan, target)
        finally:
            ends.set()
            watcher.join()
    if most == 0:
        pytest.skip("the device does not count what is in flight")
    # Others' requests may be among them, and a sample may meet few: half is far above 1.
    assert most >= depth / 2
    assert threads <= 1
    assert {job["in_flight"]["max"] for job in result.document["jobs"]} == {depth}


def test_a_rate_is_asked_for_and_what_is_late_counts(headrace: Any, below: Path) -> None:
    common = ("--calls", "posix", "--queue-depth", "1", "--no-store", "--json")
    done = headrace("bench", below, *SHORT, *common, "--rate", "200")
    document = json.loads(done.stdout)
    for job in document["jobs"]:
        [of_it] = job["operations"].values()
        assert job["requested_per_second"] == 200
        assert of_it["count"] + job["not_made"] == 40
        assert of_it["latency_from_intended"]["mean"] >= of_it["latency"]["mean"] * 0.999


def test_csv_has_a_row_for_each_job(headrace: Any, below: Path, tmp_path: Path) -> None:
    common = (*SHORT, "--calls", "posix", "--queue-depth", "1", "--no-store")
    done = headrace("bench", below, *common, "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["name"] for row in rows] == ALL[:4]
    assert all(float(row["per_second"]) > 0 for row in rows)
    assert all(float(row["latency_p999_s"]) > 0 for row in rows)
    file = tmp_path / "figures.csv"
    done = headrace("bench", below, *common, "--csv", file, "--json")
    json.loads(done.stdout)
    assert len(list(csv.DictReader(file.open()))) == 4
    done = headrace("bench", below, *common, "--csv", "-", "--json")
    assert (done.returncode, done.stdout) == (2, "")


def test_plots_and_files_are_written(headrace: Any, below: Path, tmp_path: Path) -> None:
    common = (*SHORT, "--calls", "posix", "--queue-depth", "1", "--no-store")
    done = headrace(
        "bench", below, *common, "--plot", tmp_path / "plots", "-o", tmp_path / "r.json"
    )
    assert done.returncode == 0, done.stderr
    found = {path.name for path in (tmp_path / "plots").iterdir()}
    assert {"jobs.png", "jobs.svg", "percentiles.png"} <= found
    document = json.loads((tmp_path / "r.json").read_text())
    assert len(document["histograms"]["operation"]) == 4


def test_what_is_saved_can_be_imported(
    headrace: Any, below: Path, tmp_path: Path, place: Path
) -> None:
    common = (*SHORT, "--calls", "posix", "--queue-depth", "1", "--no-store")
    assert headrace("bench", below, *common, "-o", tmp_path / "r.json").returncode == 0
    done = headrace("results", "import", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    [entry] = json.loads(headrace("results", "list", "--json").stdout)["results"]
    assert entry["kind"] == "jobs"


def test_a_directory_with_the_name_of_a_command_is_reached_by_a_path(
    tmp_path: Path, headrace: Any
) -> None:
    (tmp_path / "run").mkdir()
    command = [sys.executable, "-m", "headrace", "bench", "./run", *SHORT]
    command += ["--calls", "posix", "--queue-depth", "1", "--no-store"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "random read, depth 1" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: no such directory, block device, job file or subcommand"),
        (["mixx", "x"], 'did you mean "mix"'),
        (["/dev/null"], "expected a directory or a block device"),
        (["/dev/zero", "--queue-depth", "1"], "expected a directory or a block device"),
        (["README.md"], "to run a scenario: headrace bench run"),
        (["any.toml", "."], "any.toml: no such"),
        (["pyproject.toml", "."], "a scenario is run by headrace bench run pyproject.toml ."),
        ([".", ".", "."], "expected a directory, a block device, or a fio job file"),
        ([""], "expected a directory"),
        ([".", "--queue-depth", "0"], "counts such as"),
        ([".", "--queue-depth", "8", "--calls", "posix"], "system calls have a queue depth of 1"),
        ([".", "--block-size", "0"], "expected a size"),
        ([".", "--file-size", "1 KiB"], "no block of"),
        ([".", "--rate", "0"], "expected requests per second"),
        ([".", "--csv", "/nowhere/x.csv"], "/nowhere"),
    ],
)
def test_wrong_arguments_are_one_line_and_status_2(
    headrace: Any, arguments: list[str], message: str
) -> None:
    done = headrace("bench", *arguments, "--no-store")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_help_shows_the_quick_start(headrace: Any) -> None:
    assert "DIR" in headrace("bench", "--help").stdout
    assert "quick" in headrace("bench", "--help").stdout
    assert "--queue-depth" in headrace("bench", ".", "--help").stdout
    assert headrace("bench").returncode == 2


def test_ctrl_c_shows_what_is_done_and_leaves_nothing(below: Path) -> None:
    command = [sys.executable, "-m", "headrace", "bench", str(below), "--time", "3"]
    command += [
        "--file-size",
        "8m",
        "--calls",
        "posix",
        "--queue-depth",
        "1",
        "--no-store",
        "--json",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        deadline = time.monotonic() + 60
        while empty(below) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.5)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert empty(below), err
    if out:
        assert json.loads(out)["stop"] == {"reason": "interrupted"}


def test_fios_command_line_gives_fios_json_and_logs(
    headrace: Any, below: Path, tmp_path: Path
) -> None:
    words = (
        "-thread -name=a --rw=randrw --bssplit=4k/50:8k/50 --size=1m --name=b --stonewall --rw=read"
    )
    log = f"--write_lat_log={tmp_path}/log --log_avg_msec=0"
    output = tmp_path / "fio.json"
    done = headrace(
        *("bench", "fio", below, *words.split(), "--size=2m", *log.split()),
        *("--output-format=json", f"--output={output}", "--no-store"),
    )
    assert done.returncode == 0, done.stderr
    first, second = json.loads(output.read_text())["jobs"]
    moved = [first[way]["io_bytes"] for way in ("read", "write")]
    assert (first["jobname"], sum(moved), second["read"]["io_bytes"]) == ("a", 1 << 20, 2 << 20)
    times = second["read"]["clat_ns"]
    assert times["min"] <= times["percentile"]["50.000000"] <= times["max"]
    rows = (tmp_path / "log_clat.1.log").read_text().splitlines()
    assert len(rows) == second["read"]["total_ios"] == 512
    assert {row.split(", ")[3] for row in rows} == {"4096"}
    assert empty(below)


def test_a_prediction_stands_beside_a_measurement(
    headrace: Any, below: Path, tmp_path: Path
) -> None:
    system = tmp_path / "machine.toml"
    system.write_text(
        'system = "ext4"\n[machine.device]\nkind = "simple"\nread_rate = "100 MB/s"\n'
        'write_rate = "50 MB/s"\n'
    )
    words = "--name=a --rw=randread --bs=1m --size=4m --direct=1 --name=b --stonewall --rw=write"
    words += " --bs=1m --size=4m --direct=1"
    done = headrace(
        *("bench", "fio", below, *words.split(), "--predict", system, "--json", "--no-store")
    )
    assert done.returncode == 0, done.stderr
    predicted = json.loads(done.stdout)["predicted"]["jobs"]
    # By hand: 1 MiB at 100 and at 50 MB/s, one at a time.
    rates = {each["name"]: each["per_second"] for each in predicted}
    assert rates == pytest.approx({"a": 100e6 / (1 << 20), "b": 50e6 / (1 << 20)}, rel=0.01)


def test_a_fio_job_file_is_carried_out(headrace: Any, below: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.fio"
    file.write_text(
        "[global]\nsize=4m\nioengine=psync\nfilename=data\nverify=crc32c\n"
        "[fill]\nrw=write\nbs=64k\nend_fsync=1\ndo_verify=0\n"
        "[read back]\nstonewall\nrw=randread\nbs=4k\nnumjobs=2\nthread\ngroup_reporting\n"
    )
    for command in (("bench", file, below), ("bench", "run", file, below)):
        done = headrace(*command, "--no-store", "--json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        fill, back = document["jobs"]
        assert (fill["stage"], back["stage"]) == (1, 2)
        assert fill["operations"]["write"]["count"] == 64
        assert fill["operations"]["sync"]["count"] == 1
        assert back["operations"]["read"]["count"] == 2 * 1024
        assert document["job_file"] == file.read_text()
        assert any("thread" in note for note in document["notes"])
        assert empty(below)
    file.write_text("[a]\nsize=1m\nzonemode=zbd\n")
    done = headrace("bench", file, below)
    assert done.returncode == 2
    assert f"{file}:3: " in done.stderr
    assert empty(below)
    done = headrace("bench", file, below, "--queue-depth", "4")
    assert done.returncode == 2
    assert "--queue-depth" in done.stderr


def test_the_line_of_progress_says_how_far_it_is() -> None:
    now = LiveJobRates("bench")
    now.add(JobsLive(2, 8, "random read, depth 1", 0.0, 100.0, (0, 0, 0.0), 14.0))
    now.add(JobsLive(2, 8, "random read, depth 1", 0.5, 100.0, (50, 204800, 0.1), 13.5))
    now.add(JobsLive(2, 8, "random read, depth 1", 1.0, 100.0, (100, 409600, 0.2), 13.0))
    line = live_line(now)
    for part in ("step 2 of 8", "random read, depth 1", "100.0 IOPS", "0.410 MB/s", "2 ms"):
        assert part in line
    assert "100.0 IOPS requested" in line
    assert "time left 13 s" in line
    assert "\r" not in line
    assert "\n" not in line


@pytest.fixture
def loop_device(tmp_path: Path) -> Iterator[Path]:
    """A block device of the test's own."""
    if os.geteuid() != 0:
        pytest.skip("only root makes loop devices")
    image = tmp_path / "image"
    image.write_bytes(os.urandom(1 << 20) * 16)
    made = subprocess.run(
        ["losetup", "--find", "--show", image], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    device = Path(made.stdout.strip())
    yield device
    # The kernel keeps the flag for whoever attaches the device next.
    subprocess.run(["blockdev", "--setrw", device], check=True)
    subprocess.run(["losetup", "--detach", device], check=True)


def test_a_block_device_is_only_read(headrace: Any, loop_device: Path, tmp_path: Path) -> None:
    assert stat.S_ISBLK(loop_device.stat().st_mode)
    before = loop_device.read_bytes()
    common = ("--time", "0.2", "--no-store", "--json", "--calls", "posix", "--queue-depth", "1")
    done = headrace("bench", loop_device, *common)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    names = [job["name"] for job in document["jobs"]]
    assert names == ["sequential read, depth 1", "random read, depth 1"]
    assert document["place"]["bytes"] == 16 << 20
    file = tmp_path / "w.fio"
    file.write_text("[w]\nrw=randwrite\n")
    done = headrace("bench", file, loop_device, "--no-store")
    assert done.returncode == 2
    assert "a block device is only read, and this job writes" in done.stderr
    file.write_text("[r]\nrw=randread\nbs=8k\nsize=1m\n")
    done = headrace("bench", file, loop_device, "--no-store", "--json")
    assert json.loads(done.stdout)["jobs"][0]["operations"]["read"]["count"] == 128
    assert loop_device.read_bytes() == before


def test_a_device_is_opened_for_reading_alone(loop_device: Path, tmp_path: Path) -> None:
    """A device that only can be read is enough."""
    subprocess.run(["blockdev", "--setro", loop_device], check=True)
    options = Options(queue_depths=[1], seconds=0.1, calls="posix")
    with opened(loop_device) as target:
        assert target.directory is None
        run_jobs(quick_start(loop_device, options, target.size), target)
        flags = [
            int(line.split()[1], 8)
            for link in Path("/proc/self/fd").iterdir()
            if os.path.realpath(link) == str(loop_device)
            for line in Path(f"/proc/self/fdinfo/{link.name}").read_text().splitlines()
            if line.startswith("flags:")
        ]
    assert flags
    assert all(it & os.O_ACCMODE == os.O_RDONLY for it in flags)
