"""Tuning a mix of file operations to a protocol's."""

import json
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command import without_need
from headrace.cli.app import run
from headrace.measure import tuning
from headrace.measure.tuning.profilers import command_profiler, gluster_counts, rpc_profiler
from headrace.measure.tuning.search import mix_of
from headrace.measure.tuning.tune import infeasible_targets, tune

GLUSTER_PROFILE = Path(__file__).parents[1] / "data" / "gluster-profile.txt"


def system(operations: int, kinds: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Protocol operations of each file operation, and a mix that can be reached."""
    random = np.random.default_rng(seed)
    counts = random.poisson(1.0, (operations, kinds)) + np.eye(operations, kinds)
    return counts, mix_of(random.dirichlet(np.ones(operations)), counts)


@settings(deadline=None)
@given(st.integers(2, 24), st.integers(2, 13), st.integers(0, 10_000))
def test_a_mix_that_can_be_reached_is_reached(operations: int, kinds: int, seed: int) -> None:
    counts, wanted = system(operations, kinds, seed)
    tuned = tuning.nearest(counts, wanted)
    assert tuned.distance < 1e-6
    assert tuned.shares.sum() == pytest.approx(1.0)
    assert (tuned.shares >= 0).all()


@settings(deadline=None)
@given(st.integers(2, 8), st.integers(0, 1000))
def test_pairs_come_near_and_never_nearer_than_least_squares(operations: int, seed: int) -> None:
    counts, wanted = system(operations, operations, seed)
    by_pairs = tuning.pairwise(counts, wanted, step=0.001, threshold=0.002)
    assert by_pairs.distance >= tuning.nearest(counts, wanted).distance - 1e-9
    even = np.full(operations, 1 / operations)
    assert by_pairs.distance <= np.linalg.norm(
        mix_of(even / counts.sum(axis=1) / (even / counts.sum(axis=1)).sum(), counts) - wanted
    )


def test_operations_that_cause_many_count_by_what_they_cause() -> None:
    # A read causes ten READs, a stat one GETATTR: half and half takes ten stats a read.
    tuned = tuning.nearest(np.array([[10.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5]))
    assert tuned.shares == pytest.approx([1 / 11, 10 / 11])


def test_what_causes_nothing_is_left_out_and_nothing_at_all_is_said() -> None:
    tuned = tuning.nearest(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0.5, 0.5]))
    assert tuned.shares == pytest.approx([0.0, 1.0])
    with pytest.raises(ValueError, match="no file operation"):
        tuning.nearest(np.zeros((2, 2)), np.array([0.5, 0.5]))


def test_what_stands_in_the_way_of_a_mix_is_said() -> None:
    counts = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    found = tuning.Profile(["read", "stat", "sync"], ["read", "getattr", "commit"], counts)
    wanted = np.array([0.8, 0.1, 0.1])
    why = infeasible_targets(found, tuning.nearest(counts, wanted), wanted)
    assert "too little: its purest source, read, also causes getattr" in why["read"]
    assert "too much: caused by read" in why["getattr"]
    reached = np.array([0.3, 0.5, 0.2])
    assert infeasible_targets(found, tuning.nearest(counts, reached), reached) == {}


def test_a_profile_is_corrected_by_what_was_measured() -> None:
    found = tuning.Profile(["a", "b"], ["x", "y"], np.array([[2.0, 1.0], [0.0, 1.0]]))
    # Foreseen were one of each; as many of x came, and half as many again of y.
    corrected = found.corrected(np.array([0.5, 0.5]), np.array([1.0, 1.5]))
    assert corrected.counts.tolist() == [[2.0, 1.5], [0.0, 1.5]]
    # What was not seen, or not foreseen, says nothing.
    same = found.corrected(np.array([0.0, 1.0]), np.array([0.5, 0.0]))
    assert same.counts.tolist() == found.counts.tolist()


def test_what_a_mix_caused_says_nothing_of_operations_that_were_not_in_it() -> None:
    """What happens once, such as opening a file, is far less in a mix than alone; an operation
    that causes the same each time would seem to cause next to nothing of it."""
    counts = np.array([[1.0, 0.04], [0.0, 2.0]])
    found = tuning.Profile(["read", "open"], ["read", "lookup"], counts)
    corrected = found.corrected(np.array([1.0, 0.0]), np.array([1.0, 0.001]))
    assert corrected.counts[0].tolist() == pytest.approx([1.0, 0.001])
    assert corrected.counts[1].tolist() == [0.0, 2.0]


def test_published_mixes_are_shares() -> None:
    for name in tuning.TARGETS:
        assert sum(tuning.target(name).values()) == pytest.approx(1.0)
    # SPEC's row of NFS version 3 sums to 99.
    assert sum(tuning.TARGETS["sfs-nfsv3"].values()) == 99
    assert tuning.target("sfs-nfsv3")["lookup"] == pytest.approx(27 / 99)


def test_a_wanted_mix_of_ones_own_is_read(tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text("READ = 3\nwrite = 1\n")
    assert tuning.target(str(file)) == {"read": 0.75, "write": 0.25}
    for wrong in ("read = -1", 'read = "much"', "read = 0", "read = [", ""):
        file.write_text(wrong)
        with pytest.raises(ValueError, match=r"mix\.toml"):
            tuning.target(str(file))
    with pytest.raises(ValueError, match="sfs-nfsv2"):
        tuning.target("sfs")


def test_counters_of_the_kernels_nfs_are_read_by_name(tmp_path: Path) -> None:
    file = tmp_path / "nfs"
    values = " ".join(str(number) for number in range(22))
    file.write_text(f"net 0 0 0 0\nrpc 1 0 0\nproc3 22 {values}\nproc4 2 1 1\n")
    counts = rpc_profiler(file)()
    assert (counts["null"], counts["getattr"], counts["lookup"]) == (0, 1, 3)
    assert (counts["readdirplus"], counts["commit"]) == (17, 21)


def test_calls_of_a_gluster_volume_are_read() -> None:
    # What GlusterFS 10.3 printed for a volume of two replicas after a file of 3 bytes was
    # written and read; names of host and bricks changed.
    text = GLUSTER_PROFILE.read_text(encoding="utf-8")
    counts = gluster_counts(text)
    assert (counts["lookup"], counts["write"], counts["create"]) == (8, 2, 2)
    # One replica answers reads.
    assert (counts["read"], counts["readdirp"], counts["fstat"]) == (1, 2, 1)
    assert sum(counts.values()) == 29 + 25
    assert gluster_counts("") == {}


def test_a_command_counts(tmp_path: Path) -> None:
    script = tmp_path / "counts.py"
    script.write_text('print(\'{"READ": 7, "write": 2}\')')
    read = command_profiler(f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}")
    assert read() == {"read": 7, "write": 2}
    for wrong in ("print('[]')", "print('{\"read\": 1.5}')", "raise SystemExit(3)", "print(1, 2)"):
        script.write_text(wrong)
        with pytest.raises(ValueError, match="profiler"):
            read()


def test_profilers_that_are_none_are_refused() -> None:
    for wrong in ("nfs", "gluster", "command:", "nfs-client:x", ""):
        with pytest.raises(ValueError, match="expected fuse"):
            tuning.profiler(wrong)


def system_calls() -> Mapping[str, int]:
    """The kernel's count of this process's reads and writes."""
    lines = Path("/proc/self/io").read_text().splitlines()
    counts = dict(line.split(": ") for line in lines)
    return {"read": int(counts["syscr"]), "write": int(counts["syscw"])}


def test_a_mix_is_tuned_on_what_the_kernel_counts(tmp_path: Path) -> None:
    wanted = {"read": 0.7, "write": 0.3}
    amount = tuning.Amount(alone=4000, mixed=8000)
    with tuning.profiler("command:true")(tmp_path) as here:
        watched = replace(here, profiler=system_calls)
        document = tune(watched, wanted, ["read", "write"], rounds=1, amount=amount)
    for mix in document["mixes"].values():
        # The benchmark's own look at the machine reads some files of the kernel beside it.
        assert mix["largest_difference"] < 0.05, document
    assert document["profile"]["read"]["read"] >= 1
    assert document["profile"]["write"]["write"] >= 1


def test_a_tuning_goes_on_with_what_was_not_counted(tmp_path: Path) -> None:
    operations, wanted = ["read", "write", "stat"], {"read": 0.7, "write": 0.3}
    amount = tuning.Amount(alone=1000, mixed=2000)
    saved: list[dict[str, Any]] = []

    def tuned(**options: Any) -> dict[str, Any]:
        with tuning.profiler("command:true")(tmp_path) as here:
            watched = replace(here, profiler=system_calls)
            much = options.pop("amount", amount)
            return tune(watched, wanted, operations, rounds=1, amount=much, **options)

    whole = tuned(so_far=lambda document: saved.append(json.loads(json.dumps(document))))
    # Three operations alone, and two methods with a round and the nearest again.
    assert [len(it["steps"]) for it in saved] == [1, 2, 3, 4, 5, 6, 7]
    assert {it["stop"]["reason"] for it in saved} == {"unfinished"}
    assert (whole["stop"]["reason"], whole["kind"]) == ("done", "tuning")
    again: list[dict[str, Any]] = []
    resumed = tuned(resumed=saved[4], so_far=again.append)
    assert len(again) == 2
    assert resumed["steps"][:5] == whole["steps"][:5]
    assert resumed["profile"] == whole["profile"]
    # What the file has of operations that are no longer asked for stays in it.
    operations = ["read", "write"]
    fewer = tuned(resumed=whole)
    assert [it for it in fewer["steps"] if it in whole["steps"]] == whole["steps"]
    assert set(fewer["profile"]) == {"read", "write"}
    for changed, why in (
        ({"profiler": "fuse"}, 'its profiler is "fuse"'),
        ({"wanted": {"read": 1.0}}, r"of another --target \(read 1\)"),
        ({"steps": saved[4]["steps"][:1]}, "its steps are not as they were saved"),
        ({"version": "0.0.1"}, "of version 0.0.1"),
    ):
        with pytest.raises(ValueError, match=why):
            tuned(resumed=saved[4] | changed)
    with pytest.raises(ValueError, match="with another workload"):
        tuned(resumed=saved[4], amount=tuning.Amount(alone=1001, mixed=2000))


def test_counts_are_divided_by_the_operations_completed_in_the_time(tmp_path: Path) -> None:
    amount = tuning.Amount(alone=10**9, mixed=10**9, time_s=0.5)
    with tuning.profiler("command:true")(tmp_path) as here:
        watched = replace(here, profiler=system_calls)
        wanted = {"read": 0.7, "write": 0.3}
        document = tune(watched, wanted, ["read", "write"], rounds=1, amount=amount)
    assert all(0 < it["completed"] < it["amount"] for it in document["steps"])
    # One system call each; divided by the billion asked for it would be about 0.
    assert document["profile"]["read"]["read"] == pytest.approx(1, abs=0.2)
    assert document["profile"]["write"]["write"] == pytest.approx(1, abs=0.2)
    assert all(it["largest_difference"] < 0.1 for it in document["mixes"].values())
    assert document["amount"]["time_s"] == 0.5


def test_operations_not_completed_in_the_time_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count_requests(
        _watched: object, weights: Mapping[str, float], *_rest: object
    ) -> tuning.Counted:
        return tuning.Counted(*((0, {}) if "sync" in weights else (10, {"getattr": 10})))

    monkeypatch.setattr("headrace.measure.tuning.steps.count_requests", count_requests)
    amount = tuning.Amount(time_s=2.0)
    with tuning.profiler("command:true")(tmp_path) as here:
        document = tune(here, {"getattr": 1.0}, ["sync", "stat"], amount=amount)
        assert document["left_out"] == {"sync": "none completed in 2 s (--time)"}
        assert document["profile"] == {"stat": {"getattr": 1.0}}
        assert document["mixes"]["pairwise"]["measured"] == {"getattr": 1.0}
        with pytest.raises(ValueError, match=r"sync: none completed in 2 s \(--time\)"):
            tune(here, {"getattr": 1.0}, ["sync"], amount=amount)


def test_a_mix_of_which_nothing_is_completed_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def count_requests(
        _watched: object, weights: object, number: int, *_rest: object
    ) -> tuning.Counted:
        return tuning.Counted(*((5, {"getattr": 5}) if number == 1 else (0, {"getattr": 1})))

    monkeypatch.setattr("headrace.measure.tuning.steps.count_requests", count_requests)
    target, mix, csv = (tmp_path / name for name in ("target.toml", "mix.toml", "mix.csv"))
    target.write_text("getattr = 1\n")
    command = ["bench", "tune", str(tmp_path), "--profiler", "command:echo {}", "--target"]
    command += [str(target), "--operations", "stat", "--amount", "1", "--time", "0.5"]
    command += ["--no-store", "--csv", str(csv), "--plot", str(tmp_path / "plots")]
    assert run([*command, "--mix", str(mix)]) == 1
    out, err = capsys.readouterr()
    assert "not measured: no operation of the mix was completed within --time" in out
    assert (
        without_need(err)
        == f"{mix}: not written: no operation of a mix was completed: expected a longer --time\n"
    )
    assert not mix.exists()
    assert run([*command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    for found in document["mixes"].values():
        for of_it in (found, *found["rounds"]):
            assert of_it["measured_distance"] is None and of_it["largest_difference"] is None
        assert found["measured"] is None


def test_an_interrupted_tuning_is_saved_and_says_how_to_go_on(tmp_path: Path) -> None:
    file, mix = tmp_path / "tuning.json", tmp_path / "mix.toml"
    counts = tmp_path / "counts.py"
    # Counts grow with each look.
    counts.write_text(
        "import pathlib\n"
        f"seen = pathlib.Path({str(tmp_path / 'seen')!r})\n"
        "seen.write_text((seen.read_text() if seen.exists() else '') + 'x')\n"
        "print('{\"read\": %d}' % len(seen.read_text()))\n"
    )
    profiler = f"command:{shlex.quote(sys.executable)} {shlex.quote(str(counts))}"
    target = tmp_path / "target.toml"
    target.write_text("read = 1\n")
    command = [sys.executable, "-m", "headrace", "bench", "tune", str(tmp_path)]
    command += ["--profiler", profiler, "--target", str(target), "--operations", "stat,fstat"]
    command += ["--amount", "20", "--rounds", "1", "--no-store", "--mix", str(mix)]
    # Its mix takes longer than any test.
    endless = [*command, "--mixed", "1000000000", "-o", str(file)]
    running = subprocess.Popen(endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not file.exists():
        assert running.poll() is None
        time.sleep(0.01)
    # Another that would go on with the same file meanwhile.
    other = subprocess.run([*command, "--resume", str(file)], capture_output=True, text=True)
    assert other.returncode == 2
    assert "another benchmark is saving to it" in other.stderr
    assert len(other.stderr.splitlines()) == 1
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert f"--resume {file}" in err
    again = [*command, "--mixed", "20", "--resume", str(file)]
    done = subprocess.run(again, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(file.read_text())["stop"]["reason"] == "done"
    assert "operation-mix" in mix.read_text()
    assert not list(tmp_path.glob(".headrace-*"))
