"""Simulations of a search, saved so that none is run twice."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from headrace._core import VERSION, RunError
from headrace.design.performance import DesignScenario, Simulated
from headrace.design.performance.measurement import Simulate
from headrace.fields import decode_json
from headrace.files import atomic_file

FILE = "simulations.json"
"""Name of the file in the directory of a solution."""


class SavedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A simulation that has ended, or the reason why it could not be run."""

    simulated: Simulated | None = None
    error: str = ""


class SavedRuns(msgspec.Struct, kw_only=True):
    """Simulations by the hash of their scenarios."""

    version: str
    runs: dict[str, SavedRun] = {}


class RunStore:
    """Run scenarios, or take what a former search has simulated.

    A scenario has design, applications, detail and seed, so a changed worksheet reuses what it
    leaves equal. A file of another version of Headrace is not used.
    """

    def __init__(self, directory: Path | None, run: Simulate) -> None:
        self._path: Path | None = None
        self._run = run
        self._saved = SavedRuns(version=VERSION)
        self.taken = 0
        """Simulations that were not run again."""
        self.ran = 0
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
            self._path = directory / FILE
            if self._path.exists():
                self._saved = self._read(self._path)

    def _read(self, path: Path) -> SavedRuns:
        try:
            saved = decode_json(path.read_bytes(), SavedRuns)
        except ValueError as error:
            raise ValueError(
                f"{path}: expected the simulations of headrace design solve: {error}: remove the"
                " file to begin anew"
            ) from None
        return saved if saved.version == VERSION else SavedRuns(version=VERSION)

    def __call__(self, cases: Sequence[DesignScenario]) -> list[Simulated | Exception]:
        """Return the outcome of each scenario; what is simulated is saved at once.

        A run that the end of the time stopped has a TimeoutError, which is not saved.
        """
        keys = [_key(case) for case in cases]
        new = {key: it for key, it in zip(keys, cases, strict=True) if key not in self._saved.runs}
        self.taken += len({*keys}) - len(new)
        self.ran += len(new)
        late: dict[str, TimeoutError] = {}
        if new:
            for key, outcome in zip(new, self._run(list(new.values())), strict=True):
                if isinstance(outcome, TimeoutError):
                    late[key] = outcome
                else:
                    self._saved.runs[key] = (
                        SavedRun(error=str(outcome) or type(outcome).__name__)
                        if isinstance(outcome, Exception)
                        else SavedRun(simulated=outcome)
                    )
            self._write()
        saved = [self._saved.runs.get(key) for key in keys]
        return [
            late[key] if run is None else run.simulated or RunError(run.error)
            for key, run in zip(keys, saved, strict=True)
        ]

    def _write(self) -> None:
        if self._path is None:
            return
        with atomic_file(self._path) as partial:
            partial.write_bytes(msgspec.json.encode(self._saved))


def _key(case: DesignScenario) -> str:
    return hashlib.blake2b(case.toml.encode(), digest_size=16).hexdigest()
