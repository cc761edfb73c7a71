//! Files, offsets and sizes of a process's requests.

use headrace_net::Random;

use crate::jobs::distribution::Drawn;
use crate::jobs::job::{Access, Distribution, FileOrder, Job};

/// A place in a process's files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The file's number among the process's.
    pub file: usize,
    /// Offset in the part of the file that is used.
    pub offset: u64,
    /// Bytes.
    pub size: u32,
}

/// State of a file.
#[derive(Clone, Debug, Default)]
struct FileState {
    /// Ends of the last read and write.
    last: [u64; 2],
    /// Starts of these.
    started: [Option<u64>; 2],
    /// Random places that were drawn in this pass.
    drawn: u64,
    /// Units that were visited in this pass; empty where each is drawn once by itself.
    visited: Visited,
    /// First byte of the zone, and bytes that were moved in it.
    zone: (u64, u64),
    done: bool,
}

/// A bit for each unit of a file, and one for each word of these that has no unit left.
#[derive(Clone, Debug, Default)]
struct Visited {
    words: Vec<u64>,
    full: Vec<u64>,
}

impl Visited {
    /// Units are visited.
    fn visit(&mut self, range: std::ops::Range<u64>, units: u64) {
        if self.words.is_empty() {
            let words = units.div_ceil(64);
            self.words.resize(words as usize, 0);
            self.full.resize(words.div_ceil(64) as usize, 0);
        }
        for unit in range {
            let word = (unit / 64) as usize;
            self.words[word] |= 1 << (unit % 64);
            if self.words[word] == u64::MAX {
                self.full[word / 64] |= 1 << (word % 64);
            }
        }
    }

    /// Number of units from a place on that are not visited, up to a number.
    fn free(&self, place: u64, most: u64, units: u64) -> u64 {
        let is_free = |unit: &u64| {
            let word = self.words.get((unit / 64) as usize);
            word.copied().unwrap_or(0) >> (unit % 64) & 1 == 0
        };
        let end = place.saturating_add(most).min(units);
        (place..end).take_while(is_free).count() as u64
    }

    /// The first unit from a place on that is not visited; behind the last comes the first.
    fn next_free(&self, place: u64, units: u64) -> Option<u64> {
        if self.words.is_empty() {
            return Some(place);
        }
        self.free_from(place, units)
            .or_else(|| self.free_from(0, units))
    }

    fn free_from(&self, place: u64, units: u64) -> Option<u64> {
        let in_word = |word: usize, from: u64| {
            let free = !self.words[word] & (u64::MAX << from);
            let unit = word as u64 * 64 + u64::from(free.trailing_zeros());
            (free != 0 && unit < units).then_some(unit)
        };
        let first = (place / 64) as usize;
        in_word(first, place % 64).or_else(|| {
            let mut word = first + 1;
            while word < self.words.len() {
                let open = !self.full[word / 64] & (u64::MAX << (word % 64));
                if open == 0 {
                    word = (word / 64 + 1) * 64;
                    continue;
                }
                word = word / 64 * 64 + open.trailing_zeros() as usize;
                if word >= self.words.len() {
                    return None;
                }
                if let Some(unit) = in_word(word, 0) {
                    return Some(unit);
                }
                word += 1;
            }
            None
        })
    }
}

/// The places of a process's requests, pass after pass.
#[derive(Clone, Debug)]
pub struct Offsets {
    /// Bytes of a file, or of a zone of it.
    bytes: u64,
    whole: u64,
    unit: u64,
    units: u64,
    block: u32,
    sizes: [Vec<(u32, f64)>; 2],
    /// Units of the smallest read and write, of which their random offsets are multiples.
    steps: [u64; 2],
    access: Access,
    drawn: Drawn,
    /// True if visited units are noted: sizes differ, or sequential requests come between.
    maps: bool,
    each_once: bool,
    /// True if sequential requests begin again at the end of the file by themselves.
    wraps: bool,
    order: (FileOrder, u32),
    files: Vec<FileState>,
    current: usize,
    left: u32,
    done: usize,
    /// Requests since the last new random offset.
    row: u32,
    pass: u64,
    seed: u64,
    counter: u64,
    requests: u64,
}

