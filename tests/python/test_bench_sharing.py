"""Operations that several processes carry out at the same moment, by the command."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from command import without_need
from headrace import measure
from mpi import HEADRACE, started, under_way

SCENARIO = Path(__file__).parents[2] / "scenarios" / "shared-file.toml"

FOREVER = ("--set", "workload.0.amount=forever", "--set", 'run.stop.time="1 h"')


def bench(*arguments: object) -> tuple[str, ...]:
    return (*HEADRACE, "bench", "run", str(SCENARIO), *map(str, arguments), "--no-store")


def ended(line: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(line, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("ranks", [1, 2])
def test_all_processes_of_a_client_count(tmp_path: Path, ranks: int) -> None:
    command = bench(tmp_path, "--json", "--set", "workload.0.sharing=client")
    done = ended(list(command) if ranks == 1 else started((ranks, command)))
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    document = json.loads(done.stdout)
    shared = [document["operations"][f"shared-{what}"]["count"] for what in ("read", "write")]
    assert document["sharing"] == {"rounds": sum(shared) // 2, "broken_off": 0}
    # Two processes of each client.
    assert [count % 2 for count in shared] == [0, 0]
    assert list(tmp_path.iterdir()) == []


def test_people_are_told(tmp_path: Path) -> None:
    done = ended(list(bench(tmp_path)))
    assert done.returncode == 0 and "Processes shared an operation " in done.stdout
    assert "the hosts agreed" not in done.stdout
    done = ended(started((2, bench(tmp_path))))
    assert done.returncode == 0 and "the hosts agreed on each in " in done.stdout


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_clients_of_several_ranks_share_as_those_of_one(tmp_path: Path, ranks: int) -> None:
    options = ("--json", "--set", "workload.0.amount=100")
    one = json.loads(ended(list(bench(tmp_path, *options))).stdout)
    done = ended(started((ranks, bench(tmp_path, *options))))
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    many = json.loads(done.stdout)
    assert "coordination" not in one["sharing"]
    for document in (one, many):
        rounds = document["sharing"]["rounds"]
        counts = {name: it["count"] for name, it in document["operations"].items()}
        shared = counts["shared-read"] + counts["shared-write"]
        # Who has come to its end is not waited for; the others go on.
        assert 2 * rounds < shared <= 4 * rounds
        assert document["sharing"]["broken_off"] == 0
        # The last rounds may be of more than are left.
        assert 400 <= sum(counts[name] for name in ("read", "stat")) + shared < 480
        assert 10 < rounds < 60
    told = many["sharing"]["coordination"]
    assert told["announced"]["count"] == many["sharing"]["rounds"]
    assert 0 < told["go_ahead"]["mean"] <= told["go_ahead"]["max"] < 5
    assert list(tmp_path.iterdir()) == []


def test_operations_of_one_client_stay_at_its_rank(tmp_path: Path) -> None:
    command = bench(tmp_path, "--json", "--set", "workload.0.sharing=client")
    done = ended(started((2, command)))
    assert "coordination" not in json.loads(done.stdout)["sharing"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nobody_waits_for_a_rank_that_is_gone(tmp_path: Path, number: signal.Signals) -> None:
    below = tmp_path / "measured"
    below.mkdir()
    saved = tmp_path / "saved.json"
    line = started((4, (*bench(below, *FOREVER), "-o", str(saved))))

    def files_are_there() -> bool:
        return len(list(below.glob("headrace-bench-*/hr-w0/hr-d0/hr-f*"))) == 20

    mpirun, ranks = under_way(line, str(saved), files_are_there)
    time.sleep(0.5)
    os.kill(ranks[2], number)
    mpirun.communicate(timeout=60)
    if number == signal.SIGINT:
        document = json.loads(saved.read_text())
        assert document["stop"]["reason"] == "interrupted"
        assert document["sharing"]["rounds"] > 0
        # Each process may have had one under way.
        assert document["sharing"]["broken_off"] <= 8
    else:
        assert mpirun.returncode != 0
        # mpirun ends the other ranks, which takes a moment.
        while measure.clean(below)[1]:
            time.sleep(0.05)
    assert list(below.iterdir()) == []


def test_a_rank_that_fails_breaks_rounds_off(tmp_path: Path) -> None:
    sets = ("workload.0.weights.write=1", "workload.0.append_share=1", "workload.0.files=1")
    size = 'workload.0.write_sizes={"1 MiB"=1}'
    run = bench(
        tmp_path, "--json", *FOREVER, *(word for it in (*sets, size) for word in ("--set", it))
    )
    # 32 MiB, in blocks of 512 bytes: enough for what MPI needs, not for what is appended.
    limited = ("sh", "-c", 'ulimit -f 65536; exec "$@"', "sh", *run)
    done = ended(started((1, run), (1, limited)))
    assert done.returncode == 1 and len(without_need(done.stderr).splitlines()) == 1
    document = json.loads(done.stdout)
    assert document["stop"]["reason"] == "failed" and document["sharing"]["rounds"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_stop_ends_those_who_wait(tmp_path: Path) -> None:
    sets = ("--set", "workload.0.amount=forever", "--set", 'run.stop.time="0.3 s"')
    done = ended(started((3, bench(tmp_path, "--json", *sets))))
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    document = json.loads(done.stdout)
    assert document["stop"]["reason"] == "time" and document["sharing"]["rounds"] > 0
