//! The translation layer of one die: which erase blocks the data lies in, and
//! what cleaning moves.
//!
//! It acts as one that maps every unit, with greedy cleaning (the block with the least valid data).
//! It has counts for each erase block instead of a place for each unit:
//!
//! - Units that were written at random are *scattered*. When one is overwritten, the block that
//!   loses it is drawn in proportion to the scattered units that blocks hold. Under uniformly
//!   random writes that is the distribution of the full map; cleaning a hot spot is somewhat more
//!   expensive than with the full map.
//! - Units that were written in order lie as a *run* in a block of their own. The sequential log
//!   block of FAST is similar (Lee et al., ACM TECS 6(3), 2007). Each *cell*, a block's worth of
//!   consecutive units, has the run being written and the one before. So writing in order again
//!   empties whole blocks, which cost nothing to clean. Where a few units are skipped, such as a
//!   file system's own blocks in a file, the run goes on behind them. Their old copies in the
//!   emptied block count as scattered.

use headrace_net::Random;
use headrace_spec::LEAST_SPARE_BLOCKS;

use super::paged::Paged;

const NONE: u32 = u32::MAX;

/// Blocks for sequential streams that are open at once.
const STREAMS: usize = 4;

/// Free blocks below which the die is cleaned: one to move into, one to write.
const RESERVE: usize = 2;

// A scenario with fewer is refused.
const _: () = assert!(LEAST_SPARE_BLOCKS == (2 * STREAMS + RESERVE + 3) as u64);

/// Units in order that make up for one that is passed over: runs with more holes
/// would leave their blocks too empty.
const FOR_A_HOLE: u16 = 16;

/// Consecutive units of a cell that lie in one block: `n` of those from `low` to
/// `high`, the others were overwritten elsewhere.
#[derive(Clone, Copy, Debug)]
struct Run {
    block: u32,
    low: u16,
    high: u16,
    n: u16,
}

const NO_RUN: Run = Run {
    block: NONE,
    low: 0,
    high: 0,
    n: 0,
};

impl Run {
    fn covers(&self, unit: u16) -> bool {
        (self.low..self.high).contains(&unit)
    }

    /// Loses a unit if it is here; a hole's place is drawn. A hole at the edge is
    /// none any more: overwriting in order meets each hole once.
    fn take(&mut self, unit: u16, random: &mut Random<'_>) -> bool {
        let length = self.high - self.low;
        if !self.covers(unit) {
            return false;
        }
        if self.n == length || random.below(u64::from(length)) < u64::from(self.n) {
            self.lose(unit);
            return true;
        }
        self.trim(unit);
        false
    }

    fn lose(&mut self, unit: u16) {
        self.n -= 1;
        self.trim(unit);
    }

    fn trim(&mut self, unit: u16) {
        if unit == self.low {
            self.low += 1;
        } else if unit + 1 == self.high {
            self.high -= 1;
        }
    }

    /// Returns true if a unit in order belongs into the same block, directly or behind a few
    /// skipped ones.
    fn takes_on(&self, unit: u16) -> bool {
        unit >= self.high && (unit - self.high) <= self.n / FOR_A_HOLE
    }

    fn holes(&self) -> u16 {
        self.high - self.low - self.n
    }
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    /// The run being written, and the one before.
    runs: [Run; 2],
    scattered: u16,
    /// The unit written last, and how many were written in order up to it.
    last: u16,
    in_order: u16,
}

/// A block that is being written.
#[derive(Clone, Copy, Debug)]
struct Open {
    block: u32,
    used: u16,
    cell: u32,
}

/// Additional cost of a unit's write.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Cleaned {
    /// Units that were moved.
    pub moved: u64,
    /// Blocks that were erased.
    pub erased: u64,
    /// Units that this made room for.
    pub freed: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Translation {
    /// Units of a block.
    units: u16,
    /// Units in order after which writing counts as sequential.
    long: u16,
    cells: Paged<Cell>,
    /// By block: units that are valid, and those of them that are scattered.
    valid: Paged<u16>,
    scattered: Paged<u16>,
    /// By block: the cell with a run in it.
    owner: Paged<u32>,
    /// Closed blocks by how many units are valid, and each block's place there.
    buckets: Paged<Vec<u32>>,
    place: Paged<u32>,
    least: usize,
    free: Vec<u32>,
    /// Blocks that a stream left before they were full.
    partly: Vec<Open>,
    frontier: Option<Open>,
    streams: Vec<Open>,
}