impl Offsets {
    /// The places of a job's process; each has its own seed.
    pub fn new(job: &Job, seed: u64) -> Offsets {
        let block = job.block.max(1);
        let unit = u64::from(if job.access.align == 0 {
            block
        } else {
            job.access.align
        });
        let bytes = job.access.zones.map_or(job.bytes, |it| it.1.min(job.bytes));
        // A request that begins at the last unit fits.
        let units = (bytes.saturating_sub(u64::from(block)) / unit + 1).max(1);
        let is_uniform = job.access.distribution == Distribution::Uniform;
        let each_once = job.access.each_once && is_uniform;
        let is_plain = job.sizes.iter().all(Vec::is_empty)
            && job.access.random_share >= 1.0
            && job.access.in_a_row <= 1
            && unit == u64::from(block);
        Offsets {
            bytes,
            whole: job.bytes,
            unit,
            units,
            block,
            sizes: job.sizes.clone(),
            steps: [0, 1].map(|way: usize| {
                let least = job.sizes[way].iter().map(|it| u64::from(it.0)).min();
                least.map_or(1, |least| (least / unit).max(1))
            }),
            access: job.access.clone(),
            drawn: Drawn::new(&job.access.distribution, units, seed),
            maps: each_once && !is_plain && job.access.random,
            each_once,
            wraps: job.files == 1
                && (job.repeated || job.total.is_some_and(|total| total > job.bytes)),
            order: job.file_order,
            files: vec![FileState::default(); job.files as usize],
            current: job.files as usize - 1,
            left: 0,
            done: 0,
            row: 0,
            pass: 0,
            seed,
            counter: 0,
            requests: 0,
        }
    }

    /// Requests so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Begins a new pass.
    pub fn restart(&mut self) {
        self.pass += 1;
        self.files.fill_with(FileState::default);
        (self.current, self.left, self.done) = (self.files.len() - 1, 0, 0);
    }

    /// The place of the next read or write; none when all files are done.
    pub fn next(&mut self, reads: bool) -> Option<Place> {
        loop {
            let file = self.next_file()?;
            if let Some((offset, size)) = self.within(file, usize::from(!reads)) {
                self.requests += 1;
                let offset = offset + self.files[file].zone.0;
                self.passes_zone(file, size);
                return Some(Place { file, offset, size });
            }
            if self.access.zones.is_some() {
                self.next_zone(file);
                continue;
            }
            self.files[file].done = true;
            self.done += 1;
            self.left = 0;
        }
    }

    /// Goes on to the next zone if all of this one's bytes are moved.
    fn passes_zone(&mut self, file: usize, size: u32) {
        if let Some((moved, ..)) = self.access.zones {
            self.files[file].zone.1 += u64::from(size);
            if self.files[file].zone.1 >= moved {
                self.next_zone(file);
            }
        }
    }

    /// The next zone of a file; behind the last one comes the first.
    fn next_zone(&mut self, file: usize) {
        let Some((_, range, skip)) = self.access.zones else {
            return;
        };
        let next = self.files[file].zone.0 + range + skip;
        let first = if next + self.bytes > self.whole {
            0
        } else {
            next
        };
        self.files[file] = FileState {
            zone: (first, 0),
            ..FileState::default()
        };
    }

    fn uniform(&mut self) -> f64 {
        Random::named(self.seed, "place", &mut self.counter).uniform()
    }

    fn next_file(&mut self) -> Option<usize> {
        let count = self.files.len();
        if self.done == count {
            return None;
        }
        if !self.files[self.current].done && self.left > 0 {
            self.left -= u32::from(self.order.0 != FileOrder::Sequential);
            return Some(self.current);
        }
        loop {
            self.current = match self.order.0 {
                FileOrder::Random => (self.uniform() * count as f64) as usize,
                _ => (self.current + 1) % count,
            };
            if !self.files[self.current].done {
                break;
            }
        }
        self.left = match self.order.0 {
            FileOrder::Sequential => 1,
            _ => self.order.1 - 1,
        };
        Some(self.current)
    }

    fn size(&mut self, way: usize) -> u32 {
        if self.sizes[way].is_empty() {
            return self.block;
        }
        let mut drawn = self.uniform();
        let sizes = &self.sizes[way];
        drawn *= sizes.iter().map(|it| it.1).sum::<f64>();
        let size = sizes.iter().find(|it| {
            drawn -= it.1;
            drawn < 0.0
        });
        size.or(sizes.last()).map_or(self.block, |it| it.0)
    }

    /// Offset and size of the next request in a file.
    fn within(&mut self, file: usize, way: usize) -> Option<(u64, u32)> {
        let size = self.size(way);
        let is_new = self.row == 0;
        self.row = (self.row + 1) % self.access.in_a_row.max(1);
        let random = self.access.random
            && is_new
            && (self.access.random_share >= 1.0 || self.uniform() < self.access.random_share);
        let place = if random {
            self.random(file, way, size)
        } else if self.access.random && !is_new && self.access.same_offset {
            let start = self.files[file].started[way].unwrap_or(0);
            Some((start, size))
        } else {
            let place = self.sequential(file, way, size);
            match self.access.random && place.is_none() {
                true => self.random(file, way, size),
                false => place,
            }
        };
        let (offset, size) = place?;
        let state = &mut self.files[file];
        state.started[way] = Some(offset);
        state.last[way] = offset + u64::from(size);
        if self.maps {
            self.visit(file, offset, size);
        }
        Some((offset, size))
    }

