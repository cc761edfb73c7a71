"""Sweeps over client hosts: which ranks take part, the result, and how they end."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import command, without_need
from headrace import measure
from mpi import HEADRACE, started, under_way

ROOT = Path(__file__).parents[2]
OTHER = ("unshare", "--uts", "sh", "-c", 'hostname other; exec "$@"', "sh")
SHORT = ("--time", "0.3", "--warm-up", "0.1", "--no-progress")
NULL = ("--calls", "null", "--no-store", "--json")
PLACED = [[0, 3], [1, 2]]
"""The ranks of this host and of the other."""


@pytest.fixture(autouse=True)
def another_host() -> None:
    """Skips tests where no other host can be played."""
    try:
        subprocess.run(["unshare", "--uts", "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no other host can be played: unshare --uts is not allowed")


def on_two_hosts(*words: object) -> list[str]:
    """A command line that starts a command by ranks 0 and 3 on this host, 1 and 2 on another."""
    line = tuple(map(str, words))
    return started((1, line), (2, (*OTHER, *line)), (1, line))


def mix(below: Path, *options: object) -> list[str]:
    return on_two_hosts(*HEADRACE, "bench", "mix", below, *options)


def ended(line: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(line, capture_output=True, text=True, timeout=120)


def document(line: list[str]) -> dict[str, Any]:
    done = ended(line)
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def test_each_load_is_measured_with_each_number_of_hosts(tmp_path: Path, below: Path) -> None:
    saved = tmp_path / "sweep.json"
    options = (*SHORT, *NULL, "--client-hosts", "2,1", "--processes", 3)
    done = document(mix(below, *options, "--rates", "50,100", "-o", saved))
    assert (done["kind"], done["of"]) == ("load-sweep", "client-hosts")
    names = ["50/s on 1 host", "100/s on 1 host", "50/s on 2 hosts", "100/s on 2 hosts"]
    assert [step["name"] for step in done["steps"]] == names
    assert [step["client_hosts"] for step in done["steps"]] == [1, 1, 2, 2]
    for step in done["steps"]:
        # One client of three processes on each rank that takes part.
        count = step["client_hosts"]
        assert [it["ranks"] for it in step["hosts"]] == PLACED[:count]
        assert step["processes"] == 6 * count
    assert [curve["client_hosts"] for curve in done["curves"]] == [1, 2]
    assert {"100/s on 1 host", "100/s on 2 hosts"} <= done["operations"].keys()
    assert done["environment"]["client_hosts"] == len(done["hosts"]) == 2
    assert list(below.iterdir()) == []

    more = document(mix(below, *options, "--rates", "50,100,200", "--resume", saved))
    assert [step["client_hosts"] for step in more["steps"]] == [1, 1, 1, 2, 2, 2]
    before = [step for step in more["steps"] if step["requested_per_second"] < 200]
    assert before == done["steps"]
    # The same ranks, placed in another way.
    words = (*HEADRACE, "bench", "mix", below, *options, "--rates", 50, "--resume", saved)
    line = tuple(map(str, words))
    refused = ended(started((2, line), (2, (*OTHER, *line))))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "its ranks were on other hosts" in refused.stderr


def test_repeats_and_a_search_go_through_all_numbers_of_hosts(below: Path) -> None:
    options = (*SHORT, *NULL, "--client-hosts", "1-2", "--repetitions", 2)
    # Nothing is answered within no time: halved until there is no lower load to try.
    search = ("--start", 0.04, "--response-limit", 0, "--refinements", 0, "--time", 0.5)
    refused = ended(mix(below, *options, *search))
    assert "no request was completed in the measured time at " in refused.stderr
    assert "0.01 operations/s, 2 client hosts" in refused.stderr
    done = document(mix(below, *options, "--rates", 100))
    assert [len(step["repetitions"]) for step in done["steps"]] == [2, 2]
    assert [len(it["curves"]) for it in done["repetitions"]] == [2, 2]
    assert list(below.iterdir()) == []


def test_rounds_are_of_the_clients_that_take_part(below: Path) -> None:
    sets = ("--workload", ROOT / "scenarios" / "shared-file.toml", "--set", "clients.count=4")
    rounds = ("--rates", 200, "--time", 1, "--warm-up", 0.2, "--client-hosts", "1,2")
    done = document(mix(below, *sets, *rounds, "--no-progress", "--no-store", "--json"))
    assert [step["processes"] for step in done["steps"]] == [done["steps"][0]["processes"]] * 2
    assert all(step["sharing"]["rounds"] > 5 for step in done["steps"])
    assert list(below.iterdir()) == []


def test_the_store_shows_and_draws_a_curve_for_each_number(
    place: Path, tmp_path: Path, below: Path
) -> None:
    plots, csv = tmp_path / "plots", tmp_path / "figures.csv"
    options = (*SHORT, "--calls", "null", "--client-hosts", "1,2", "--rates", "50,100")
    done = ended(mix(below, *options, "--plot", plots, "--csv", csv))
    assert done.returncode == 0, done.stderr
    assert "By the number of client hosts" in done.stdout
    assert sorted(it.name for it in plots.iterdir()) == ["client-hosts.png", "client-hosts.svg"]
    with csv.open() as file:
        assert file.readline().startswith("step,client_hosts,requested_per_second,")
        assert {line.split(",")[1] for line in file} == {"1", "2"}
    (one,) = ids()
    shown = command("results", "show", one)
    assert "By the number of client hosts" in shown.stdout
    shown = command("results", "show", one, "--step", "100/s on 2 hosts", "--json")
    assert json.loads(shown.stdout)["step"]["client_hosts"] == 2
    drawn = command("results", "plot", one, "-o", tmp_path / "curves")
    assert drawn.returncode == 0, drawn.stderr
    svg = (tmp_path / "curves" / "load-sweeps.svg").read_text()
    assert "<!-- 1 client host, " in svg and "<!-- 2 client hosts, " in svg
    ended(mix(below, *options))
    compared = command("results", "compare", *ids(), "--json")
    assert compared.returncode == 0, compared.stderr
    rows = json.loads(compared.stdout)["figures"]
    assert {"100/s on 1 host", "100/s on 2 hosts"} <= {row["operation"] for row in rows}


def ids() -> list[str]:
    """The results in the store."""
    return [it["id"] for it in json.loads(command("results", "list", "--json").stdout)["results"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--client-hosts", "1,2,4"), "--client-hosts 4: the ranks are on 2 hosts ("),
        (("--client-hosts", "0,2"), '--client-hosts "0,2": expected different counts'),
        (("--client-hosts", "a"), '--client-hosts "a": expected different counts'),
        (("--client-hosts", "2,2"), '--client-hosts "2,2": expected different counts'),
        (("--client-hosts", "1", "--clients", "1,2"), "expected no --clients beside it"),
        (
            ("--client-hosts", "1,2", "--set", "clients.count=3"),
            "clients.count = 3: expected 4 at least",
        ),
    ],
)
def test_what_cannot_be_swept_is_one_error(
    options: tuple[str, ...], message: str, below: Path
) -> None:
    done = ended(mix(below, *options, "--rates", 100, *SHORT, "--no-store"))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and len(done.stderr.splitlines()) == 1
    assert list(below.iterdir()) == []


def test_without_mpirun_there_is_one_host(below: Path) -> None:
    options = (*SHORT, *NULL, "--rates", 100)
    done = command("bench", "mix", below, "--client-hosts", 1, *options)
    assert [step["name"] for step in json.loads(done.stdout)["steps"]] == ["100/s on 1 host"]
    done = command("bench", "mix", below, "--client-hosts", 2, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--client-hosts 2: the ranks are on 1 host (" in done.stderr


def sweeping(
    saved: Path, below: Path, counts: str = "1,2"
) -> tuple["subprocess.Popen[str]", list[int], list[int]]:
    """A sweep that is under way, with the ranks of this host and those of the other."""
    options = ("--workload", "mpfs", "--set", "workload.0.files=40", "--client-hosts", counts)
    times = ("--rates", "50,100", "--time", 600, "--warm-up", 0, "--no-store", "-o", saved)
    files = "headrace-bench-*/hr-w0/hr-d*/hr-f*"
    line = mix(below, *options, *times)
    mpirun, ranks = under_way(line, str(saved), lambda: len(list(below.glob(files))) >= 40)
    # All of them measure, or wait idle.
    time.sleep(1.0)
    ours = os.readlink("/proc/self/ns/uts")
    here = [it for it in ranks if os.readlink(f"/proc/{it}/ns/uts") == ours]
    other = [it for it in ranks if it not in here]
    assert (len(here), len(other)) == (2, 2)
    return mpirun, here, other


END: dict[str, Callable[["subprocess.Popen[str]", list[int], list[int]], object]] = {
    "mpirun": lambda mpirun, _here, _other: mpirun.send_signal(signal.SIGINT),
    "first": lambda _mpirun, here, _other: os.kill(here[0], signal.SIGINT),
    "taking part": lambda _mpirun, here, _other: os.kill(here[1], signal.SIGINT),
    "idle": lambda _mpirun, _here, other: os.kill(other[-1], signal.SIGINT),
}


@pytest.mark.parametrize("who", END)
def test_ctrl_c_at_any_rank_ends_the_sweep(who: str, tmp_path: Path, below: Path) -> None:
    saved = tmp_path / "sweep.json"
    mpirun, here, other = sweeping(saved, below)
    END[who](mpirun, here, other)
    _, err = mpirun.communicate(timeout=60)
    assert err.splitlines()[-1] == "interrupted", err
    read = json.loads(saved.read_text())
    assert read["stop"]["reason"] == "interrupted"
    (step,) = read["steps"]
    assert step["partial"] and step["client_hosts"] == 1
    assert list(below.iterdir()) == []


def test_an_idle_rank_that_is_killed_ends_the_job(tmp_path: Path, below: Path) -> None:
    mpirun, _, other = sweeping(tmp_path / "sweep.json", below)
    os.kill(other[0], signal.SIGKILL)
    mpirun.communicate(timeout=60)
    assert mpirun.returncode != 0
    deadline = time.monotonic() + 60
    while measure.clean(below)[1]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert list(below.iterdir()) == []


WORK = """
import sys
from headrace import ranks
here = ranks.current()
def work():
    if sys.argv[1] == "raise":
        raise ValueError("no room")
    return here.rank, here.size
try:
    text = f"{here.on_hosts(1, work)}"
except ValueError as error:
    text = f"{error}"
print(here.broadcast(here.gather((here.number, text, here.rank, here.size))))
ranks.leave(0)
"""


@pytest.mark.parametrize("what", ["return", "raise"])
def test_idle_ranks_return_or_raise_what_the_first_does(what: str) -> None:
    done = ended(on_two_hosts(sys.executable, "-c", WORK, what))
    first, last = ("no room", "no room") if what == "raise" else ("(0, 2)", "(1, 2)")
    texts = [first, first, first, last]
    expected = [(number, text, number, 4) for number, text in enumerate(texts)]
    assert (done.returncode, done.stdout.strip()) == (0, str(expected)), done.stderr
