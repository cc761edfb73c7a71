"""Files made, looked up, renamed and removed: the pattern of mdtest."""

from collections.abc import Sequence

from headrace.measure.micro.study import Figure, Point, Study

PHASES = ("create", "stat", "unlink")


def metadata(counts: Sequence[int], files: int, *, size: int = 0, own: bool = False) -> Study:
    """Measure, for each count, processes that create, stat and unlink files, in one directory or in
    one directory each."""
    phases = list(PHASES)
    if size:
        phases.insert(2, "read")
    points = []
    for count in counts:
        words = ", ".join(f'"{phase}"' for phase in phases)
        scenario = (
            f"[clients]\nprocesses = {count}\n"
            f'[[workload]]\nkind = "mdtest"\nfiles = {files}\nbytes = "{size} B"\n'
            f'directory = "{"own" if own else "shared"}"\nphases = [{words}]\n'
        )
        tests = [Figure(phase, number, phase, rate=True) for number, phase in enumerate(phases)]
        points.append(Point({"processes": count}, scenario, tests, stable=True))
    return Study("meta", "files made, looked up and removed", points)
