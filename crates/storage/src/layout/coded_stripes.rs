//! Stripes of an erasure code: which bytes of which pieces a request reads and writes.
//!
//! A set of k + m targets holds what one target would hold without the code. Its bytes go round and
//! round over the k data pieces, `unit` bytes at a time. The m parity pieces of a stripe have the
//! same positions on their targets. A file whose last stripe is not full has parity for the bytes
//! that are there.
//!
//! Access by `pieces`:
//!
//! - A read asks for the bytes that it wants. If one of their pieces is lost, k others give the
//!   positions back.
//! - A write of a full stripe, or up to the end of the file, reads nothing. It writes data and
//!   parity.
//! - Another write updates parity at the positions that it changes. It first reads there the old
//!   data and parity, or the rest of the stripe's data, whichever is fewer pieces. Equal numbers
//!   read the rest, as Linux does (drivers/md/raid5.c: `handle_stripe_dirtying`). If what it reads
//!   is lost, it reads k other pieces.
//!
//! Access by `stripes` extends reads and writes to whole stripes, and pads the last one. A write
//! that changes a part of the old data reads all data pieces first.
//!
//! The positions of a write that goes over the edge of a piece are one range. It reaches from the
//! first to the last that the write changes in any piece.
//!
//! Sources: Ceph, doc/dev/osd_internals/erasure_coding/enhancements.rst (partial reads, partial
//! overwrites, parity-delta-write); Linux, drivers/md/raid5.c.

use std::ops::Range;

use headrace_spec::{Parallel, StripeAccess};
use smallvec::SmallVec;

use super::stripes::Stripes;

/// Bytes of a piece, at their positions on its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PieceRange {
    /// Number of the piece in its stripe: first the data pieces, then parity.
    pub piece: u32,
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

impl PieceRange {
    /// Bytes.
    pub fn size(&self) -> u64 {
        self.end - self.start
    }
}

/// The ranges of an access, of each piece few.
pub type Ranges = SmallVec<[PieceRange; 8]>;

/// Stripes of a code.
#[derive(Clone, Copy, Debug)]
pub struct CodedStripes {
    data: u64,
    parity: u64,
    unit: u64,
    whole: bool,
    /// Bytes of a block, if each has targets of its own and keeps its offset.
    block: Option<u64>,
}

impl CodedStripes {
    /// The scenario's, if it has a code.
    pub fn new(parallel: &Parallel) -> Option<CodedStripes> {
        let code = parallel.replication.reed_solomon()?;
        Some(CodedStripes {
            data: u64::from(code.data),
            parity: u64::from(code.parity),
            unit: code.unit.0,
            whole: code.access == StripeAccess::Stripes,
            block: parallel.block().map(|block| block.0),
        })
    }

    /// Bytes of the largest request to a set: whole stripes. A client that encodes asks all data
    /// pieces for `packet` bytes each.
    pub fn largest(&self, parallel: &Parallel, packet: u64) -> u64 {
        let packet = match parallel.replication.chained() {
            true => packet,
            false => packet.saturating_mul(self.data),
        };
        let stripe = self.stripe();
        (packet - packet % stripe).max(stripe)
    }

    /// Bytes of data in a stripe.
    pub fn stripe(&self) -> u64 {
        self.unit.saturating_mul(self.data)
    }

    /// Data pieces, as many as give a stripe back.
    pub fn needed(&self) -> u32 {
        self.data as u32
    }

    /// Lost pieces that the others give back.
    pub fn spare(&self) -> u32 {
        self.parity as u32
    }

    /// All pieces.
    pub fn pieces(&self) -> u32 {
        (self.data + self.parity) as u32
    }

    /// The first byte of the stripes that a byte is in: that of its block, or of the file.
    pub fn origin(&self, offset: u64) -> u64 {
        self.block.map_or(0, |block| offset - offset % block)
    }

    /// The bytes that a piece holds of the first `size` bytes of a set.
    pub fn part(&self, size: u64, piece: u32) -> u64 {
        let size = match self.whole {
            true => size.next_multiple_of(self.stripe()),
            false => size,
        };
        match u64::from(piece) < self.data {
            true => self.turns().part(size, u64::from(piece)),
            false => size / self.stripe() * self.unit + (size % self.stripe()).min(self.unit),
        }
    }

    fn turns(&self) -> Stripes {
        Stripes {
            unit: self.unit,
            width: self.data,
        }
    }

