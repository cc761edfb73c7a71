"""Space of a ZFS pool, by the arithmetic of OpenZFS.

A pool divides each vdev into metaslabs, all of one power of two. `zfs list` shows the metaslabs,
times the efficiency of records of 128 KiB, less a reserve. Records of a dRAID fill
whole stripes: the rest of the last stripe is padding.

Not modelled: compression, records of other sizes, metadata, special and log devices. A dRAID cuts
rows from its metaslabs, about 4e-6 of the pool, which are not counted either.
"""

import msgspec

from headrace.design.system import Array

SOURCE = (
    "OpenZFS 2.2: vdev_metaslab_set_size(), vdev_set_deflate_ratio(), vdev_draid_asize(),"
    " vdev_raidz_asize(), spa_get_slop_space()"
)
RECORD, SECTOR_SHIFT = 1 << 17, 12
"""Bytes of a record, and the sectors that disks have: 4 KiB."""
LABELS = (4 << 20) + (512 << 10)
"""Bytes of a disk for labels and boot block: VDEV_LABEL_START_SIZE and VDEV_LABEL_END_SIZE."""
PARTITION = 9 << 20
"""Bytes before and behind the partition that zpool makes on a disk: 1 MiB and 8 MiB."""
RAIDZ_MOST_PARITY = 3
DEFAULT_SHIFT, MOST_SHIFT, LEAST_SHIFT = 29, 34, 24
"""Metaslabs of 512 MiB by default, 16 GiB at most, 16 MiB at least: zfs(4)."""
LEAST_COUNT, DEFAULT_COUNT, MOST_COUNT = 16, 200, 1 << 17
"""Metaslabs of a vdev: zfs(4), zfs_vdev_min_ms_count, default_ms_count, ms_count_limit."""
SLOP_SHIFT, LEAST_SLOP, MOST_SLOP = 5, 128 << 20, 128 << 30
"""Reserve: 1/32 of the pool, but 128 MiB to 128 GiB: zfs(4), spa_slop_shift."""


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool of equal vdevs."""

    vdevs: int
    vdev_size: int
    """Bytes of a vdev, parity among them, spare space not."""
    metaslabs: int
    """Metaslabs of a vdev."""
    metaslab: int
    """Bytes of a metaslab."""
    efficiency: int
    """Part of a vdev that records can fill, in 1/512."""
    slop: int
    """Bytes that ZFS reserves."""

    @property
    def usable(self) -> int:
        """Bytes that `zfs list` shows of an empty pool, used and available."""
        return self.vdevs * self.metaslabs * self.metaslab // 512 * self.efficiency - self.slop


def pool(array: Array, arrays: int, disk: float, spares: int = 0) -> Pool:
    """Return the pool of the arrays of a server.

    Args:
        array: Each array: RAID 5 and 6 and an erasure code as RAID-Z, RAID 1 and 10 as mirrors.
        arrays: Number of arrays.
        disk: Bytes of a disk.
        spares: Distributed spares of each dRAID.

    Raises:
        ValueError: ZFS has no such array, or the disks are too small.
    """
    member = int(disk) - PARTITION - LABELS
    if member < LEAST_COUNT << LEAST_SHIFT:
        raise ValueError(f"disks of {disk / 1e6:g} MB: too small for ZFS: expected at least 1 GB")
    vdevs, size = arrays, member * array.disks
    if array.kind == "draid":
        size = member * (array.disks - spares)
        efficiency = _deflate(_draid_sectors(array.data, array.parity))
    elif array.kind in ("single", "raid0"):
        vdevs, size, efficiency = arrays * array.disks, member, 512
    elif array.kind in ("raid1", "raid10"):
        mirrors = array.disks * array.data // (array.data + array.parity)
        vdevs, size, efficiency = arrays * mirrors, member, 512
    elif not 1 <= array.parity <= RAIDZ_MOST_PARITY:
        raise ValueError(
            f"RAID-Z with parity {array.parity}: expected a parity of 1 to 3, or another file"
            " system than zfs"
        )
    else:
        efficiency = _deflate(_raidz_sectors(array.data, array.parity))
    shift = _metaslab_shift(size)
    metaslabs = size >> shift
    space = vdevs * (metaslabs << shift) // 512 * efficiency
    slop = min(max(space >> SLOP_SHIFT, LEAST_SLOP), MOST_SLOP)
    return Pool(
        vdevs=vdevs,
        vdev_size=size,
        metaslabs=metaslabs,
        metaslab=1 << shift,
        efficiency=efficiency,
        slop=slop,
    )


def _deflate(sectors: int) -> int:
    """Return the part of the space of a record that is data, in 1/512, rounded down."""
    return RECORD // (sectors << (SECTOR_SHIFT - 9))


def _draid_sectors(data: int, parity: int) -> int:
    """Return the sectors of a record: whole stripes of a group."""
    rows = -(-(RECORD >> SECTOR_SHIFT) // data)
    return rows * (data + parity)


def _raidz_sectors(data: int, parity: int) -> int:
    """Return the sectors of a record, a multiple of parity + 1."""
    sectors = RECORD >> SECTOR_SHIFT
    sectors += parity * -(-sectors // data)
    return -(-sectors // (parity + 1)) * (parity + 1)


def _metaslab_shift(size: int) -> int:
    count = size >> DEFAULT_SHIFT
    shift = DEFAULT_SHIFT
    if count < LEAST_COUNT:
        shift = (size // LEAST_COUNT).bit_length()
    elif count > DEFAULT_COUNT:
        shift = (size // DEFAULT_COUNT).bit_length()
    if shift < LEAST_SHIFT:
        return LEAST_SHIFT
    if shift <= MOST_SHIFT:
        return shift
    return MOST_SHIFT if size >> MOST_SHIFT <= MOST_COUNT else (size // MOST_COUNT).bit_length()
