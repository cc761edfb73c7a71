//! Member operations of an array transfer: the reads first, then the writes.
//!
//! Chunks lie left-symmetric, as in Linux's md by default (drivers/md/raid5.c,
//! ALGORITHM_LEFT_SYMMETRIC; with two parities Q follows P). The parity of row r is on member n − 1
//! − r mod n, and data goes on from the member behind it.

use headrace_spec::Raid;

/// A part of a transfer, on one member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Part {
    pub writing: bool,
    pub member: u32,
    pub address: u64,
    pub size: u64,
}

/// First member operations, and those that follow when all are complete.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    pub first: Vec<Part>,
    pub then: Vec<Part>,
}

#[derive(Clone, Debug)]
pub(super) struct Layout {
    level: u32,
    pub members: u32,
    chunk: u64,
    data: u64,
    failed: Vec<bool>,
    rebuilt: Option<Rebuilt>,
}

/// Rebuild progress of a failed member on its spare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rebuilt {
    pub member: u32,
    /// End of the readable part.
    pub done: u64,
    /// Writes that begin before this byte also go to the spare: the range is rebuilt or being
    /// rebuilt.
    pub begun: u64,
}

/// A piece of one row: its data chunk, and from where to where in the chunk.
type Piece = (u64, u64, u64);

impl Layout {
    pub(super) fn new(spec: &Raid) -> Layout {
        let failed = spec.failed.as_deref().unwrap_or_default();
        Layout {
            level: spec.level,
            members: spec.disks,
            chunk: spec.chunk.0,
            data: u64::from(spec.data_disks()),
            failed: (0..spec.disks)
                .map(|member| failed.contains(&member))
                .collect(),
            rebuilt: spec.rebuild.disk.map(|member| Rebuilt {
                member,
                done: 0,
                begun: 0,
            }),
        }
    }

    pub(super) fn rebuilt(&mut self, how_far: Rebuilt) {
        self.rebuilt = Some(how_far);
    }

    /// Returns true if a member holds what lies before the byte `end`.
    pub(super) fn holds(&self, member: u32, end: u64) -> bool {
        let rebuilt = self.rebuilt.filter(|it| it.member == member);
        !self.failed[member as usize] || rebuilt.is_some_and(|it| end <= it.done)
    }

    /// Returns true if a member is written at the byte `start`.
    fn takes(&self, member: u32, start: u64) -> bool {
        let rebuilt = self.rebuilt.filter(|it| it.member == member);
        !self.failed[member as usize] || rebuilt.is_some_and(|it| start < it.begun)
    }

