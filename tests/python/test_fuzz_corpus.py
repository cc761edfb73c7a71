"""Readers of foreign files read or refuse every case of the fuzzers' corpora."""

from pathlib import Path

import pytest

import fuzz_readers


@pytest.mark.parametrize("group", fuzz_readers.GROUPS)
def test_every_case_is_read_or_refused(group: str, tmp_path: Path) -> None:
    cases = sorted(fuzz_readers.corpus(group).iterdir())
    assert cases
    for case in cases:
        try:
            fuzz_readers.check(group, case.read_bytes(), tmp_path)
        except BaseException as error:
            error.add_note(f"the case is {case}")
            raise
