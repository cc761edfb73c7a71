"""Re-predict saved twins with this version of Headrace.

    python benches/twin/repredict.py [FOLDER]

Re-fits and re-predicts every twin saved in FOLDER, by default `tests/data/twins`
(docs/explanation/calibration.md). Prints errors as `file_systems.py` does, and the share of
measurements within their interval. Nothing is measured and root is not needed, so the effect of a
changed model or estimator on real file systems is known within minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from file_systems import headings, rows

import headrace
from headrace import validate

MEASURED = Path(__file__).parents[2] / "tests" / "data" / "twins"


def again(saved: Path) -> dict[str, Any]:
    return validate.repredict(saved).json()


def coverage(documents: Iterable[Mapping[str, Any]]) -> str:
    points = [point for document in documents for point in document["points"]]
    covered = sum(point["covered"] * len(point["measured_s"]) for point in points)
    measured = sum(len(point["measured_s"]) for point in points)
    return f"{len(points)} cases, {measured} measurements: {covered / measured:.1%} in the interval"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", default=MEASURED)
    folder = parser.parse_args().folder
    saved = sorted(folder.glob("*.json"))
    if not saved:
        parser.error(
            f"{folder}: no *.json file: expected a directory of results from headrace twin -o"
        )
    lines = headings("file system, disk")
    try:
        with ProcessPoolExecutor() as pool:
            documents = list(pool.map(again, saved))
    except headrace.ScenarioError as error:
        parser.error(str(error))
    for path, document in zip(saved, documents, strict=True):
        lines += rows(path.stem, document)
    print("\n".join(lines))
    print(coverage(documents))


if __name__ == "__main__":
    main()
