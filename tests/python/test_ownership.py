"""Root in directories of other users: each attack, with what it aims at in place beforehand."""

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import command, without_need
from conftest import MIX
from headrace import _core
from headrace.files import atomic_file

NOBODY = 65534
PRECIOUS = "precious\n"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A directory of somebody else's."""
    if os.geteuid() != 0:
        pytest.skip("only root can be led astray by the owner of a directory")
    made = tmp_path / "theirs"
    made.mkdir()
    os.chown(made, NOBODY, NOBODY)
    return made


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    """A file of root's, which must stay as it is."""
    file = tmp_path / "victim"
    file.write_text(PRECIOUS)
    yield file
    assert file.read_text() == PRECIOUS and file.is_file()


def link(at: Path, to: Path) -> None:
    """A symbolic link of the other user's."""
    at.symlink_to(to)
    os.chown(at, NOBODY, NOBODY, follow_symlinks=False)


def test_names_until_a_file_is_whole_cannot_be_guessed(theirs: Path) -> None:
    names = set()
    for _ in range(20):
        with atomic_file(theirs / "r.json") as partial:
            (name,) = (it.name for it in theirs.iterdir() if it.name != "r.json")
            names.add(name)
            partial.write_text("{}")
    assert len(names) == 20
    assert all(len(it) >= len(".headrace-.partial") + 16 for it in names)