    /// A range from the origin on, extended to whole stripes if all accesses are.
    fn extended(&self, range: Range<u64>) -> Range<u64> {
        match self.whole {
            true => {
                let stripe = self.stripe();
                range.start - range.start % stripe..range.end.next_multiple_of(stripe)
            }
            false => range,
        }
    }

    /// The range of each data piece that has some of a range from the origin on.
    fn touched(&self, range: &Range<u64>) -> Ranges {
        let turns = self.turns();
        let of = |piece: u64| PieceRange {
            piece: piece as u32,
            start: turns.part(range.start, piece),
            end: turns.part(range.end, piece),
        };
        let all = (0..self.data).map(of);
        all.filter(|it| it.start < it.end).collect()
    }

    /// The ranges that a request reads, and whether they have to be decoded.
    pub fn read(
        &self,
        offset: u64,
        size: u64,
        lost: impl Fn(&PieceRange) -> bool,
    ) -> (Ranges, bool) {
        let origin = self.origin(offset);
        let range = self.extended(offset - origin..offset - origin + size);
        let touched = shifted(self.touched(&range), origin);
        if !touched.iter().any(&lost) {
            return (touched, false);
        }
        match self.others(&positions(&touched), &lost) {
            Some(others) => (others, true),
            None => (touched, false),
        }
    }

    /// As many pieces as give some positions back, if there are enough.
    fn others(&self, positions: &Range<u64>, lost: impl Fn(&PieceRange) -> bool) -> Option<Ranges> {
        let all = (0..self.pieces()).map(|piece| PieceRange {
            piece,
            start: positions.start,
            end: positions.end,
        });
        let there: Ranges = all
            .filter(|it| !lost(it))
            .take(self.data as usize)
            .collect();
        (there.len() as u64 == self.data).then_some(there)
    }

    /// The ranges that a request writes: of data, then of parity.
    pub fn written(&self, offset: u64, size: u64) -> Ranges {
        let origin = self.origin(offset);
        let range = self.extended(offset - origin..offset - origin + size);
        let mut ranges = shifted(self.touched(&range), origin);
        let Range { start, end } = positions(&ranges);
        let parity = self.data as u32..self.pieces();
        ranges.extend(parity.map(|piece| PieceRange { piece, start, end }));
        ranges
    }

    /// The ranges that a write has to read first, if there are `there` bytes before it. These count
    /// as the offset does.
    pub fn old(
        &self,
        offset: u64,
        size: u64,
        there: u64,
        lost: impl Fn(&PieceRange) -> bool,
    ) -> Ranges {
        let origin = self.origin(offset);
        // A block may end within a stripe.
        let there = there
            .saturating_sub(origin)
            .min(self.block.unwrap_or(u64::MAX));
        let start = offset - origin;
        let (end, stripe) = (start + size, self.stripe());
        if size == 0 {
            return Ranges::new();
        }
        let (first, last) = (start / stripe, (end - 1) / stripe);
        let mut ranges = Ranges::new();
        for number in [Some(first), Some(last).filter(|it| *it > first)]
            .into_iter()
            .flatten()
        {
            let base = number * stripe;
            let change = start.max(base) - base..end.min(base + stripe) - base;
            let there = there.saturating_sub(base).min(stripe);
            let shift = origin + number * self.unit;
            let old = self.old_of_stripe(&change, there, |it| lost(&moved(*it, shift)));
            ranges.extend(shifted(old, shift));
        }
        ranges
    }

    /// The same for a change in one stripe that has some bytes.
    fn old_of_stripe(
        &self,
        change: &Range<u64>,
        there: u64,
        lost: impl Fn(&PieceRange) -> bool,
    ) -> Ranges {
        let changed = self.touched(change);
        let positions = match self.whole {
            true => 0..self.unit,
            false => positions(&changed),
        };
        let turns = self.turns();
        // The content at these positions, by piece.
        let content = |piece: u32| PieceRange {
            piece,
            start: positions.start,
            end: match u64::from(piece) < self.data {
                true => turns.part(there, u64::from(piece)),
                false => there.min(self.unit),
            }
            .min(positions.end),
        };
        let is_some = |it: &PieceRange| it.start < it.end;
        let all_data = (0..self.data as u32).map(content);
        let rest: Ranges = all_data
            .clone()
            .filter_map(|it| {
                let new = changed.iter().find(|new| new.piece == it.piece);
                rest(it, new)
            })
            .filter(is_some)
            .collect();
        if rest.is_empty() {
            return rest;
        }
        let rest = match self.whole {
            true => all_data.filter(is_some).collect(),
            false => rest,
        };
        let replaced: Ranges = (changed.iter())
            .map(|new| PieceRange {
                end: new.end.min(content(new.piece).end),
                ..*new
            })
            .filter(is_some)
            .collect();
        let parity = (self.data as u32..self.pieces()).map(content);
        let parity = parity.filter(|it| is_some(it) && !lost(it));
        let delta = (!self.whole && !replaced.iter().any(&lost))
            .then(|| replaced.iter().copied().chain(parity).collect::<Ranges>());
        let rest = (!rest.iter().any(&lost)).then_some(rest);
        match (delta, rest) {
            (Some(delta), Some(rest)) if delta.len() >= rest.len() => rest,
            (Some(delta), _) => delta,
            (None, Some(rest)) => rest,
            (None, None) => self.others(&positions, &lost).unwrap_or_default(),
        }
    }
}

