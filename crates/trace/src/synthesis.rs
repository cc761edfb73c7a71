use crate::{Error, Flags, Names, Operation, Reader, Record, Skipped};

/// Files of the processes: one for each (IOR's option `-F`), or one shared file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// One file for all: a segment holds a block of each process in turn.
    Shared,
    /// One file for each process.
    PerProcess,
}

/// In which order a process goes through the transfers of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By ascending offset.
    Sequential,
    /// Shuffled, each transfer once; every block in another order.
    Random,
}

/// Operations on the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phases {
    /// Write them.
    Write,
    /// Read them.
    Read,
    /// Write them all, then read them all.
    WriteThenRead,
}

/// A synthetic workload in the terms of the IOR benchmark.
///
/// In each phase a process opens its file, moves `segments` blocks transfer by
/// transfer, and closes it. All processes go in step: each makes one request
/// every `think_ns`. Durations are 0, as nothing was measured: a replay gives
/// them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Number of processes.
    pub processes: u32,
    /// True if processes share a file.
    pub files: Files,
    /// Bytes that a process moves at one place.
    pub block: u64,
    /// Bytes of one request; divides the block.
    pub transfer: u64,
    /// Number of blocks per process.
    pub segments: u64,
    /// Operations.
    pub phases: Phases,
    /// In which order.
    pub order: Order,
    /// Time between the requests of a process, in nanoseconds.
    pub think_ns: i64,
    /// Decides a random order.
    pub seed: u64,
}

impl Default for Pattern {
    /// IOR's defaults: one block of 1 MiB in transfers of 256 KiB, written and
    /// read, in a shared file.
    fn default() -> Self {
        Self {
            processes: 1,
            files: Files::Shared,
            block: 1 << 20,
            transfer: 256 << 10,
            segments: 1,
            phases: Phases::WriteThenRead,
            order: Order::Sequential,
            think_ns: 0,
            seed: 0,
        }
    }
}

/// Makes a pattern's records, in memory that does not grow with their number.
#[derive(Debug)]
pub struct Synthesis {
    pattern: Pattern,
    transfers: u64,
    /// Requests per process and phase: open, transfers, close.
    steps: u64,
    phase: usize,
    step: u64,
    process: u32,
    files: Names,
    processes: Names,
    skipped: Skipped,
}

impl Synthesis {
    /// Prepares a pattern.
    ///
    /// # Errors
    /// If a value of the pattern makes no sense.
    pub fn new(pattern: Pattern) -> Result<Self, Error> {
        let wrong = |name, found: String, expected: &str| {
            Err(Error::Value {
                name,
                found,
                expected: expected.into(),
            })
        };
        if pattern.processes == 0 {
            return wrong("processes", "0".into(), "at least 1");
        }
        if pattern.transfer == 0 {
            return wrong("transfer", "0".into(), "at least 1 byte");
        }
        if pattern.block == 0 || !pattern.block.is_multiple_of(pattern.transfer) {
            let expected = format!("a multiple of transfer = {}", pattern.transfer);
            return wrong("block", pattern.block.to_string(), &expected);
        }
        if pattern.segments == 0 {
            return wrong("segments", "0".into(), "at least 1");
        }
        if pattern.think_ns < 0 {
            return wrong(
                "think",
                pattern.think_ns.to_string(),
                "nanoseconds, not negative",
            );
        }
        let transfers = pattern.block / pattern.transfer;
        let length = pattern
            .block
            .checked_mul(pattern.segments)
            .and_then(|it| it.checked_mul(u64::from(pattern.processes)));
        let steps = transfers
            .checked_mul(pattern.segments)
            .and_then(|it| it.checked_add(2));
        let span = steps
            .and_then(|it| i64::try_from(it).ok())
            .and_then(|it| it.checked_mul(2))
            .and_then(|it| it.checked_mul(pattern.think_ns));
        let (Some(_), Some(steps), Some(_)) = (length, steps, span) else {
            let found = pattern.segments.to_string();
            return wrong(
                "segments",
                found,
                "offsets below 2⁶⁴ bytes and times below 2⁶³ ns",
            );
        };
        let mut files = Names::new();
        let mut processes = Names::new();
        for process in 0..pattern.processes {
            processes.intern(&process.to_string());
            match pattern.files {
                Files::Shared => files.intern("/shared"),
                Files::PerProcess => files.intern(&format!("/file.{process}")),
            };
        }
        Ok(Self {
            pattern,
            transfers,
            steps,
            phase: 0,
            step: 0,
            process: 0,
            files,
            processes,
            skipped: Skipped::default(),
        })
    }

