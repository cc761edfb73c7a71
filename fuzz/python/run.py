"""Fuzz a group of readers with Atheris: run.py GROUP DIRECTORY [options of libFuzzer].

New inputs are saved in the directory. Without a group, print the names of all groups.
"""

import os
import sys
import tempfile
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

import fuzz_readers
import token_mutations

TRACED = ["headrace", "fuzz_readers"]
"""Packages whose branches guide the fuzzer."""


def main(arguments: list[str]) -> None:
    """Run the fuzzer; it ends the process."""
    if len(arguments) < 2:
        print(*fuzz_readers.GROUPS, sep="\n")
        return
    group = arguments.pop(1)
    arguments = [it for it in arguments if it != "--"]
    # Without types; the lints must not depend on its being installed.
    atheris: Any = import_module("atheris")
    # Modules that a reader imports late are traced as well.
    atheris.instrument_imports(include=TRACED).__enter__()
    arguments.append(str(fuzz_readers.corpus(group)))
    # In memory where the system has such a directory.
    shared_memory = Path("/dev/shm")
    parent = shared_memory if shared_memory.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="headrace-fuzz-", dir=parent) as directory:
        place = Path(directory)

        def test_one_input(content: bytes) -> None:
            try:
                fuzz_readers.check(group, content, place)
            except BaseException:
                traceback.print_exc()
                # libFuzzer saves the input. An ordinary exit may be too late for that.
                os.abort()

        def mutate(content: bytes, largest: int, seed: int) -> bytes:
            if seed % 4:
                return token_mutations.mutate(content, largest, seed)
            mutated: bytes = atheris.Mutate(content, largest)
            return mutated

        atheris.Setup(arguments, test_one_input, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv)
