"""Many processes at once, on files of their own or on one: Hindman 2011, section 4.2.4."""

from collections.abc import Sequence

from headrace.measure.micro.ior import ior
from headrace.measure.micro.study import Figure, Point, Study

TESTS = (
    (("write", "sync"), Figure("write", 0, "write", until=(1, "sync"))),
    (("read",), Figure("read", 0, "read")),
)


def clients(counts: Sequence[int], file: int, block: int, *, direct: bool = False) -> Study:
    """Measure, for each count, processes that write and read a file each, and then one shared file
    in parts.

    A write includes its fsync, and the page cache is emptied before reads. All processes begin
    together. All bytes over the time of the slowest process are a lower bound of the throughput.
    """
    points = []
    for count in counts:
        for files, access in (("individual", "file-per-process"), ("common", "shared")):
            parameters: dict[str, int | str] = {"processes": count, "files": files}
            for phases, test in TESTS:
                scenario = ior(
                    file,
                    block,
                    phases,
                    processes=count,
                    access=access,
                    existing=test.name == "read",
                    direct=direct,
                )
                points.append(Point(parameters, scenario, [test], stable=True))
    return Study("clients", "many processes at once", points)