    /// The members that there are, the spare included.
    pub(super) fn present(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.members).filter(|&member| {
            let spare = self.rebuilt.is_some_and(|it| it.member == member);
            spare || !self.failed[member as usize]
        })
    }

    /// Returns the reads that reconstruct a member's data at an address.
    pub(super) fn survivors(
        &self,
        member: u32,
        address: u64,
        size: u64,
        choose: impl FnOnce(std::ops::Range<u32>, u64, u64) -> u32,
    ) -> Vec<Part> {
        let end = address + size;
        let part = |member| Part {
            writing: false,
            member,
            address,
            size,
        };
        match self.level {
            1 => vec![part(choose(0..self.members, address, end))],
            10 => vec![part(choose(member & !1..(member & !1) + 2, address, end))],
            _ => {
                let others = (0..self.members).filter(|&it| it != member && self.holds(it, end));
                others.take(self.data as usize).map(part).collect()
            }
        }
    }

    /// The parts of a transfer; `choose` picks one of several mirrors to read.
    pub(super) fn plan(
        &self,
        writing: bool,
        address: u64,
        size: u64,
        mut choose: impl FnMut(std::ops::Range<u32>, u64, u64) -> u32,
    ) -> Plan {
        let mut plan = Plan::default();
        if self.level == 1 {
            self.mirror(
                0..self.members,
                (writing, address, size),
                &mut plan,
                &mut choose,
            );
            return plan;
        }
        let (mut at, end) = (address, address + size.max(1));
        while at < end {
            let row = at / (self.chunk * self.data);
            let next = ((row + 1) * self.chunk * self.data).min(end);
            let mut pieces: Vec<Piece> = Vec::new();
            while at < next {
                let (chunk, low) = (at / self.chunk, at % self.chunk);
                let high = self.chunk.min(low + next - at);
                pieces.push((chunk % self.data, low, high));
                at += high - low;
            }
            match self.level {
                0 => {
                    let parts = pieces
                        .iter()
                        .map(|&(disk, low, high)| self.part(writing, disk as u32, row, low, high));
                    plan.first.extend(parts);
                }
                10 => {
                    for (pair, low, high) in pieces {
                        let of = 2 * pair as u32..2 * pair as u32 + 2;
                        let ask = (writing, row * self.chunk + low, high - low);
                        self.mirror(of, ask, &mut plan, &mut choose);
                    }
                }
                _ if writing => self.write_row(row, &pieces, &mut plan),
                _ => self.read_row(row, &pieces, &mut plan),
            }
        }
        join(&mut plan.first);
        join(&mut plan.then);
        plan
    }

    fn mirror(
        &self,
        of: std::ops::Range<u32>,
        (writing, address, size): (bool, u64, u64),
        plan: &mut Plan,
        choose: &mut impl FnMut(std::ops::Range<u32>, u64, u64) -> u32,
    ) {
        let part = |member| Part {
            writing,
            member,
            address,
            size,
        };
        if writing {
            let written = of.filter(|&it| self.takes(it, address));
            plan.first.extend(written.map(part));
        } else {
            plan.first.push(part(choose(of, address, address + size)));
        }
    }

    fn part(&self, writing: bool, member: u32, row: u64, low: u64, high: u64) -> Part {
        Part {
            writing,
            member,
            address: row * self.chunk + low,
            size: high - low,
        }
    }

    /// The members of a row: data chunks in order, then P and Q.
    fn members_of(&self, row: u64) -> Vec<u32> {
        let n = u64::from(self.members);
        let parities = n - self.data;
        let first = n - 1 - row % n;
        let data = (0..self.data).map(|disk| (first + parities + disk) % n);
        let parity = (0..parities).map(|parity| (first + parity) % n);
        data.chain(parity).map(|member| member as u32).collect()
    }

    fn read_row(&self, row: u64, pieces: &[Piece], plan: &mut Plan) {
        let (of, end) = (self.members_of(row), (row + 1) * self.chunk);
        for &(disk, low, high) in pieces {
            let member = of[disk as usize];
            if self.holds(member, end) {
                plan.first.push(self.part(false, member, row, low, high));
                continue;
            }
            // As many others as there are data chunks reconstruct the data.
            let others = of
                .iter()
                .filter(|&&it| self.holds(it, end))
                .take(self.data as usize);
            plan.first
                .extend(others.map(|&it| self.part(false, it, row, low, high)));
        }
        without_doubles(&mut plan.first);
    }

    fn write_row(&self, row: u64, pieces: &[Piece], plan: &mut Plan) {
        let (of, begin, end) = (
            self.members_of(row),
            row * self.chunk,
            (row + 1) * self.chunk,
        );
        let (data, parity) = of.split_at(self.data as usize);
        let low = pieces.iter().map(|it| it.1).min().unwrap_or(0);
        let high = pieces.iter().map(|it| it.2).max().unwrap_or(0);
        let parity: Vec<u32> = parity
            .iter()
            .copied()
            .filter(|&it| self.takes(it, begin))
            .collect();
        let touched = |disk: usize| pieces.iter().find(|it| it.0 == disk as u64);

        // Read-modify-write: the old data, and its parity.
        let old = pieces
            .iter()
            .map(|&(disk, low, high)| (data[disk as usize], low, high));
        let old: Vec<_> = old
            .chain(parity.iter().map(|&it| (it, low, high)))
            .collect();
        // Reconstruct-write: what the parity covers and is not overwritten.
        let rest = data
            .iter()
            .enumerate()
            .filter_map(|(disk, &member)| match touched(disk) {
                Some(&(_, from, to)) if from == low && to == high => None,
                _ => Some((member, low, high)),
            });
        let rest: Vec<_> = rest.collect();
        let possible = |reads: &[(u32, u64, u64)]| reads.iter().all(|it| self.holds(it.0, end));
        let reads = match (possible(&old), possible(&rest)) {
            _ if parity.is_empty() => Vec::new(),
            (true, true) if rest.len() < old.len() => rest,
            (false, true) => rest,
            (true, _) => old,
            // Two have failed: all the rest reconstructs the data.
            (false, false) => {
                let left = of.iter().filter(|&&it| self.holds(it, end));
                left.map(|&it| (it, low, high)).collect()
            }
        };
        let reads = reads
            .into_iter()
            .map(|(it, low, high)| self.part(false, it, row, low, high));
        plan.first.extend(reads);
        let written = pieces
            .iter()
            .map(|&(disk, low, high)| (data[disk as usize], low, high));
        let written = written.chain(parity.iter().map(|&it| (it, low, high)));
        let written = written.filter(|it| self.takes(it.0, begin));
        plan.then
            .extend(written.map(|(it, low, high)| self.part(true, it, row, low, high)));
    }
}