impl Translation {
    /// A die for `logical` units, the first `filled` of them written in order.
    pub(super) fn new(units: u16, long: u16, logical: u64, filled: u64, spare: f64) -> Translation {
        let cells = logical.div_ceil(u64::from(units));
        let blocks = cells + ((cells as f64 * spare) as u64).max(LEAST_SPARE_BLOCKS);
        let empty = Cell {
            runs: [NO_RUN; 2],
            scattered: 0,
            last: u16::MAX,
            in_order: 0,
        };
        let mut it = Translation {
            units,
            long: long.max(1),
            cells: Paged::new(empty, cells as usize),
            valid: Paged::new(0, blocks as usize),
            scattered: Paged::new(0, blocks as usize),
            owner: Paged::new(NONE, blocks as usize),
            buckets: Paged::new(Vec::new(), usize::from(units) + 1),
            place: Paged::new(NONE, blocks as usize),
            least: 0,
            free: Vec::new(),
            partly: Vec::new(),
            frontier: None,
            streams: Vec::new(),
        };
        for block in (0..blocks as u32).rev() {
            let first = u64::from(block) * u64::from(units);
            let n = filled.saturating_sub(first).min(u64::from(units)) as u16;
            if n == 0 {
                it.free.push(block);
                continue;
            }
            it.cells[block as usize].runs[0] = Run {
                block,
                low: 0,
                high: n,
                n,
            };
            it.owner[block as usize] = block;
            it.valid[block as usize] = n;
            it.close(block);
        }
        it
    }

    /// The part of all blocks that is free: once too few are, each write has to make room.
    pub(super) fn free(&self) -> f64 {
        self.free.len() as f64 / self.valid.len() as f64
    }

    /// Number of free blocks.
    pub(super) fn free_blocks(&self) -> u64 {
        self.free.len() as u64
    }

    /// Writes a unit, and cleans if there is no room for it.
    pub(super) fn write(&mut self, unit: u64, random: &mut Random<'_>) -> Cleaned {
        let cell = (unit / u64::from(self.units)) as usize;
        let within = (unit % u64::from(self.units)) as u16;
        let it = &mut self.cells[cell];
        it.in_order = match within.checked_sub(it.last.wrapping_add(1)) {
            Some(0) if within > 0 => it.in_order.saturating_add(1),
            Some(holes) if it.in_order >= self.long && it.last < within => {
                let paid = it.in_order.checked_sub(holes.saturating_mul(FOR_A_HOLE));
                paid.filter(|&left| left >= self.long).unwrap_or(0)
            }
            _ => 0,
        };
        it.last = within;
        let in_order = it.in_order >= self.long;
        if in_order {
            self.leave_behind(cell, within, random);
        }
        self.invalidate(cell, within, random);
        let mut cleaned = Cleaned::default();
        if in_order {
            self.append(cell, within, &mut cleaned);
        } else {
            let block = self.scatter(1, &mut cleaned);
            debug_assert!(block == 1);
            self.cells[cell].scattered += 1;
        }
        cleaned
    }

    /// Counts the skipped units of a sequentially overwritten run as scattered.
    fn leave_behind(&mut self, cell: usize, unit: u16, random: &mut Random<'_>) {
        let few = self.units / 8;
        let open = self.cells[cell].runs[0].block;
        let open = self.streams.iter().any(|it| it.block == open);
        for index in usize::from(open)..2 {
            let run = &mut self.cells[cell].runs[index];
            if !run.covers(unit) || unit - run.low > few {
                continue;
            }
            let (before, block) = (run.n, run.block);
            while run.low < unit {
                run.take(run.low, random);
            }
            let left = before - run.n;
            if left > 0 {
                self.cells[cell].scattered += left;
                self.scattered[block as usize] += left;
            }
        }
    }

