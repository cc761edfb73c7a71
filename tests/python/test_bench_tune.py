"""Tuning a mix of file operations to a protocol's."""

import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.measure import tuning
from headrace.measure.tuning.profilers import gluster_counts, of_command, of_rpc
from headrace.measure.tuning.reach import unreached
from headrace.measure.tuning.search import mix_of
from headrace.measure.tuning.tune import tune


def system(operations: int, kinds: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Protocol operations of each file operation, and a mix that can be reached."""
    random = np.random.default_rng(seed)
    counts = random.poisson(1.0, (operations, kinds)) + np.eye(operations, kinds)
    return counts, mix_of(random.dirichlet(np.ones(operations)), counts)


@given(st.integers(2, 24), st.integers(2, 13), st.integers(0, 10_000))
def test_a_mix_that_can_be_reached_is_reached(operations: int, kinds: int, seed: int) -> None:
    counts, wanted = system(operations, kinds, seed)
    tuned = tuning.nearest(counts, wanted)
    assert tuned.distance < 1e-6
    assert tuned.shares.sum() == pytest.approx(1.0)
    assert (tuned.shares >= 0).all()


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
    why = unreached(found, tuning.nearest(counts, wanted), wanted)
    assert "too little: where it comes least mixed, from read, it comes with getattr" in why["read"]
    assert "too much: it comes with read" in why["getattr"]
    reached = np.array([0.3, 0.5, 0.2])
    assert unreached(found, tuning.nearest(counts, reached), reached) == {}


def test_a_profile_is_corrected_by_what_was_measured() -> None:
    found = tuning.Profile(["a", "b"], ["x", "y"], np.array([[2.0, 1.0], [0.0, 1.0]]))
    corrected = found.corrected(np.array([0.5, 0.5]), np.array([0.25, 0.75]))
    assert corrected.counts.tolist() == [[1.0, 1.5], [0.0, 1.5]]
    # What was not seen, or not foreseen, says nothing.
    same = found.corrected(np.array([0.0, 1.0]), np.array([0.5, 0.0]))
    assert same.counts.tolist() == found.counts.tolist()


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
    counts = of_rpc(file)()
    assert (counts["null"], counts["getattr"], counts["lookup"]) == (0, 1, 3)
    assert (counts["readdirplus"], counts["commit"]) == (17, 21)


def test_calls_of_a_gluster_volume_are_read() -> None:
    # What GlusterFS 10.3 printed for a volume of two replicas after a file of 3 bytes was
    # written and read; names of host and bricks changed.
    text = Path(__file__).with_name("gluster_profile.txt").read_text(encoding="utf-8")
    counts = gluster_counts(text)
    assert (counts["lookup"], counts["write"], counts["create"]) == (8, 2, 2)
    # One replica answers reads.
    assert (counts["read"], counts["readdirp"], counts["fstat"]) == (1, 2, 1)
    assert sum(counts.values()) == 29 + 25
    assert gluster_counts("") == {}


def test_a_command_counts(tmp_path: Path) -> None:
    script = tmp_path / "counts.py"
    script.write_text('print(\'{"READ": 7, "write": 2}\')')
    read = of_command(f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}")
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
