"""Number of files that a system can hold, where file systems have inode tables of a fixed size."""

from collections.abc import Iterable

from headrace.design.evaluation import Violation
from headrace.design.figure import Figure, Input, by_key
from headrace.design.local_space import EXT4_RATIOS, EXT4_SOURCE, LDISKFS_RATIOS, LDISKFS_SOURCE
from headrace.design.storage_plan import StoragePlan
from headrace.design.worksheet import Worksheet
from headrace.quantities import number, size

METADATA_RATIO = 512 + 1536
"""Bytes of a metadata target of Lustre for each inode: ldiskfs_make_lustre()."""


def most_files(plan: StoragePlan) -> Figure | None:
    """Return the most files that inodes allow; none where inodes are made as files are.

    A file has one inode in an array for each of its copies. With Lustre it also has one on a
    metadata server.
    """
    if plan.local not in ("ext4", "ldiskfs"):
        return None
    ratios, source = (
        (EXT4_RATIOS, EXT4_SOURCE) if plan.local == "ext4" else (LDISKFS_RATIOS, LDISKFS_SOURCE)
    )
    array = plan.array.disks * plan.disk_capacity * plan.array.efficiency
    ratio = next(ratio for least, ratio in ratios if array >= least)
    arrays = plan.nodes * plan.arrays_per_node
    spread = plan.copies if plan.code is None else plan.code.data + plan.code.parity
    value = arrays * array / ratio / spread
    formula = "arrays x data of an array / bytes for an inode / inodes of a file"
    inputs = [
        Input("arrays", str(arrays), "nodes x arrays of a node"),
        Input("data of an array", size(array), "data disks x capacity of a disk"),
        Input("bytes for an inode", f"{ratio} B", source),
        Input("inodes of a file", str(spread), "copies, or nodes of the code"),
    ]
    note = ""
    if plan.metadata_capacity is not None and plan.local == "ldiskfs":
        value = min(value, plan.metadata_capacity / METADATA_RATIO)
        formula = f"min({formula}, metadata targets / bytes for a metadata inode)"
        inputs += [
            Input(
                "metadata targets",
                size(plan.metadata_capacity),
                "metadata servers x a mirror of two disks (declared)",
            ),
            Input("bytes for a metadata inode", f"{METADATA_RATIO} B", LDISKFS_SOURCE),
        ]
        note = "a file that is striped takes an inode on each of its targets"
    return Figure(
        key="files",
        title="most files",
        value=value,
        unit="1",
        formula=formula,
        inputs=tuple(inputs),
        source=source,
        note=note,
    )


def file_violations(figures: Iterable[Figure], worksheet: Worksheet) -> tuple[Violation, ...]:
    """Return the violation by the number of files, if the known ones are more than fit."""
    most = by_key(figures).get("files")
    files = sum(datum.files or 0 for datum in worksheet.data)
    if most is None or files <= most.value:
        return ()
    texts = number(float(files)), number(float(int(most.value)))
    return (
        Violation(
            field="data.files",
            wanted=texts[0],
            got=texts[1],
            message=f"The file systems have inodes for {texts[1]} files; {texts[0]} are needed.",
        ),
    )