    /// The place behind the last one, or before it. Places with gaps begin again at the other end.
    fn sequential(&mut self, file: usize, way: usize, size: u32) -> Option<(u64, u32)> {
        let last = self.files[file].last[way];
        let step = self.access.step;
        let mut place = last;
        if step != 0 && last != 0 {
            place = match last.checked_add_signed(step) {
                Some(place) if place < self.bytes => place,
                _ if step > 0 => 0,
                _ => self.bytes.saturating_add_signed(step),
            };
        }
        let mut room = self.bytes.saturating_sub(place);
        if room < u64::from(self.block) {
            if !self.wraps {
                return None;
            }
            (place, room) = (0, self.bytes);
        }
        Some((place, self.fitting(size, room)))
    }

    /// The size of a request, or of a smaller one that fits.
    fn fitting(&self, size: u32, room: u64) -> u32 {
        if u64::from(size) <= room {
            return size;
        }
        (room as u32) / self.block * self.block
    }

    fn random(&mut self, file: usize, way: usize, size: u32) -> Option<(u64, u32)> {
        if !self.each_once {
            let mut random = Random::named(self.seed, "place", &mut self.counter);
            let place = self.drawn.block(&mut random);
            let place = (place - place % self.steps[way]) * self.unit;
            return Some((place, self.fitting(size, self.bytes - place)));
        }
        if self.maps {
            // As fio: a place that was visited gives way to the next that was not.
            let drawn = Random::named(self.seed, "place", &mut self.counter).below(self.units);
            let drawn = drawn - drawn % self.steps[way];
            let place = self.files[file].visited.next_free(drawn, self.units)?;
            let most = u64::from(size).div_ceil(self.unit);
            let free = self.files[file].visited.free(place, most, self.units);
            let offset = place * self.unit;
            let room = free.saturating_mul(self.unit).max(u64::from(self.block));
            return Some((offset, self.fitting(size, room.min(self.bytes - offset))));
        }
        let drawn = self.files[file].drawn;
        if drawn >= self.units {
            return None;
        }
        self.files[file].drawn += 1;
        let key = mixed(self.seed ^ mixed(self.pass) ^ mixed(!(file as u64)));
        let offset = permuted(drawn, self.units, key) * self.unit;
        Some((offset, self.fitting(size, self.bytes - offset)))
    }

    fn visit(&mut self, file: usize, offset: u64, size: u32) {
        let first = offset / self.unit;
        let end = (offset + u64::from(size)).div_ceil(self.unit);
        let (end, units) = (end.min(self.units), self.units);
        self.files[file].visited.visit(first..end, units);
    }
}

/// The place of a number in a permutation of the numbers below a bound. It is a Feistel network of
/// four rounds on the next even power of two, repeated until the number is below the bound. Source:
/// Black and Rogaway, 2002, Ciphers with arbitrary finite domains.
fn permuted(number: u64, below: u64, key: u64) -> u64 {
    let bits = u64::BITS - below.saturating_sub(1).leading_zeros();
    let half = bits.div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut walked = number;
    loop {
        let (mut left, mut right) = (walked >> half, walked & mask);
        for round in 0..4 {
            let drawn = mixed(right ^ key.rotate_left(16 * round)) & mask;
            (left, right) = (right, left ^ drawn);
        }
        walked = left << half | right;
        if walked < below {
            return walked;
        }
    }
}