/// The bytes of a range outside of another of the same piece, as one range.
fn rest(all: PieceRange, without: Option<&PieceRange>) -> Option<PieceRange> {
    let Some(without) = without else {
        return Some(all);
    };
    let (before, after) = (without.start > all.start, without.end < all.end);
    match (before, after) {
        (true, true) => Some(all),
        (true, false) => Some(PieceRange {
            end: without.start.min(all.end),
            ..all
        }),
        (false, true) => Some(PieceRange {
            start: without.end.max(all.start),
            ..all
        }),
        (false, false) => None,
    }
}

/// From the first to the last position of some ranges.
fn positions(ranges: &[PieceRange]) -> Range<u64> {
    let start = ranges.iter().map(|it| it.start).min();
    let end = ranges.iter().map(|it| it.end).max();
    start.unwrap_or(0)..end.unwrap_or(0)
}

fn moved(range: PieceRange, by: u64) -> PieceRange {
    PieceRange {
        start: range.start + by,
        end: range.end + by,
        ..range
    }
}

fn shifted(mut ranges: Ranges, by: u64) -> Ranges {
    for range in &mut ranges {
        *range = moved(*range, by);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const KIB: u64 = 1024;

    fn code(data: u64, parity: u64, whole: bool) -> CodedStripes {
        CodedStripes {
            data,
            parity,
            unit: 4 * KIB,
            whole,
            block: None,
        }
    }

    fn pieces(ranges: &Ranges) -> Vec<u32> {
        ranges.iter().map(|it| it.piece).collect()
    }

    const NONE: fn(&PieceRange) -> bool = |_| false;

    /// 4 KiB in a full stripe, the second piece. With 4 + 2: three pieces are the rest, and three
    /// the old data and parity; equal, and the rest is read. Written are one piece and two of
    /// parity. With 8 + 2 the rest is seven, and old data and parity are three.
    #[test]
    fn small_writes_read_by_the_way_with_fewer_pieces() {
        let four = code(4, 2, false);
        let old = four.old(4 * KIB, 4 * KIB, 16 * KIB, NONE);
        assert_eq!(pieces(&old), [0, 2, 3]);
        assert_eq!(pieces(&four.written(4 * KIB, 4 * KIB)), [1, 4, 5]);
        let eight = code(8, 2, false);
        let old = eight.old(4 * KIB, 4 * KIB, 32 * KIB, NONE);
        assert_eq!(pieces(&old), [1, 8, 9]);
        assert!(old.iter().all(|it| (it.start, it.end) == (0, 4 * KIB)));
        // Whole stripes: all data is read, and everything written.
        let whole = code(4, 2, true);
        let old = whole.old(4 * KIB, 4 * KIB, 16 * KIB, NONE);
        assert_eq!(pieces(&old), [0, 1, 2, 3]);
        assert_eq!(pieces(&whole.written(4 * KIB, 4 * KIB)), [0, 1, 2, 3, 4, 5]);
    }

    /// A file of 6 KiB grows: the first piece and half of the second are there. 2 KiB more change
    /// the second half of positions, where only the first piece has data: one piece is read. By
    /// old data and parity it would be two of parity.
    #[test]
    fn an_append_reads_what_is_there() {
        let old = code(4, 2, false).old(6 * KIB, 2 * KIB, 6 * KIB, NONE);
        let first = PieceRange {
            piece: 0,
            start: 2 * KIB,
            end: 4 * KIB,
        };
        assert_eq!(old[..], [first]);
        assert!(
            code(4, 2, false)
                .old(16 * KIB, KIB, 16 * KIB, NONE)
                .is_empty()
        );
    }

    /// The second piece of 4 + 2 is lost: a read of it reads k = 4 others. A write to it cannot
    /// read its old data; the rest is there. A write to the first cannot read the rest.
    #[test]
    fn lost_pieces_are_given_back_by_others() {
        let four = code(4, 2, false);
        let lost = |it: &PieceRange| it.piece == 1;
        let (read, decoded) = four.read(4 * KIB, KIB, lost);
        assert_eq!((pieces(&read), decoded), (vec![0, 2, 3, 4], true));
        assert_eq!(read.iter().map(PieceRange::size).sum::<u64>(), 4 * KIB);
        let (read, decoded) = four.read(8 * KIB, KIB, lost);
        assert_eq!((pieces(&read), decoded), (vec![2], false));
        assert_eq!(pieces(&four.old(4 * KIB, KIB, 16 * KIB, lost)), [0, 2, 3]);
        assert_eq!(pieces(&four.old(0, KIB, 16 * KIB, lost)), [0, 4, 5]);
        // Both ways need a lost piece: the rest the second, the old data the first.
        let lost = |it: &PieceRange| it.piece < 2;
        assert_eq!(pieces(&four.old(0, KIB, 16 * KIB, lost)), [2, 3, 4, 5]);
    }

    proptest! {
        /// Reads return each byte once, from where it is. Data and parity of a file are as large as
        /// a count byte by byte says.
        #[test]
        fn every_byte_has_a_place(
            data in 1_u64..6, parity in 1_u64..4, unit in 1_u64..9, block in prop::option::of(1_u64..60),
            offset in 0_u64..200, size in 1_u64..100,
        ) {
            let code = CodedStripes { data, parity, unit, whole: false, block };
            let size = block.map_or(size, |block| size.min(block - offset % block));
            let (ranges, decoded) = code.read(offset, size, NONE);
            prop_assert!(!decoded);
            let read = ranges.iter().flat_map(|it| (it.start..it.end).map(|at| (it.piece, at)));
            let read: BTreeSet<(u32, u64)> = read.collect();
            let origin = code.origin(offset);
            let of_byte = |byte: u64| {
                let inner = byte - origin;
                let stripe = inner / (unit * data);
                let piece = inner / unit % data;
                (piece as u32, origin + stripe * unit + inner % unit)
            };
            let expected: BTreeSet<(u32, u64)> = (offset..offset + size).map(of_byte).collect();
            prop_assert_eq!(&read, &expected);
            prop_assert_eq!(read.len() as u64, size);
            let stored = (0..code.pieces()).map(|piece| code.part(size, piece)).sum::<u64>();
            let full = size / (unit * data) * unit * (data + parity);
            let rest = size % (unit * data);
            prop_assert_eq!(stored, full + rest + parity * rest.min(unit));
        }

        /// A write to intact pieces knows all that the new parity depends on. At each position that
        /// changes, this is all data, or the old data and the parity.
        #[test]
        fn writes_read_enough_for_parity(
            data in 1_u64..6, parity in 1_u64..4, unit in 1_u64..9, there in 0_u64..120,
            offset in 0_u64..100, size in 1_u64..60, whole in any::<bool>(),
        ) {
            let code = CodedStripes { data, parity, unit, whole, block: None };
            let old = code.old(offset, size, there, NONE);
            let has = |ranges: &Ranges, piece: u64, at: u64| {
                ranges.iter().any(|it| {
                    u64::from(it.piece) == piece && (it.start..it.end).contains(&at)
                })
            };
            let written = code.written(offset, size);
            let byte = |piece: u64, at: u64| (at / unit * data + piece) * unit + at % unit;
            for range in written.iter().filter(|it| u64::from(it.piece) == data) {
                for at in range.start..range.end {
                    let new = |piece| (offset..offset + size).contains(&byte(piece, at));
                    let exists = |piece| byte(piece, at) < there;
                    let rest = (0..data).all(|it| new(it) || !exists(it) || has(&old, it, at));
                    let was_there = (0..data).any(exists);
                    let delta = (0..data).all(|it| !new(it) || !exists(it) || has(&old, it, at))
                        && (data..data + parity).all(|it| !was_there || has(&old, it, at));
                    prop_assert!(rest || delta, "{old:?} at {at}");
                }
            }
        }
    }
}