    fn phases(&self) -> &'static [Operation] {
        match self.pattern.phases {
            Phases::Write => &[Operation::Write],
            Phases::Read => &[Operation::Read],
            Phases::WriteThenRead => &[Operation::Write, Operation::Read],
        }
    }

    fn next(&mut self) -> Option<Record> {
        let &transfer = self.phases().get(self.phase)?;
        let before = self.phase as u64 * self.steps + self.step;
        let opening = if transfer == Operation::Write {
            Operation::Create
        } else {
            Operation::Open
        };
        let (operation, offset, size) = if self.step == 0 {
            (opening, 0, 0)
        } else if self.step == self.steps - 1 {
            (Operation::Close, 0, 0)
        } else {
            (transfer, self.offset(self.step - 1), self.pattern.transfer)
        };
        let record = Record {
            // Checked in new().
            time_ns: before as i64 * self.pattern.think_ns,
            duration_ns: 0,
            offset,
            size,
            process: self.process,
            file: match self.pattern.files {
                Files::Shared => 0,
                Files::PerProcess => self.process,
            },
            operation,
            flags: Flags::NONE,
            other: Record::NO_FILE,
        };
        self.process += 1;
        if self.process == self.pattern.processes {
            self.process = 0;
            self.step += 1;
        }
        if self.step == self.steps {
            self.step = 0;
            self.phase += 1;
        }
        Some(record)
    }

    fn offset(&self, request: u64) -> u64 {
        let (segment, place) = (request / self.transfers, request % self.transfers);
        let block = match self.pattern.files {
            Files::Shared => segment * u64::from(self.pattern.processes) + u64::from(self.process),
            Files::PerProcess => segment,
        };
        let place = match self.pattern.order {
            Order::Sequential => place,
            Order::Random => {
                let phase = self.phase as u64;
                let key = [segment, u64::from(self.process), phase]
                    .into_iter()
                    .fold(self.pattern.seed, |key, part| mix(key ^ mix(part)));
                permuted(place, self.transfers, key)
            }
        };
        block * self.pattern.block + place * self.pattern.transfer
    }
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A permutation of 0…count − 1 without a table: a Feistel network of four
/// rounds on the next even number of bits. It is repeated until it falls in
/// range ("cycle walking": Black and Rogaway 2002).
fn permuted(place: u64, count: u64, key: u64) -> u64 {
    let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
    let half = bits.div_ceil(2);
    let mask = (1_u64 << half) - 1;
    let mut value = place;
    loop {
        let (mut left, mut right) = (value >> half, value & mask);
        for round in 0..4 {
            (left, right) = (right, left ^ (mix(key ^ mix(right ^ (round << 32))) & mask));
        }
        value = (left << half) | right;
        if value < count {
            return value;
        }
    }
}

impl Reader for Synthesis {
    fn next_batch(&mut self, max: usize, into: &mut Vec<Record>) -> Result<usize, Error> {
        let before = into.len();
        into.extend(std::iter::from_fn(|| self.next()).take(max));
        Ok(into.len() - before)
    }

    fn files(&self) -> &Names {
        &self.files
    }

    fn processes(&self) -> &Names {
        &self.processes
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }
}
