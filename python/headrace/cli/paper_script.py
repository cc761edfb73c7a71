"""Runs a paper's script: `python -P -m headrace.cli.paper_script SCRIPT ARGUMENTS`."""

import runpy
import sys
from pathlib import Path

from headrace.cli import use_similar_characters

if __name__ == "__main__":
    use_similar_characters()
    script = sys.argv[1]
    del sys.argv[0]
    sys.path.insert(0, str(Path(script).parent))
    try:
        runpy.run_path(script, run_name="__main__")
    except KeyboardInterrupt:
        # The command that started it says so.
        sys.exit(130)