/// SplitMix64's output function: every bit of the result depends on every bit of the number.
pub fn mixed(number: u64) -> u64 {
    let mut hash = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn job(blocks: u64, random: bool) -> Job {
        Job {
            bytes: blocks * 4096,
            access: Access {
                random,
                ..Access::default()
            },
            ..Job::default()
        }
    }

    /// Offsets in blocks of a pass of reads.
    fn pass(offsets: &mut Offsets) -> Vec<u64> {
        std::iter::from_fn(|| offsets.next(true))
            .map(|it| it.offset / 4096)
            .collect()
    }

    proptest! {
        #[test]
        fn each_pass_has_each_block_once(blocks in 1_u64..3000, seed: u64) {
            let mut offsets = Offsets::new(&job(blocks, true), seed);
            let mut passes = Vec::new();
            for _ in 0..2 {
                let pass = pass(&mut offsets);
                offsets.restart();
                let mut sorted = pass.clone();
                sorted.sort_unstable();
                prop_assert!(sorted.into_iter().eq(0..blocks));
                passes.push(pass);
            }
            if blocks > 50 {
                prop_assert_ne!(&passes[0], &passes[1]);
                let ascending = passes[0].windows(2).filter(|it| it[1] == it[0] + 1).count();
                prop_assert!((ascending as u64) < blocks / 4, "{} of {}", ascending, blocks);
            }
        }

        /// Requests of several sizes, between sequential ones or not, move each byte once.
        #[test]
        fn each_byte_is_moved_once_by_requests_of_several_sizes(
            blocks in 1_u64..600,
            files in 1_u32..4,
            random_share in prop::sample::select(vec![1.0, 0.5]),
            order in prop::sample::select(vec![
                FileOrder::RoundRobin, FileOrder::Sequential, FileOrder::Random,
            ]),
            seed: u64,
        ) {
            let mut job = job(blocks, true);
            job.sizes[0] = vec![(4096, 0.5), (12288, 0.3), (65536, 0.2)];
            job.access.random_share = random_share;
            (job.files, job.file_order) = (files, (order, 2));
            let mut offsets = Offsets::new(&job, seed);
            let mut seen = vec![0; (blocks * u64::from(files)) as usize];
            while let Some(place) = offsets.next(true) {
                for unit in 0..u64::from(place.size) / 4096 {
                    let block = place.offset / 4096 + unit;
                    prop_assert!(block < blocks);
                    seen[(place.file as u64 * blocks + block) as usize] += 1;
                }
                // Sequential requests may come back to what a random one has visited.
                if random_share < 1.0 && seen.iter().all(|it| *it > 0) {
                    break;
                }
            }
            prop_assert!(seen.iter().all(|it| *it == 1 || random_share < 1.0 && *it > 0));
        }
    }

    #[test]
    fn in_order_reads_and_writes_go_on_side_by_side() {
        let mut offsets = Offsets::new(&job(3, false), 7);
        let ways = [true, true, false, true, false];
        let drawn = ways.map(|reads| offsets.next(reads).map(|it| it.offset / 4096));
        assert_eq!(drawn, [0, 1, 0, 2, 1].map(Some));
        assert_eq!(offsets.requests(), 5);
    }

    /// By hand, four blocks: with a gap of one block 0, 2, then again from 0; backwards from 0 to
    /// the end.
    #[test]
    fn gaps_and_backwards_begin_again_at_the_other_end() {
        let mut job = job(4, false);
        job.access.step = 4096;
        let mut offsets = Offsets::new(&job, 7);
        let four = [0; 4].map(|_| offsets.next(true).map(|it| it.offset / 4096));
        assert_eq!(four, [0, 2, 0, 2].map(Some));
        job.access.step = -8192;
        let mut offsets = Offsets::new(&job, 7);
        let five = [0; 5].map(|_| offsets.next(true).map(|it| it.offset / 4096));
        assert_eq!(five, [0, 2, 1, 0, 2].map(Some));
    }

    /// By hand: zones of two blocks in ten, one of which is moved, and one block between them. They
    /// begin at 0, 3 and 6, then at 0 again: a zone from 9 on does not fit.
    #[test]
    fn zones_follow_each_other() {
        let mut job = job(10, false);
        job.access.zones = Some((4096, 8192, 4096));
        let mut offsets = Offsets::new(&job, 7);
        let four = [0; 4].map(|_| offsets.next(true).map(|it| it.offset / 4096));
        assert_eq!(four, [0, 3, 6, 0].map(Some));
    }

    #[test]
    fn several_requests_follow_a_random_one() {
        let mut job = job(1000, true);
        job.access.in_a_row = 3;
        let mut offsets = Offsets::new(&job, 7);
        for _ in 0..20 {
            let three = [0; 3].map(|_| offsets.next(true).map_or(0, |it| it.offset / 4096));
            assert!(three[0] + 2 > 999 || three[1] == three[0] + 1 && three[2] == three[0] + 2);
        }
        job.access.same_offset = true;
        let mut offsets = Offsets::new(&job, 7);
        let three = [0; 3].map(|_| offsets.next(true).map(|it| it.offset));
        assert!(three.iter().all(|it| *it == three[0]));
    }

    #[test]
    fn the_largest_file_has_its_offsets() {
        let blocks = (1 << 50) - 1;
        let mut offsets = Offsets::new(&job(blocks, true), 7);
        let mut places = (0..100).filter_map(|_| offsets.next(true));
        assert!(places.all(|it| it.offset / 4096 < blocks));
    }
}
