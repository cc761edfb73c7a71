"""fio's job files: what is read, what is noted, and what is refused with its line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.jobs.fio import parse
from headrace.jobs.fio import values as readers
from headrace.jobs.fio.command_line import read_command
from headrace.jobs.fio.read import planned
from headrace.jobs.fio.table import table
from headrace.jobs.plan import OF_OFFSETS
from headrace.measure.jobs import Job, Plan

FILE = Path("some.fio")


def read(
    text: str,
    device_size: int | None = None,
    stops: float | None = None,
    file_size: int | None = None,
) -> Plan:
    environment = {"SIZE": "2m", "NAME": "x"}
    return parse(
        text,
        FILE,
        device_size=device_size,
        stops=stops,
        file_size=file_size,
        environment=environment,
    )


def job_of(lines: str) -> Job:
    [[job]] = read(f"[j]\n{lines}").stages
    return job


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
    assert (reads.pace.requests, reads.requested) == ((1024.0, None), 4096.0)
    assert (writes.read_share, writes.bytes, writes.block) == (0.7, 64 << 20, 4096)
    assert (writes.sync_every, writes.sync_at_end, writes.repeated) == (32, True, False)
    # Four files of the first, one of the second: they are read, so they have data.
    assert [(it.number, it.bytes, it.filled) for it in plan.files] == [
        *((number, 1 << 30, "written") for number in range(4)),
        (4, 64 << 20, "written"),
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
    assert (w.file, w.shared, list(w.all_files())) == (r.file, True, [w.file])
    assert [(it.bytes, it.filled) for it in plan.files] == [
        (2 << 20, "written"),
        (1 << 20, "allocated"),
    ]
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
        ("bssplit=4k/50:8k/40", "bssplit=4k/50:8k/40: expected bssplit=4k/60:64k/40"),
        ("verify=crc33", "verify=crc33: expected verify=crc32c"),
        ("thinktime=10x", "thinktime=10x"),
        ("include other.fio", "include other.fio: No such file"),
        ("rw=trim", "rw=trim: devices are not trimmed"),
        ("rw=randread:-8", "rw=randread:-8"),
        ("bs=4k,8k,1,1", "bs=4k,8k,1,1"),
        ("bs=4x", "bs=4x"),
        ("kb_base=1000", "kb_base=1000: expected kb_base=1024"),
        ("size=50%", "size=50%: a share of a file"),
        ("size=0", "expected size="),
        ("size=4z", "zoned devices"),
        ("size=1k", "at least one block of 4096"),
        ("size=(1+", "expected a calculation"),
        ("size=(2**64)", "expected a calculation"),
        ("size=1m\nnrfiles=512", "at least one block of 4096 bytes in each file"),
        ("ioengine=rados", "ioengine=rados: not supported: it needs Ceph's library"),
        ("ioengine=libao", "ioengine=libao: expected ioengine=one of sync"),
        ("iodepth=0", "iodepth=0"),
        ("iodepth=-1", "iodepth=-1"),
        ("numjobs=10000000", "numjobs=10000000"),
        ("direct", "direct: expected direct=0 or 1"),
        ("direct=2", "direct=2"),
        ("runtime=1w", "runtime=1w"),
        ("rwmixread=101", "rwmixread=101"),
        ("rate_iops=100,200,3,4", "rate_iops=100,200,3,4"),
        ("size=${OTHER}", "the environment variable OTHER is not set"),
        ("zonemode=zbd", "zoned devices are not supported"),
        ("blcksize=4k", 'did you mean "blocksize"?'),
        ("exec_prerun=rm", "a job file starts no programs"),
        ("cpus_allowed=9999", "this process may not use processor 9999"),
        ("numa_cpu_nodes=99", "this machine has no memory node 99"),
        ("random_distribution=zipf:1", "random_distribution=zipf:1: expected"),
        ("steadystate=iops:1%", "expected steadystate_duration="),
        ("ioengine=cpuio\nruntime=1", "expected cpuload="),
        ("[unclosed", '"[unclosed": expected a section'),
        ("[]", "expected a section"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(line: str, message: str) -> None:
    text = refused(f"[job]\nsize=1m\n{line}\n")
    assert text.startswith(("some.fio:1: ", "some.fio:3: ", "some.fio:4: "))
    assert message in text


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("size=1m\nbs=4k,16k\nrw=rw", {"block": 4096, "sizes": ([(4096, 1)], [(16384, 1)])}),
        ("size=1m\nbs=1Ki", {"block": 1024}),
        ("size=1m\nbs=1KiB", {"block": 1000}),
        ("size=1m\nbsrange=1k-3k", {"sizes": ([(1024, 1), (2048, 1), (3072, 1)],) * 2}),
        ("size=1m\nbssplit=4k/60:8k/", {"sizes": ([(4096, 60), (8192, 40)],) * 2}),
        ("size=(1+3)m", {"bytes": 4 << 20}),
        ("size=8*${SIZE}", {"bytes": 16 << 20}),
        ("filesize=${SIZE}\nsize=50%", {"bytes": 1 << 20}),
        ("size=4m\nnrfiles=4", {"files": 4, "bytes": 1 << 20, "shared": False}),
        ("size=4m\nfilename=a:b\\:c", {"files": 2, "bytes": 2 << 20, "shared": True}),
        ("size=1m\noffset=1m\noffset_increment=4k", {"offset": 1 << 20, "offset_step": 4096}),
        ("size=1m\nio_size=4m\nloops=3", {"total": 4 << 20, "passes": 3}),
        ("size=1m\nsync=dsync", {"stable": True, "stable_attributes": False}),
        ("size=1m\nsync=1", {"stable": False, "stable_attributes": True}),
        ("size=1m\nbuffered=0", {"direct": True}),
        ("size=1m\nioengine=sync", {"calls": "posix-seek"}),
        ("size=1m\nioengine=mmap", {"calls": "mapped"}),
        ("ioengine=filecreate\nfilesize=4k\nnrfiles=7", {"work": "create", "files": 7}),
        ("size=1m\nioengine=falloc\nrw=randtrim", {"work": "punch"}),
        ("ioengine=cpuio\ncpuload=30\nruntime=2", {"compute": (0.3, 0.05), "work": "compute"}),
        ("size=1m\nfile_service_type=random:3", {"file_order": ("random", 3)}),
        ("size=1m\nwait_for=other\nexitall", {"after": "other", "ends_all": True}),
        ("size=1m\nnumber_ios=10", {"most": 10}),
        ("size=0\nfilesize=1m", {"bytes": 1 << 20}),
    ],
)
def test_options_become_fields_of_jobs(lines: str, expected: dict[str, object]) -> None:
    job = job_of(lines)
    assert {name: getattr(job, name) for name in expected} == expected


def test_patterns_distributions_and_paces_are_those_of_the_manual() -> None:
    job = job_of("size=1m\nrw=randread:8\nrw_sequencer=identical\npercentage_random=40")
    access = job.access
    assert (access.random, access.in_a_row, access.same_offset) == (True, 8, True)
    assert access.random_share == 0.4
    assert job_of("size=1m\nrw=read:-8k").access.step == -8192
    zoned = job_of("size=1m\nrw=randread\nrandom_distribution=zoned:60/10:30/20:10/")
    assert zoned.access.distribution["zones"] == [
        (60.0, 0.0, 0.1),
        (30.0, 0.1, pytest.approx(0.3)),
        (10.0, pytest.approx(0.3), pytest.approx(1.0)),
    ]
    absolute = job_of("size=1m\nrw=randread\nrandom_distribution=zoned_abs:90/256k:10/768k")
    assert absolute.access.distribution["zones"] == [(90.0, 0.0, 0.25), (10.0, 0.25, 1.0)]
    zones = job_of("size=4m\nrw=read\nzonemode=strided\nzonesize=256k\nzoneskip=1m").access.zones
    assert zones == (262144, 262144, 1048576)
    pace = job_of(
        "size=1m\nrw=rw\nrate=1m,512k\nrate_process=poisson\nthinktime=2ms\n"
        "thinktime_spin=500\nthinktime_blocks=4\nstartdelay=1-2"
    ).pace
    assert (pace.bytes, pace.poisson) == ((1048576.0, 524288.0), True)
    assert pace.think is not None
    assert pace.think == pytest.approx((0.002, 0.0005, 4))
    assert pace.delay == (1.0, 2.0)


def test_reads_are_compared_if_a_job_before_has_written_the_data() -> None:
    text = "[global]\nsize=1m\nfilename=x\nverify=md5\n[w]\nrw=write\ndo_verify=0\n[r]\nstonewall\n"
    [[write], [back]] = read(text).stages
    assert (write.content.read_back, back.content.verify) == (False, True)
    plan = read("[r]\nsize=1m\nverify=md5\n")
    assert not plan.stages[0][0].content.verify
    assert any("no job before it writes data" in note for note in plan.notes)
    pattern = job_of("size=1m\nrw=write\nverify=pattern\nverify_pattern=0xdeadface")
    assert (pattern.content.pattern, pattern.content.read_back) == ([0xDE, 0xAD, 0xFA, 0xCE], True)


def test_files_are_included_and_each_option_without_effect_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "common.fio").write_text("[global]\nsize=1m\n")
    (tmp_path / "more.fio").write_text("bs=8k\ngtod_reduce=1\n")
    text = "include common.fio\n[a]\ngtod_reduce=1\ninclude more.fio\n[b]\n"
    plan = parse(text, tmp_path / "main.fio")
    assert [(job.name, job.block) for job in plan.stages[0]] == [("a", 8192), ("b", 4096)]
    assert sum("gtod_reduce: no effect here" in note for note in plan.notes) == 1
    assert "(2 times)" in plan.notes[0]
    (tmp_path / "loop.fio").write_text("include loop.fio\n[a]\n")
    with pytest.raises(ValueError, match="include each other"):
        parse("include loop.fio\n", tmp_path / "main.fio")


def test_a_file_stands_for_a_device_whose_size_is_asked_for() -> None:
    text = "[j]\nfilename=/dev/nvme0n1\nrw=randread\n"
    assert "--file-size" in refused(text)
    [[job]] = read(text, file_size=1 << 30).stages
    assert job.bytes == 1 << 30


def test_the_command_line_is_read_as_fio_reads_it(tmp_path: Path) -> None:
    text = (
        "-direct=1 --iodepth 32 -thread -rw=randread --ioengine=libaio --size=1m --numjobs 2"
        " --name=a --bs=8k --name=b --stonewall --norandommap=1 --output-format=json"
        " --eta-newline=1 --directory=/some/where"
    )
    command = read_command(text.split(), {})
    plan = planned(command.text, "fio", command.source, device_size=None, stops=None)
    [[first], [second]] = plan.stages
    assert (first.name, first.block, first.queue_depth) == ("a", 8192, 32)
    assert (second.name, second.block, second.access.each_once) == ("b", 4096, False)
    assert command.json
    assert any("--eta-newline: no effect" in note for note in plan.notes)
    (tmp_path / "x.fio").write_text("[one]\nsize=1m\n[two]\nsize=1m\n")
    command = read_command([str(tmp_path / "x.fio"), "--section=two", "/mnt"], {})
    assert [section.name for section in command.text.sections] == ["two"]
    assert command.paths == ["/mnt"]
    for word, message in (
        ("--client=host", "mpirun"),
        ("--output-format=xml", "expected one of normal"),
        ("--iodepth", "expected --iodepth=VALUE"),
    ):
        with pytest.raises(ValueError, match=message):
            read_command([word], {})


def test_every_option_of_the_table_has_a_reader_and_its_example_is_read() -> None:
    for name, option in table().done.items():
        reader = getattr(readers, option.value)
        assert not option.example or reader(option.example) is not None, name
        assert option.example or option.value in readers.EXAMPLES, name


def test_files_without_jobs_or_sizes_are_refused() -> None:
    assert "no jobs: expected a section" in refused("")
    assert "no jobs: expected a section" in refused("[global]\nsize=1m\n")
    assert "some.fio:1: [job]: expected size=" in refused("[job]\nrw=read\n")
    assert "some.fio:1: " in refused("rw=read\n[job]\nsize=1m\n")


def test_what_is_carried_out_otherwise_is_noted_with_its_line() -> None:
    plan = read(
        "[job]\nsize=1m\nioengine=libaio\nthread\nunlink=1\nnumjobs=2\ndirectory=/tmp\n"
        "mem=mmap\nrw=randread\nfsync=1\nend_fsync=1\n"
    )
    assert [note.split(": ")[0] + ": " + note.split(": ")[1] for note in sorted(plan.notes)] == [
        "some.fio:10: fsync",
        "some.fio:11: end_fsync",
        "some.fio:3: ioengine",
        "some.fio:4: thread",
        "some.fio:5: unlink",
        "some.fio:6: numjobs",
        "some.fio:8: mem",
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


WORDS = st.sampled_from([*table().names, *table().accepted, *table().refused])
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
        assert str(error).startswith(("some", "fio"))
        return
    numbers = {layout.number: layout for layout in plan.files}
    for stage in plan.stages:
        assert stage
        for job in stage:
            assert job.block > 0
            assert job.block <= job.bytes or job.work not in OF_OFFSETS
            assert 0.0 <= job.read_share <= 1.0
            assert job.queue_depth == 1 or job.calls in ("io-uring", "null")
            assert not job.repeated or job.seconds
            if device_size is None and job.work == "transfer" and not job.creates:
                layouts = [numbers.get(number) for number in job.all_files()]
                for layout in layouts if job.calls != "null" else ():
                    assert layout is not None
                    assert layout.bytes >= job.offset + job.bytes
                    assert layout.filled == "written" or not job.reads