    /// The block that holds a unit now loses it.
    fn invalidate(&mut self, cell: usize, unit: u16, random: &mut Random<'_>) {
        let it = &mut self.cells[cell];
        let within = it.runs.iter().any(|run| run.covers(unit));
        for run in &mut it.runs {
            if run.take(unit, random) {
                let block = run.block;
                return self.lose(block);
            }
        }
        let holes: u16 = it.runs.iter().map(Run::holes).sum();
        let covered: u16 = it.runs.iter().map(|run| run.high - run.low).sum();
        // A hole's unit is elsewhere for sure; of the others some may not be
        // written at all.
        let elsewhere = it.scattered.saturating_sub(holes);
        let others = self.units.saturating_sub(covered).max(1);
        let all = it.scattered + it.runs.iter().map(|run| run.n).sum::<u16>();
        let written =
            within || all >= self.units || random.below(u64::from(others)) < u64::from(elsewhere);
        if written && it.scattered > 0 {
            it.scattered -= 1;
            if let Some(block) = self.draw(random) {
                self.scattered[block as usize] -= 1;
                self.lose(block);
            }
        } else if written && let Some(run) = it.runs.iter_mut().find(|run| run.n > 0) {
            // Where runs overlap the draws may have missed both.
            run.lose(unit);
            let block = run.block;
            self.lose(block);
        }
    }

    /// A block, in proportion to the scattered units in it.
    fn draw(&self, random: &mut Random<'_>) -> Option<u32> {
        let blocks = self.valid.len() as u64;
        // Where few are scattered few are overwritten, so tries are few on average.
        for _ in 0..1000 {
            let block = random.below(blocks);
            if random.below(u64::from(self.units)) < u64::from(self.scattered[block as usize]) {
                return Some(block as u32);
            }
        }
        let from = random.below(blocks);
        let all = (from..blocks).chain(0..from);
        let mut any = all.filter(|&block| self.scattered[block as usize] > 0);
        any.next().map(|block| block as u32)
    }

    /// Writes a unit that follows the last one into its cell's own block.
    fn append(&mut self, cell: usize, unit: u16, cleaned: &mut Cleaned) {
        let open = self.streams.iter().position(|it| it.cell == cell as u32);
        let index = match open {
            Some(index) if self.cells[cell].runs[0].takes_on(unit) => index,
            Some(index) => {
                let left = self.streams.remove(index);
                self.leave(left);
                self.stream(cell, unit, cleaned)
            }
            None => self.stream(cell, unit, cleaned),
        };
        let it = &mut self.streams[index];
        it.used += 1;
        self.valid[it.block as usize] += 1;
        let run = &mut self.cells[cell].runs[0];
        run.high = unit + 1;
        run.n += 1;
        if it.used == self.units {
            let block = it.block;
            self.streams.remove(index);
            self.close(block);
        } else if unit + 1 == self.units {
            let left = self.streams.remove(index);
            self.leave(left);
        }
    }

    /// A block that is not full waits for scattered units; of many the first is
    /// closed as it is.
    fn leave(&mut self, open: Open) {
        self.partly.push(open);
        if self.partly.len() > STREAMS {
            let first = self.partly.remove(0);
            self.close(first.block);
        }
    }

    /// Opens a block for the run of a cell that begins at `unit`.
    fn stream(&mut self, cell: usize, unit: u16, cleaned: &mut Cleaned) -> usize {
        if self.streams.len() == STREAMS {
            let left = self.streams.remove(0);
            self.leave(left);
        }
        let block = self.allocate(cleaned);
        let [current, before] = self.cells[cell].runs;
        self.disperse(cell, before);
        self.cells[cell].runs = [
            Run {
                block,
                low: unit,
                high: unit,
                n: 0,
            },
            current,
        ];
        self.owner[block as usize] = cell as u32;
        self.streams.push(Open {
            block,
            used: 0,
            cell: cell as u32,
        });
        self.streams.len() - 1
    }