def test_an_output_goes_through_no_planted_name(
    theirs: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even one that was guessed."""
    monkeypatch.setattr(secrets, "token_hex", lambda _: "0123")
    link(theirs / ".headrace-0123.partial", victim)
    with pytest.raises(FileExistsError), atomic_file(theirs / "r.json") as partial:
        partial.write_text("{}")
    assert not (theirs / "r.json").exists()


def test_an_output_goes_through_no_name_that_was_exchanged(theirs: Path, victim: Path) -> None:
    """The new file's name is a link to another before it is written."""
    with atomic_file(theirs / "r.json") as partial:
        (new,) = theirs.iterdir()
        new.unlink()
        link(new, victim)
        partial.write_text("{}")
    assert victim.read_text() == PRECIOUS


def test_an_output_goes_to_no_directory_that_was_exchanged(
    theirs: Path, tmp_path: Path, victim: Path
) -> None:
    """The directory is another one, with a file of root's by that name, before it is written."""
    below = theirs / "below"
    below.mkdir()
    os.chown(below, NOBODY, NOBODY)
    with atomic_file(below / victim.name) as partial:
        below.rename(theirs / "moved")
        link(below, victim.parent)
        partial.write_text("{}")
    assert (theirs / "moved" / victim.name).read_text() == "{}"


def test_an_output_replaces_nothing_behind_a_link_of_theirs(
    theirs: Path, victim: Path, small: Path, tmp_path: Path
) -> None:
    link(theirs / "r.json", victim)
    link(theirs / "device", Path("/dev/full"))
    (theirs / "inner").mkdir()
    link(theirs / "inner" / "up", victim.parent)
    for at in ("r.json", "device", f"inner/up/{victim.name}"):
        ended = command("run", small, "--no-store", "-o", theirs / at)
        assert ended.returncode == 2 and len(ended.stderr.splitlines()) == 1, at
        assert "symbolic link" in ended.stderr
        assert "choose another name" in ended.stderr or "expected a path" in ended.stderr
    # One's own links are followed.
    mine = tmp_path / "mine"
    mine.symlink_to(tmp_path / "new.json")
    assert command("run", small, "--no-store", "-o", mine).returncode == 0
    assert json.loads((tmp_path / "new.json").read_text()) and mine.is_symlink()


def test_outputs_in_their_directory_are_written(theirs: Path, small: Path) -> None:
    ended = command("run", small, "--no-store", "-o", theirs / "r.json", "--plot", theirs / "plots")
    assert ended.returncode == 0, ended.stderr
    assert json.loads((theirs / "r.json").read_text())
    assert {it.name for it in theirs.iterdir()} == {"r.json", "plots"}


@pytest.mark.parametrize("name", ["bench run", "bench mix", "calibrate", "twin"])
def test_no_benchmark_runs_in_their_directory(
    theirs: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    file = tmp_path / "mix.toml"
    file.write_text(MIX)
    scenario = [file] if name == "bench run" else []
    ended = command(*name.split(), *scenario, theirs)
    assert ended.returncode == 2 and len(without_need(ended.stderr).splitlines()) == 1, ended.stderr
    assert f"{theirs}: it belongs to nobody (user {NOBODY})" in ended.stderr
    assert "expected a directory that root or the user of sudo owns" in ended.stderr
    assert list(theirs.iterdir()) == []


def test_a_benchmark_follows_no_link_of_theirs(theirs: Path, tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(MIX)
    roots = tmp_path / "roots"
    roots.mkdir()
    link(theirs / "here", roots)
    ended = command("bench", "run", file, theirs / "here")
    assert ended.returncode == 2 and "symbolic link" in ended.stderr
    assert list(roots.iterdir()) == []


def test_who_called_sudo_may_own_the_directory(
    theirs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", str(NOBODY))
    file = tmp_path / "mix.toml"
    file.write_text(MIX + "[run]\nstop = { requests = 50 }\n")
    ended = command("bench", "run", file, theirs, "--no-store")
    assert ended.returncode == 0, ended.stderr
    assert list(theirs.iterdir()) == []


def test_a_directory_that_others_can_write_to_is_refused_strictly(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be led astray by others")
    for mode, refused in ((0o755, False), (0o777, True), (0o1777, False), (0o770, False)):
        made = tmp_path / oct(mode)
        made.mkdir()
        made.chmod(mode)
        os.close(_core.open_directory(made))
        if refused:
            with pytest.raises(ValueError, match="users other than its owner can write to it"):
                _core.open_directory(made, strictly=True)
        else:
            os.close(_core.open_directory(made, strictly=True))
    group = tmp_path / "group"
    group.mkdir()
    os.chown(group, 0, 1000)
    group.chmod(0o775)
    with pytest.raises(ValueError, match="users other than its owner can write to it"):
        _core.open_directory(group, strictly=True)


def test_a_store_in_their_directory_is_refused(
    theirs: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite opens what is at its file's name."""
    monkeypatch.setenv("HEADRACE_STORE", str(theirs))
    ended = command("run", small)
    assert "belongs to nobody" in ended.stderr and list(theirs.iterdir()) == []


DATA = Path(__file__).parents[1] / "data" / "traces"
SCENARIOS = Path(__file__).parents[2] / "scenarios"
TRACE = DATA / "tar.strace"
NET = SCENARIOS / "nets" / "machine-repair.toml"
WORKSHEET = SCENARIOS / "design" / "lab.toml"

OUTPUT_FILES: dict[str, tuple[list[object], str]] = {
    "run -o": (["run", "SMALL", "--no-store", "-o"], "r.json"),
    "run --requests": (["run", "SMALL", "--no-store", "--requests"], "r.parquet"),
    "run --playback": (["run", "SMALL", "--no-store", "--playback"], "r.parquet"),
    "net run -o": (["net", "run", NET, "-o"], "r.json"),
    "net run --playback": (["net", "run", NET, "--playback"], "r.parquet"),
    "net draw -o": (["net", "draw", NET, "-o"], "r.svg"),
    "net export -o": (["net", "export", NET, "-o"], "r.json"),
    "trace import": (["trace", "import", TRACE], "r.csv"),
    "trace convert": (["trace", "convert", TRACE], "r.csv"),
    "trace cut": (["trace", "cut", TRACE, "--operations", "read"], "r.csv"),
    "trace scale": (["trace", "scale", TRACE, "--size-factor", "2"], "r.csv"),
    "trace anonymise": (["trace", "anonymise", TRACE], "r.csv"),
    "trace synth": (["trace", "synth"], "r.csv"),
    "results export -o": (["results", "export", "last", "-o"], "r.csv"),
    "design flow -o": (["design", "flow", WORKSHEET, "-o"], "r.svg"),
    "bench -o": (["bench", "MEASURED", "--no-store", "-o"], "r.json"),
    "bench run -o": (["bench", "run", "SMALL", "MEASURED", "--no-store", "-o"], "r.json"),
    "bench run --csv": (["bench", "run", "SMALL", "MEASURED", "--no-store", "--csv"], "r.csv"),
    "bench disk -o": (["bench", "disk", "MEASURED", "-o"], "r.json"),
    "bench mix -o": (["bench", "mix", "MEASURED", "-o"], "r.json"),
    "bench tune --mix": (
        ["bench", "tune", "MEASURED", "--profiler", "fuse", "--mix"],
        "r.toml",
    ),
    "calibrate -o": (["calibrate", "MEASURED", "-o"], "r.toml"),
    "twin -o": (["twin", "MEASURED", "-o"], "r.json"),
    "baseline -o": (["baseline", "MEASURED", "-o"], "r.json"),
    "baseline --save-machine": (["baseline", "MEASURED", "--save-machine"], "r.toml"),
}
"""Commands with a file for output, and a name that suits it."""

OUTPUT_DIRECTORIES: dict[str, tuple[list[object], list[object]]] = {
    "run --plot": (["run", "SMALL", "--no-store", "--plot"], []),
    "whatif --plot": (["whatif", "SMALL", "--plot"], []),
    "sweep -o": (["sweep", "SMALL", "--vary", "clients.count=1,2", "--no-store", "-o"], []),
    "sweep --plot": (["sweep", "SMALL", "--vary", "clients.count=1,2", "--no-store", "--plot"], []),
    "demo --plot": (["demo", "--plot"], []),
    "design solve -o": (["design", "solve", WORKSHEET, "-o"], []),
    "results plot -o": (["results", "plot", "last", "-o"], []),
    "profile record -o": (["profile", "record", "-o"], ["--", "true"]),
    "bench run --plot": (["bench", "run", "SMALL", "MEASURED", "--no-store", "--plot"], []),
}
"""Commands with a directory for output, and their arguments before and after it."""


@pytest.fixture
def sticky(tmp_path: Path) -> Path:
    """A directory such as /tmp: of root's, and all may make names in it."""
    if os.geteuid() != 0:
        pytest.skip("only root can be led astray by others")
    made = tmp_path / "sticky"
    made.mkdir()
    made.chmod(0o1777)
    return made


def _refused(arguments: list[object], tmp_path: Path) -> None:
    ended = command(*arguments)
    assert ended.returncode == 2, (ended.returncode, ended.stdout, ended.stderr)
    assert len(ended.stderr.splitlines()) == 1 and "symbolic link" in ended.stderr, ended.stderr
    assert not any((tmp_path / "measured").iterdir())


def _given(arguments: list[object], small: Path, below: Path) -> list[object]:
    names: dict[object, object] = {"SMALL": small, "MEASURED": below}
    return [names.get(it, it) if isinstance(it, str) else it for it in arguments]


@pytest.mark.parametrize("name", OUTPUT_FILES)
def test_no_command_writes_a_file_through_a_link_of_theirs(
    name: str, sticky: Path, victim: Path, small: Path, below: Path, tmp_path: Path, place: Path
) -> None:
    arguments, file = OUTPUT_FILES[name]
    if arguments[0] == "results":
        assert command("run", small).returncode == 0
    link(sticky / file, victim)
    _refused([*_given(arguments, small, below), sticky / file], tmp_path)
    assert sorted(it.name for it in sticky.iterdir()) == [file]


@pytest.mark.parametrize("name", OUTPUT_DIRECTORIES)
def test_no_command_writes_into_a_directory_behind_a_link_of_theirs(
    name: str, sticky: Path, small: Path, below: Path, tmp_path: Path, place: Path
) -> None:
    before, after = OUTPUT_DIRECTORIES[name]
    if before[0] == "results":
        assert command("run", small).returncode == 0
    target = tmp_path / "mine"
    target.mkdir()
    link(sticky / "out", target)
    for output in (sticky / "out", sticky / "out" / "below"):
        _refused([*_given(before, small, below), output, *after], tmp_path)
        assert list(target.iterdir()) == []
