"""Operations that several processes carry out at the same moment, by the command."""

import json
import subprocess
from pathlib import Path

import pytest

from mpi import HEADRACE, started

SCENARIO = Path(__file__).parents[2] / "scenarios" / "shared-file.toml"


def bench(*arguments: object) -> tuple[str, ...]:
    return (*HEADRACE, "bench", "run", str(SCENARIO), *map(str, arguments), "--no-store")


def ended(line: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(line, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("ranks", [1, 2])
def test_all_processes_of_a_client_count(tmp_path: Path, ranks: int) -> None:
    command = bench(tmp_path, "--json", "--set", "workload.0.sharing=client")
    done = ended(list(command) if ranks == 1 else started((ranks, command)))
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    shared = [document["operations"][f"shared-{what}"]["count"] for what in ("read", "write")]
    assert document["sharing"] == {"rounds": sum(shared) // 2, "broken_off": 0}
    # Two processes of each client.
    assert [count % 2 for count in shared] == [0, 0]
    assert list(tmp_path.iterdir()) == []


def test_people_are_told_and_ranks_do_not_share(tmp_path: Path) -> None:
    done = ended(list(bench(tmp_path)))
    assert done.returncode == 0 and "Processes shared an operation " in done.stdout
    refused = ended(started((2, bench(tmp_path))))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert 'give "client"' in refused.stderr and len(refused.stderr.splitlines()) == 1