    /// Counts the rest of a run as scattered.
    fn disperse(&mut self, cell: usize, run: Run) {
        if run.block != NONE {
            self.cells[cell].scattered += run.n;
            self.scattered[run.block as usize] += run.n;
            self.owner[run.block as usize] = NONE;
        }
    }

    /// Writes scattered units; gives how many.
    fn scatter(&mut self, number: u16, cleaned: &mut Cleaned) -> u16 {
        let open = match self.frontier.take().or_else(|| self.partly.pop()) {
            Some(open) => open,
            None => Open {
                block: self.allocate(cleaned),
                used: 0,
                cell: NONE,
            },
        };
        // Cleaning may have left a block open of its own.
        let mut open = match self.frontier.take() {
            Some(other) => {
                self.leave(open);
                other
            }
            None => open,
        };
        let fits = number.min(self.units - open.used);
        open.used += fits;
        self.valid[open.block as usize] += fits;
        self.scattered[open.block as usize] += fits;
        if open.used == self.units {
            self.close(open.block);
        } else {
            self.frontier = Some(open);
        }
        fits
    }

    /// A free block; cleans as long as too few are left.
    fn allocate(&mut self, cleaned: &mut Cleaned) -> u32 {
        while self.free.len() < RESERVE {
            if !self.clean(cleaned) {
                break;
            }
        }
        debug_assert!(!self.free.is_empty(), "{self:?}");
        // The spare blocks are more than those that are ever open.
        self.free.pop().unwrap_or(0)
    }

    /// Moves the valid data out of the block with the least of it.
    fn clean(&mut self, cleaned: &mut Cleaned) -> bool {
        let mut from = self.least..self.buckets.len();
        let Some(least) = from.find(|&valid| !self.buckets[valid].is_empty()) else {
            return false;
        };
        self.least = least;
        let Some(&victim) = self.buckets[least].last() else {
            return false;
        };
        let valid = self.valid[victim as usize];
        if valid == self.units {
            return false;
        }
        self.unlist(victim);
        let owner = self.owner[victim as usize];
        if owner != NONE {
            let runs = self.cells[owner as usize].runs;
            for (index, run) in runs.into_iter().enumerate() {
                if run.block == victim {
                    self.disperse(owner as usize, run);
                    self.cells[owner as usize].runs[index] = NO_RUN;
                }
            }
        }
        self.valid[victim as usize] = 0;
        self.scattered[victim as usize] = 0;
        let mut left = valid;
        while left > 0 {
            if self.frontier.is_none()
                && self.partly.is_empty()
                && let Some(block) = self.free.pop()
            {
                self.frontier = Some(Open {
                    block,
                    used: 0,
                    cell: NONE,
                });
            }
            left -= self.scatter(left, cleaned);
        }
        self.free.push(victim);
        cleaned.moved += u64::from(valid);
        cleaned.erased += 1;
        cleaned.freed += u64::from(self.units - valid);
        true
    }

    fn lose(&mut self, block: u32) {
        let listed = self.place[block as usize] != NONE;
        if listed {
            self.unlist(block);
        }
        self.valid[block as usize] -= 1;
        if listed {
            self.close(block);
        }
    }

    /// A full block may be cleaned from now on.
    fn close(&mut self, block: u32) {
        debug_assert_eq!(self.place[block as usize], NONE);
        let valid = usize::from(self.valid[block as usize]);
        self.place[block as usize] = self.buckets[valid].len() as u32;
        self.buckets[valid].push(block);
        self.least = self.least.min(valid);
    }

