"""Simulate the logs that PyDarshan ships on Lustre, beside what drishti-io 0.8 reports on them.

For each log: records, simulated time on the preset `lustre`, the bottleneck, the findings of
Headrace, and those of drishti. A log with DXT is replayed; another becomes a workload. drishti runs
in an environment of its own, which the script makes. Results are saved log by log, and a second
start continues. The exit status is 1 if Headrace misses a problem that drishti is right about.

    python benches/darshan/darshan_logs.py [--output DIR] [--drishti VENV] [--largest SIZE]

Logs that move more than SIZE (100 GB) are simulated with a fraction of their clients, which is in
the table. All together take some minutes.
"""

import argparse
import csv
import hashlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headrace import _core
from headrace.profile.access_totals import Accesses, accesses
from headrace.profile.trace_figures import figures
from headrace.profile.trace_findings import findings, load_rules
from headrace.trace import darshan_workload, read_log, trace_info

DRISHTI = "drishti-io==0.8"

RULES = {
    "S01": ["stdio", "stream-output"],
    "P01": ["write-dominated-requests"],
    "P02": ["read-dominated-requests"],
    "P03": ["write-dominated-bytes"],
    "P04": ["read-dominated-bytes"],
    "P05": ["small-reads"],
    "P06": ["small-writes"],
    "P07": ["misaligned-memory"],
    "P08": ["misaligned-requests"],
    "P09": ["repeated-reads"],
    "P10": ["repeated-writes"],
    "P11": ["random-reads"],
    "P12": ["ordered-reads"],
    "P13": ["random-writes"],
    "P14": ["ordered-writes"],
    "P15": ["shared-small-reads"],
    "P16": ["shared-small-writes"],
    "P17": ["metadata-seconds"],
    "P18": ["byte-imbalance"],
    "P19": ["time-imbalance"],
    "P21": ["write-imbalance"],
    "P22": ["read-imbalance"],
    "M01": ["no-mpi-io"],
    "M02": ["independent-reads"],
    "M03": ["independent-writes"],
    "M04": ["collective-reads"],
    "M05": ["collective-writes"],
    "M06": ["blocking-reads"],
    "M07": ["blocking-writes"],
}
"""Rules of Headrace that report the same as a code of drishti."""


def why_wrong(code: str, log: Accesses, small: int) -> str | None:
    """Return why a report of drishti does not apply to a log; None if it is right.

    Each reason is checked on the log's own counters.
    """
    found = figures(log)

    def value(name: str) -> float:
        return found[name].value if name in found else 0.0

    direction = {"P12": "read", "P14": "write", "M06": "read", "M07": "write"}.get(code, "")
    if code == "M01" and log.processes == 1:
        return "the program has one process"
    if code in ("P12", "P14") and f"{direction}.ordered_share" not in found:
        return f"no {direction} follows another one of its process"
    if code in ("M06", "M07") and not value(f"mpi_io.{direction}_calls"):
        return f"the program makes no MPI-IO {direction}s"
    if code in ("P09", "P10"):
        kind = "read" if code == "P09" else "write"
        if not value(f"{kind}.repeated_bytes"):
            return "the file is longer than all bytes moved: nothing was moved twice"
    if code in ("M04", "M05"):
        kind = "read" if code == "M04" else "write"
        share = value(f"mpi_io.{kind}_collective_share")
        if share <= 0.5:
            return f"only {100 * share:.2g} % of the calls are collective"
    return None


