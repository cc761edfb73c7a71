"""fio's job files: what is read, what is noted, and what is refused with its line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.measure.jobs import Plan
from headrace.measure.jobs.fio_file import EXAMPLES, FLAGS, parse

FILE = Path("some.fio")


def read(text: str, device_size: int | None = None, stops: float | None = None) -> Plan:
    return parse(text, FILE, device_size=device_size, stops=stops)


def refused(text: str, device_size: int | None = None) -> str:
    with pytest.raises(ValueError, match="some.fio") as error:
        read(text, device_size)
    return str(error.value)


def test_a_job_has_what_its_section_and_global_say() -> None:
    plan = read(
        "; a comment\n"
        "[global]\n"
        "ioengine=io_uring\n"
        "direct=1\n"
        "size=1g   # not 1 GB\n"
        "runtime=2m\n"
        "\n"
        "[reads]\n"
        "rw=randread\n"
        "bs=8k\n"
        "iodepth=32\n"
        "numjobs=4\n"
        "time_based\n"
        "ramp_time=500ms\n"
        "rate_iops=1k\n"
        "group_reporting\n"
        "[global]\n"
        "size=64m\n"
        "[writes]\n"
        "stonewall\n"
        "rw=randrw\n"
        "rwmixread=70\n"
        "fsync=32\n"
        "end_fsync=1\n"
    )
    [[reads], [writes]] = plan.stages
    assert (reads.name, reads.read_share, reads.random) == ("reads", 1.0, True)
    assert (reads.block, reads.bytes, reads.queue_depth) == (8192, 1 << 30, 32)
    assert (reads.processes, reads.direct, reads.calls) == (4, True, "io-uring")
    assert (reads.seconds, reads.repeated, reads.warm_up) == (120.0, True, 0.5)
    assert (reads.rate, reads.requested) == (1024.0, 4096.0)
    assert (writes.read_share, writes.bytes, writes.block) == (0.7, 64 << 20, 4096)
    assert (writes.sync_every, writes.sync_at_end, writes.repeated) == (32, True, False)
    # Four files of the first, one of the second: they are read, so they have data.
    assert [(it.number, it.bytes, it.written) for it in plan.files] == [
        *((number, 1 << 30, True) for number in range(4)),
        (4, 64 << 20, True),
    ]
    assert plan.notes == (
        "some.fio:16: group_reporting: each job has figures of its own, of all its processes",
    )


def test_jobs_run_side_by_side_up_to_a_stone_wall() -> None:
    plan = read("[global]\nsize=1m\n[a]\n[b]\n[c]\nstonewall\n[d]\n")
    assert [[job.name for job in stage] for stage in plan.stages] == [["a", "b"], ["c", "d"]]


def test_jobs_that_name_one_file_share_it_and_what_is_only_written_is_only_allocated() -> None:
    plan = read(
        "[global]\nsize=1m\n[w]\nrw=write\nfilename=x\nnumjobs=2\n[r]\nstonewall\nfilename=x\n"
        "size=2m\n[own]\nrw=randwrite\n"
    )
    [[w], [r, own]] = plan.stages
    assert (w.file, w.shared, list(w.files())) == (r.file, True, [w.file])
    assert [(it.bytes, it.written) for it in plan.files] == [(2 << 20, True), (1 << 20, False)]
    assert own.file != r.file


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("1m", 1 << 20),
        ("1MB", 1 << 20),
        ("512b", 512),
    ],
)
def test_sizes_are_those_that_fio_makes_of_them(text: str, size: int) -> None:
    [[job]] = read(f"[j]\nsize=4m\nbs={text}\n").stages
    assert job.block == size


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nrfiles=4", '"nrfiles": this option of fio is not supported'),
        ("bssplit=4k/50:8k/50", '"bssplit"'),
        ("verify=crc32c", '"verify"'),
        ("thinktime=10", '"thinktime"'),
        ("include other.fio", '"include other.fio"'),
        ("rw=trim", "rw=trim: expected rw=one of read"),
        ("rw=randread:8", "rw=randread:8"),
        ("bs=4k,8k", "bs=4k,8k"),
        # 4,000 bytes for fio, 4,096 for everybody else.
        ("bs=4kib", "bs=4kib"),
        ("size=50%", "size=50%"),
        ("size=0", "size=0"),
        ("size=1k", "at least one block of 4096"),
        ("ioengine=mmap", "ioengine=mmap: expected ioengine=one of sync"),
        ("iodepth=0", "iodepth=0"),
        ("iodepth=-1", "iodepth=-1"),
        ("numjobs=10000000", "numjobs=10000000"),
        ("direct", "direct: expected direct=0 or direct=1"),
        ("direct=2", "direct=2"),
        ("runtime=0", "runtime=0"),
        ("runtime=1w", "runtime=1w"),
        ("rwmixread=101", "rwmixread=101"),
        ("rate_iops=100,200", "rate_iops=100,200"),
        ("filename=/dev/sda", "filename=/dev/sda: expected one name without /"),
        ("filename=../x", "filename=../x"),
        ("filename=a:b", "filename=a:b"),
        ("stonewall=0", "stonewall=0: expected stonewall, or no such line"),
        ("time_based", "time_based: expected runtime="),
        ("size=${SIZE}", "variables are not supported"),
        ("[unclosed", '"[unclosed": expected a section'),
        ("[]", "expected a section"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(line: str, message: str) -> None:
    text = refused(f"[job]\nsize=1m\n{line}\n")
    assert text.startswith("some.fio:3: ")
    assert message in text


def test_a_rate_of_reads_and_writes_together_is_refused() -> None:
    # fio has it for each of both.
    assert "rate_iops" in refused("[job]\nsize=1m\nrw=rw\nrate_iops=100\n")


def test_files_without_jobs_or_sizes_are_refused() -> None:
    assert "no jobs: expected a section" in refused("")
    assert "no jobs: expected a section" in refused("[global]\nsize=1m\n")
    assert "some.fio:1: [job]: expected size=" in refused("[job]\nrw=read\n")
    assert "some.fio:1: " in refused("rw=read\n[job]\nsize=1m\n")


def test_what_is_carried_out_otherwise_is_noted_with_its_line() -> None:
    plan = read(
        "[job]\nsize=1m\nioengine=libaio\nthread\nnorandommap\nnumjobs=2\ndirectory=/tmp\n"
        "rwmixread=30\nrw=randread\nfsync=1\nend_fsync=1\n"
    )
    assert [note.split(": ")[0] + ": " + note.split(": ")[1] for note in sorted(plan.notes)] == [
        "some.fio:10: fsync",
        "some.fio:11: end_fsync",
        "some.fio:3: ioengine",
        "some.fio:4: thread",
        "some.fio:5: norandommap",
        "some.fio:6: numjobs",
        "some.fio:7: directory",
        "some.fio:8: rwmixread",
    ]
    [[job]] = plan.stages
    assert (job.sync_every, job.sync_at_end, job.calls) == (None, False, "io-uring")
    plan = read("[job]\nsize=1m\nioengine=psync\niodepth=8\n")
    assert plan.stages[0][0].queue_depth == 1
    assert "iodepth: 8 is 1 with ioengine=psync" in plan.notes[0]


def test_a_time_of_the_command_takes_the_place_of_each_runtime() -> None:
    [[job]] = read("[job]\nsize=1m\nruntime=1h\n", stops=3.0).stages
    assert (job.seconds, job.repeated) == (3.0, True)


def test_a_device_is_read_and_its_size_is_the_default() -> None:
    plan = read("[job]\nnumjobs=2\nfilename=/dev/sda\n", device_size=1 << 30)
    [[job]] = plan.stages
    assert (job.bytes, job.shared, plan.files) == (1 << 30, True, [])
    assert "filename" in plan.notes[0]


def test_jobs_of_one_name_are_told_apart() -> None:
    plan = read("[global]\nsize=1m\n[a]\n[a]\nname=b\n[a]\n")
    assert [job.name for job in plan.stages[0]] == ["a", "b", "a (2)"]


WORDS = st.sampled_from([*EXAMPLES, *FLAGS, "blocksize", "nrfiles", "rw", "verify"])
VALUES = st.one_of(
    st.sampled_from(["", "1", "0", "4k", "1m", "randrw", "read", "io_uring", "1s", "50", "x y"]),
    st.integers(-(10**20), 10**20).map(str),
    st.text(max_size=12),
)
LINES = st.one_of(
    st.sampled_from(["[global]", "[a]", "[b]", "size=1m", "runtime=1", "#", ""]),
    st.builds(lambda key, value: f"{key}={value}", WORDS, VALUES),
    WORDS,
    st.text(max_size=20),
)


@given(st.lists(LINES, max_size=25), st.sampled_from([None, 1 << 20]))
def test_any_text_is_jobs_that_can_be_or_one_clear_error(
    lines: list[str], device_size: int | None
) -> None:
    try:
        plan = read("\n".join(lines), device_size)
    except ValueError as error:
        assert str(error).startswith("some.fio:")
        return
    numbers = {layout.number: layout for layout in plan.files}
    for stage in plan.stages:
        assert stage
        for job in stage:
            assert 0 < job.block <= job.bytes
            assert 0.0 <= job.read_share <= 1.0
            assert job.queue_depth == 1 or job.calls == "io-uring"
            assert not job.repeated or job.seconds
            if device_size is None:
                assert all(numbers[number].bytes >= job.bytes for number in job.files())
                assert all(numbers[number].written or not job.reads for number in job.files())