/// Removes duplicate reads of a row.
fn without_doubles(parts: &mut Vec<Part>) {
    parts.sort_unstable();
    parts.dedup();
}

/// Parts that follow each other on a member are one.
fn join(parts: &mut Vec<Part>) {
    parts.sort_unstable();
    parts.dedup_by(|next, part| {
        let follows = next.member == part.member
            && next.writing == part.writing
            && next.address <= part.address + part.size;
        if follows {
            part.size = part.size.max(next.address + next.size - part.address);
        }
        follows
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_spec::{
        Bus, Bytes, ControllerCache, Member, Rate, Rebuild, Seconds, SimpleDevice,
    };
    use proptest::prelude::*;

    const CHUNK: u64 = 64;

    fn layout(level: u32, disks: u32, failed: &[u32]) -> Layout {
        rebuilding(level, disks, failed, None)
    }

    fn rebuilding(level: u32, disks: u32, failed: &[u32], disk: Option<u32>) -> Layout {
        Layout::new(&Raid {
            level,
            disks,
            chunk: Bytes(CHUNK),
            hardware: None,
            bus: Bus {
                rate: None,
                time_per_transfer: Seconds(0.0),
            },
            failed: (!failed.is_empty()).then(|| failed.to_vec()),
            rebuild: Rebuild {
                disk,
                rate: None,
                share: 1.0,
                chunk: Bytes(CHUNK),
                chunks: 1,
                size: None,
            },
            cache: ControllerCache {
                size: Bytes(0),
                write_back: true,
                battery: true,
                rate: Rate(1.0),
                destage_above: 0.5,
                idle_time: Seconds(0.1),
                destages: 1,
            },
            member: Member::SimpleDevice(SimpleDevice {
                read_rate: Rate(1.0),
                write_rate: Rate(1.0),
                time_per_request: Seconds(0.0),
            }),
        })
    }

    /// Transfers of members: before, and then.
    fn counts(layout: &Layout, writing: bool, address: u64, size: u64) -> (usize, usize) {
        let plan = layout.plan(writing, address, size, |of, _, _| of.start);
        (plan.first.len(), plan.then.len())
    }

    /// Patterson, Gibson, Katz 1988 for levels 1 and 5; two parities for level 6.
    #[test]
    fn small_and_full_writes_take_what_is_known() {
        assert_eq!(counts(&layout(0, 4, &[]), true, 10, 20), (1, 0));
        assert_eq!(counts(&layout(1, 2, &[]), true, 10, 20), (2, 0));
        assert_eq!(counts(&layout(10, 4, &[]), true, 10, 20), (2, 0));
        assert_eq!(counts(&layout(5, 5, &[]), true, 10, 20), (2, 2));
        assert_eq!(counts(&layout(6, 8, &[]), true, 10, 20), (3, 3));
        // Reconstructing needs fewer: of three disks one more is read.
        assert_eq!(counts(&layout(5, 3, &[]), true, 10, 20), (1, 2));
        // Full stripes are not read before.
        assert_eq!(counts(&layout(5, 5, &[]), true, 0, 4 * CHUNK), (0, 5));
        assert_eq!(
            counts(&layout(6, 6, &[]), true, 8 * CHUNK, 4 * CHUNK),
            (0, 6)
        );
    }

    #[test]
    fn degraded_arrays_read_what_is_left() {
        // Row 0 of five has its parity on disk 4, and its data on 0 to 3.
        assert_eq!(counts(&layout(5, 5, &[1]), false, CHUNK, 10), (4, 0));
        assert_eq!(counts(&layout(5, 5, &[1]), false, 0, 10), (1, 0));
        assert_eq!(counts(&layout(5, 5, &[1]), true, CHUNK, 10), (3, 1));
        assert_eq!(counts(&layout(5, 5, &[4]), true, 0, 10), (0, 1));
        assert_eq!(counts(&layout(6, 6, &[2, 3]), false, CHUNK, 10), (4, 0));
    }

    /// Rows 0 and 1 are rebuilt, row 2 is in progress.
    #[test]
    fn a_spare_is_read_where_it_is_rebuilt_and_written_where_that_has_begun() {
        let mut it = rebuilding(5, 5, &[0], Some(0));
        it.rebuilt(Rebuilt {
            member: 0,
            done: 2 * CHUNK,
            begun: 3 * CHUNK,
        });
        let row = |number: u64| number * 4 * CHUNK;
        // Disk 0 has the first chunk of row 0, the second of 1, the third of 2
        // and the last of 3. It has the parity of 4.
        assert_eq!(counts(&it, false, row(0), 10), (1, 0));
        assert_eq!(counts(&it, false, row(1) + CHUNK, 10), (1, 0));
        assert_eq!(counts(&it, false, row(2) + 2 * CHUNK, 10), (4, 0));
        assert_eq!(counts(&it, true, row(0), 10), (2, 2));
        assert_eq!(counts(&it, true, row(2) + 2 * CHUNK, 10), (3, 2));
        assert_eq!(counts(&it, true, row(3) + 3 * CHUNK, 10), (3, 1));
        assert_eq!(counts(&it, true, row(4), 10), (0, 1));
        let from = it.survivors(0, 0, CHUNK, |of, _, _| of.start);
        assert_eq!(
            from.iter().map(|it| it.member).collect::<Vec<_>>(),
            [1, 2, 3, 4]
        );
        let mut pair = rebuilding(10, 4, &[3], Some(3));
        assert_eq!(counts(&pair, true, CHUNK, 10), (1, 0));
        pair.rebuilt(Rebuilt {
            member: 3,
            done: 0,
            begun: 1,
        });
        assert_eq!(counts(&pair, true, CHUNK, 10), (2, 0));
    }

    /// The parity goes round, and data follows it.
    #[test]
    fn chunks_lie_left_symmetric() {
        let five = layout(5, 5, &[]);
        let rows: Vec<Vec<u32>> = (0..3).map(|row| five.members_of(row)).collect();
        assert_eq!(rows, [[0, 1, 2, 3, 4], [4, 0, 1, 2, 3], [3, 4, 0, 1, 2]]);
    }

    proptest! {
        /// Each byte of a transfer is read, or written, on exactly one place (two
        /// with mirrors), parity aside.
        #[test]
        fn every_byte_is_covered_once(
            kind in 0_usize..5, extra in 0_u32..4, address in 0_u64..5000, size in 1_u64..3000, writing in any::<bool>(),
        ) {
            let (level, least) = [(0, 1), (1, 2), (5, 3), (6, 4), (10, 4)][kind];
            let disks = if level == 10 { least + 2 * extra } else { least + extra };
            let it = layout(level, disks, &[]);
            let plan = it.plan(writing, address, size, |of, _, _| of.start);
            let parts: Vec<Part> = plan.first.iter().chain(&plan.then).copied()
                .filter(|part| part.writing == writing).collect();
            let copies = match level { 1 if writing => disks, 10 if writing => 2, _ => 1 };
            let mut expected = std::collections::BTreeMap::new();
            for byte in address..address + size {
                // Where a byte lies, the slow way.
                let chunk = byte / CHUNK;
                let (row, disk) = (chunk / it.data, (chunk % it.data) as usize);
                let on = row * CHUNK + byte % CHUNK;
                let members: Vec<(u32, u64)> = match level {
                    0 => vec![(disk as u32, on)],
                    1 => (0..copies).map(|it| (it, byte)).collect(),
                    10 => (0..copies).map(|it| (2 * disk as u32 + it, on)).collect(),
                    _ => vec![(it.members_of(row)[disk], on)],
                };
                for place in members { *expected.entry(place).or_insert(0) += 1; }
            }
            let mut found = std::collections::BTreeMap::new();
            for part in parts {
                for byte in part.address..part.address + part.size {
                    let parity = (5..10).contains(&level)
                        && it.members_of(byte / CHUNK)[it.data as usize..].contains(&part.member);
                    if !(parity && writing) { *found.entry((part.member, byte)).or_insert(0) += 1; }
                }
            }
            prop_assert_eq!(expected, found);
        }
    }
}
