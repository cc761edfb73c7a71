"""Space that the file system of a server takes from its array: tables, logs and reserves."""

import math
from typing import Literal, get_args

import msgspec

from headrace.design.figure import Input
from headrace.quantities import size

LocalFileSystem = Literal["none", "ext4", "xfs", "ldiskfs", "zfs"]
"""File system on the arrays of a server. ldiskfs is that of Lustre's object storage targets."""
LOCAL_FILE_SYSTEMS: tuple[str, ...] = get_args(LocalFileSystem)

KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40

EXT4_SOURCE = "mke2fs(8), mke2fs.conf(5) of e2fsprogs 1.47"
RESERVED = 0.05
"""Blocks for root: the default of -m in mke2fs(8), which mkfs.lustre leaves as it is."""
INODE = 256
"""Bytes of an inode: mke2fs.conf(5); of an OST: ldiskfs_make_lustre()."""
EXT4_RATIOS = ((16 * TIB, 65536), (4 * TIB, 32768), (512 * MIB, 16384), (0, 4096))
"""Bytes of the device for each inode, by the least size: mke2fs.conf(5), types huge, big, small."""
LDISKFS_RATIOS = (
    (16 * TIB, MIB),
    (4 * TIB, 512 * KIB),
    (TIB, 256 * KIB),
    (10 * GIB, 69905),
    (0, 16384),
)
"""The same of an OST: ldiskfs_make_lustre() in lustre/utils/mount_utils_ldiskfs.c."""
LDISKFS_SOURCE = "ldiskfs_make_lustre() in lustre/utils/mount_utils_ldiskfs.c; mke2fs(8)"
EXT4_JOURNAL, LDISKFS_JOURNAL = GIB, 400 * MIB
"""Most that a journal takes: ext2fs_default_journalsize_text() of e2fsprogs; mkfs.lustre."""
JOURNAL_SHARE = 64
"""Part of the device that a journal takes where that is less: the same sources, rounded."""
GROUP, BITMAPS = 128 * MIB, 8 * KIB
"""Blocks that one bitmap describes, with 4 KiB blocks, and the bitmaps of blocks and inodes."""

XFS_SOURCE = (
    "xfs_refcountbt_maxsize_text(), xfs_inobt_maxsize_text() in fs/xfs/libxfs of Linux; mkfs.xfs(8)"
)
XFS_REFERENCES = 1 / 168 * (1 + 1 / 251)
"""Reserve for the tree of shared extents: a leaf of 4 KiB has at least (4096 - 56) / 12 / 2 = 168
records and a node at least 252 children; one record for each block."""
XFS_INODES = 1 / (8 * 126)
"""Reserve for the tree of free inodes: one record of 16 B for 64 inodes of 512 B, which are 8
blocks; at least 126 records in a leaf."""
XFS_LOG, XFS_LOG_SHARE = 2038 * MIB, 2048
"""Most that the log takes, and its part of the device: mkfs.xfs(8)."""

LEAST_DEVICE = 300 * MIB
"""Smallest device: mkfs.xfs of xfsprogs 5.19; for other file systems declared."""
CHECKSUM = 4 / 512
"""CRC of each 512 bytes that HDFS saves in a file beside a block: dfs.bytes-per-checksum in
hdfs-default.xml."""


class Space(msgspec.Struct, frozen=True, kw_only=True):
    """Space that a file system keeps for itself on a device."""

    overhead: float
    """Bytes."""
    formula: str
    inputs: tuple[Input, ...]
    source: str
    note: str = ""


def check_local_file_system(name: str) -> LocalFileSystem:
    """Return the name. Raises ValueError if there is no such file system."""
    for known in get_args(LocalFileSystem):
        if name == known:
            return known  # type: ignore[no-any-return]
    raise ValueError(f'"{name}": expected one of {", ".join(LOCAL_FILE_SYSTEMS)}')


def space(name: LocalFileSystem, device: float) -> Space:
    """Return the space that a file system reserves for itself on a device.

    Args:
        name: The file system; ZFS is computed over a pool, in `zfs_space`.
        device: Bytes of the array that it is made on.

    Raises:
        ValueError: The device is too small for a file system.
    """
    if name != "none" and device < LEAST_DEVICE:
        raise ValueError(f"{name} on {size(device)}: expected at least {size(LEAST_DEVICE)}")
    if name == "ext4":
        return _extended(device, EXT4_RATIOS, EXT4_JOURNAL, EXT4_SOURCE)
    if name == "ldiskfs":
        return _extended(device, LDISKFS_RATIOS, LDISKFS_JOURNAL, LDISKFS_SOURCE)
    if name == "xfs":
        return _xfs(device)
    if name == "none":
        return Space(overhead=0.0, formula="0", inputs=(), source="no file system")
    raise ValueError(f"{name}: the space of a pool is computed over all its arrays")


def _extended(
    device: float, ratios: tuple[tuple[int, int], ...], most_journal: int, source: str
) -> Space:
    """Return the space of ext4 and its kin: reserved blocks, inode tables, journal, bitmaps."""
    ratio = next(ratio for least, ratio in ratios if device >= least)
    reserved = RESERVED * device
    inodes = device / ratio * INODE
    journal = min(most_journal, device / JOURNAL_SHARE)
    bitmaps = math.ceil(device / GROUP) * BITMAPS
    return Space(
        overhead=reserved + inodes + journal + bitmaps,
        formula="reserved blocks + inode tables + journal + bitmaps",
        inputs=(
            Input("reserved blocks", size(reserved), "5 % for root, mke2fs(8) -m"),
            Input("inode tables", size(inodes), f"{INODE} B for each {ratio} B, {source}"),
            Input("journal", size(journal), source),
            Input("bitmaps", size(bitmaps), "8 KiB for each 128 MiB, ext4 disk layout"),
        ),
        source=source,
        note="5 % are reserved for root; mke2fs -m 0 or tune2fs -m 0 gives them to users",
    )


def _xfs(device: float) -> Space:
    references, inodes = XFS_REFERENCES * device, XFS_INODES * device
    log = min(XFS_LOG, device / XFS_LOG_SHARE)
    return Space(
        overhead=references + inodes + log,
        formula="extent sharing reserve + inode reserve + log",
        inputs=(
            Input("extent sharing reserve", size(references), f"1/168 of it, {XFS_SOURCE}"),
            Input("inode reserve", size(inodes), f"1/1008 of it, {XFS_SOURCE}"),
            Input("log", size(log), "1/2048 of it, at most 2038 MiB, mkfs.xfs(8)"),
        ),
        source=XFS_SOURCE,
        note="with reflink=1 and rmapbt=0; rmapbt=1 reserves 1 % more",
    )