    fn unlist(&mut self, block: u32) {
        let bucket = &mut self.buckets[usize::from(self.valid[block as usize])];
        let place = self.place[block as usize] as usize;
        bucket.swap_remove(place);
        if let Some(&moved) = bucket.get(place) {
            self.place[moved as usize] = place as u32;
        }
        self.place[block as usize] = NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Translation {
        fn consistent(&self) {
            let valid: u64 = self.valid.iter().map(|&it| u64::from(it)).sum();
            let of_cells = |cell: &Cell| {
                let runs = cell.runs.iter().map(|run| u64::from(run.n)).sum::<u64>();
                runs + u64::from(cell.scattered)
            };
            assert_eq!(valid, self.cells.iter().map(of_cells).sum::<u64>());
            let scattered: u64 = self.scattered.iter().map(|&it| u64::from(it)).sum();
            let of_cells = self.cells.iter().map(|cell| u64::from(cell.scattered));
            assert_eq!(scattered, of_cells.sum::<u64>());
            for (block, &valid) in self.valid.iter().enumerate() {
                assert!(valid <= self.units && self.scattered[block] <= valid);
            }
        }
    }

    /// Units written in all for each that the host writes.
    fn amplification(
        units: u16,
        blocks: u64,
        spare: f64,
        mut next: impl FnMut(u64, u64) -> u64,
    ) -> f64 {
        let logical = blocks * u64::from(units);
        let mut die = Translation::new(units, units / 64, logical, logical, spare);
        let (mut counter, mut moved) = (0, 0);
        let mut random = Random::named(1, "translation", &mut counter);
        let warm = 8 * logical;
        for n in 0..warm + 4 * logical {
            let cleaned = die.write(next(n, logical), &mut random);
            if n >= warm {
                moved += cleaned.moved;
            }
        }
        die.consistent();
        1.0 + moved as f64 / (4 * logical) as f64
    }

    /// Uniformly random writes, large blocks: α/(α + W(−α·e^−α)) with α physical over logical
    /// space. Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012, gives it for
    /// least-recently-written cleaning. Greedy cleaning approaches it from below as blocks grow. W
    /// is solved here from the share u of valid units in a cleaned block: u = e^(−α(1−u)).
    #[test]
    fn random_writes_are_amplified_as_known() {
        for (spare, blocks) in [(0.25, 1000_u64), (0.12, 1000)] {
            let mut counter = 0;
            let mut random = Random::named(7, "units", &mut counter);
            let measured = amplification(128, blocks, spare, |_, logical| random.below(logical));
            // A block or two are always free or half written.
            let alpha = 1.0 + spare - 2.0 / blocks as f64;
            let mut u: f64 = 0.5;
            for _ in 0..1000 {
                u = f64::exp(-alpha * (1.0 - u));
            }
            let known = 1.0 / (1.0 - u);
            assert!(
                measured < known * 1.02 && measured > known * 0.93,
                "{measured}, known {known}"
            );
        }
    }

    #[test]
    fn writes_in_order_are_hardly_amplified() {
        let measured = amplification(128, 500, 0.07, |n, logical| n % logical);
        assert!(measured < 1.03, "{measured}");
        // One unit in `every` is skipped, as a file's own index is.
        for every in [100, 1025, 33_000] {
            let next = |n: u64, logical: u64| (n + n / every) % (logical - logical % (every + 1));
            let measured = amplification(1536, 60, 0.07, next);
            assert!(measured < 1.03, "{measured}, one of {every} passed over");
        }
        // Several streams at once.
        let measured = amplification(128, 500, 0.07, |n, logical| {
            (n % 3) * (logical / 3) + (n / 3) % (logical / 3)
        });
        assert!(measured < 1.1, "{measured}");
    }

    proptest! {
        /// Units are neither lost nor doubled, whatever the mix.
        #[test]
        fn units_are_conserved(
            steps in prop::collection::vec((0_u64..6, any::<u64>(), 1_u64..200), 1..300),
            units in 4_u16..70, blocks in 8_u64..40, fill in 0.0..1.0_f64,
        ) {
            let logical = blocks * u64::from(units) - 3;
            let mut die = Translation::new(units, units / 64, logical, (logical as f64 * fill) as u64, 0.1);
            let mut counter = 0;
            let mut random = Random::named(1, "translation", &mut counter);
            for (kind, at, number) in steps {
                for n in 0..number {
                    let unit = if kind < 4 { at.wrapping_add(n) } else { at.wrapping_mul(n + 1) };
                    die.write(unit % logical, &mut random);
                }
                die.consistent();
            }
        }
    }
}