def logs() -> Iterator[tuple[Path, list[str]]]:
    """Yield each log that PyDarshan ships, small ones first, with the names of its copies."""
    package = importlib.util.find_spec("darshan")
    if package is None or package.origin is None:
        sys.exit("PyDarshan is missing: run `pip install 'headrace[darshan]'`")
    found: dict[str, list[Path]] = {}
    for path in sorted(Path(package.origin).parent.rglob("*.darshan")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        found.setdefault(digest, []).append(path)
    for paths in sorted(found.values(), key=lambda it: it[0].stat().st_size):
        yield paths[0], [path.name for path in paths[1:]]


def drishti_program(directory: Path) -> Path:
    """Return drishti's command in an environment of its own, which is made if it is missing."""
    program = directory / "bin" / "drishti"
    if not program.exists():
        venv.create(directory, with_pip=True)
        pip = directory / "bin" / "pip"
        subprocess.run([str(pip), "install", "--quiet", DRISHTI], check=True)
    return program


def drishti_codes(program: Path, log: Path) -> list[str] | str:
    """Return the codes that drishti reports, or its error."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program), "--csv", "--issues", "--export_dir", folder, str(log)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        tables = list(Path(folder).rglob("*.csv"))
        if done.returncode or not tables:
            lines = done.stderr.strip().splitlines()
            return f"fails: {lines[-1] if lines else f'status {done.returncode}'}"
        with tables[0].open() as file:
            row = next(csv.DictReader(file))
    return [code for code, value in row.items() if value == "True"]


def simulate(scenario: Path, fraction: int) -> dict[str, Any]:
    """Run a scenario with one in `fraction` of its clients and return its result."""
    command = [sys.executable, "-m", "headrace", "run", "--no-store", "--json", str(scenario)]
    if fraction > 1:
        clients = tomllib.loads(scenario.read_text())["clients"]["count"] // fraction
        groups = f"clients.groups={{ first = 1, others = {clients - 1} }}"
        command += ["--set", f"clients.count={clients}", "--set", groups]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def study(log: Path, copies: list[str], drishti: Path, folder: Path, largest: int) -> None:
    """Save what is found about one log, unless that is done."""
    saved = folder / f"{log.stem}.json"
    document: dict[str, Any] = json.loads(saved.read_text()) if saved.exists() else {}
    rules = load_rules()
    small = rules.parameters.small_request
    known = accesses(log, None, small)
    summary = trace_info(log).summary
    made = darshan_workload(read_log(log))
    codes = document.get("drishti") or drishti_codes(drishti, log)
    found = findings(log, rules=rules)
    document |= {
        "log": log.name,
        "copies": copies,
        "processes": known.processes,
        "records": summary["records"],
        "bytes_read": summary["bytes_read"],
        "bytes_written": summary["bytes_written"],
        "synthesised": made.source == "counters",
        "assumptions": made.assumptions,
        "findings": [it.rule for it in found],
        "warnings": [it.rule for it in found if it.level == "warning"],
        "drishti": codes,
        "wrong": {},
        "missed": [],
    }
    named = {it.rule for it in found}
    for code in codes if isinstance(codes, list) else []:
        if named & set(RULES[code]):
            continue
        why = why_wrong(code, known, small)
        if why:
            document["wrong"][code] = why
        else:
            document["missed"].append(code)
    scenario = folder / f"{log.stem}.toml"
    same = scenario.exists() and scenario.read_text() == made.toml
    scenario.write_text(made.toml)
    moved = summary["bytes_read"] + summary["bytes_written"]
    fraction = 1
    while moved / fraction > largest and made.clients % (4 * fraction) == 0:
        # Two clients at the least.
        fraction *= 2
    if not (same and document.get("fraction") == fraction):
        start = time.perf_counter()
        result = simulate(scenario, fraction)
        document |= {
            "fraction": fraction,
            "simulated_s": result["simulated_seconds"],
            "simulation_s": time.perf_counter() - start,
            "bottleneck": result["bottleneck"]["station"],
            "saturated": result["bottleneck"]["saturated"],
        }
    saved.write_text(json.dumps(document, indent=2))


def short_name(name: str) -> str:
    """Return a log's name without what Darshan adds to the program and the job."""
    parts = name.removesuffix(".darshan").split("_")
    job = next((number for number, part in enumerate(parts) if part.startswith("id")), len(parts))
    return "_".join(parts[: job + 1])


def tables(folder: Path) -> Iterator[str]:
    """Yield the lines of the two tables of all logs: simulations, and findings beside drishti."""
    documents = [
        json.loads(saved.read_text())
        for path, _ in logs()
        if (saved := folder / f"{path.stem}.json").exists()
    ]
    yield "| log | source | processes | records | read MB | written MB | simulated s | bottleneck |"
    yield "| --- " * 8 + "|"
    for it in documents:
        time_s = f"{it['simulated_s']:,.4g}"
        if it["fraction"] > 1:
            time_s += f", 1/{it['fraction']} of the clients"
        station = it["bottleneck"].removeprefix("system/")
        if not it["saturated"]:
            station = f"not saturated; most time in {station}"
        yield (
            f"| {short_name(it['log'])} | {'counters' if it['synthesised'] else 'DXT'}"
            f" | {it['processes']:,} | {it['records']:,}"
            f" | {it['bytes_read'] / 1e6:,.4g} | {it['bytes_written'] / 1e6:,.4g}"
            f" | {time_s} | {station} |"
        )
    yield ""
    yield "| log | Headrace: warnings | drishti: reports that apply | those that do not |"
    yield "| --- " * 4 + "|"
    for it in documents:
        codes = it["drishti"]
        if isinstance(codes, list):
            codes = ", ".join(code for code in codes if code not in it["wrong"])
        wrong = "; ".join(f"{code}: {why}" for code, why in it["wrong"].items())
        warnings = ", ".join(f"`{rule}`" for rule in it["warnings"])
        yield f"| {short_name(it['log'])} | {warnings} | {codes} | {wrong} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=Path("out/darshan"))
    parser.add_argument("--drishti", type=Path, help="environment for drishti-io")
    parser.add_argument("--largest", default="100 GB", help="bytes simulated")
    arguments = parser.parse_args()
    folder: Path = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    largest = _core.parse_bytes(arguments.largest)
    drishti = drishti_program((arguments.drishti or folder / "drishti").absolute())
    for log, copies in logs():
        print(log.name, file=sys.stderr)
        study(log, copies, drishti, folder, largest)
    for line in tables(folder):
        print(line)
    missed = [
        f"{path.stem}: {', '.join(document['missed'])}"
        for path in sorted(folder.glob("*.json"))
        if (document := json.loads(path.read_text()))["missed"]
    ]
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
