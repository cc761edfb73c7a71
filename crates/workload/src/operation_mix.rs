//! Operations drawn by weight, asked one after the other or at times of their own.
//!
//! What the n-th operation of a client is, and in an open loop when it comes, depends
//! on the seed alone: the same operations are asked of every system.
//!
//! Files are numbered by size, so that those which hold a transfer are the last ones.
//! Names that are made, renamed and removed are others, as many as there are files.
//!
//! Not modelled: which names are there (a name may be removed twice), and that a file's
//! parts are read in order.

use std::collections::HashMap;

use headrace_net::{Random, Span, Time};
use headrace_spec::{
    Amount, DIRECT_UNIT, MixedOperation, OperationMix, Seconds, ThinkDistribution,
};
use headrace_trace::Operation;

use super::{Application, Ask, ExistingFile, Next};

/// A workload of operations drawn by weight.
pub struct OperationMixApplication {
    spec: OperationMix,
    processes: u32,
    seed: u64,
    /// What each client has asked so far.
    clients: Vec<Client>,
    /// Where files end that have become longer.
    ends: HashMap<u32, u64>,
    /// The number of the first file of each size, by size.
    first_of: Vec<(u64, u32)>,
}

/// What a client's processes share.
#[derive(Clone, Default)]
struct Client {
    /// Operations asked.
    asked: u64,
    /// Draws made.
    draws: u64,
    /// Draws of times made, and the time in seconds of the last arrival.
    arrivals: u64,
    last: f64,
}

impl OperationMixApplication {
    /// The workload for so many processes, of which every client has `per_client`.
    pub fn new(
        spec: &OperationMix,
        processes: u32,
        per_client: u32,
        seed: u64,
    ) -> OperationMixApplication {
        let clients = (processes / per_client.max(1)).max(1);
        let mut first_of: Vec<(u64, u32)> = Vec::new();
        for size in spec.file_sizes.values() {
            let first = first_with(spec.files, |file| spec.size_of(file) >= size);
            first_of.push((size.0, first));
        }
        OperationMixApplication {
            spec: spec.clone(),
            processes,
            seed,
            clients: vec![Client::default(); clients as usize],
            ends: HashMap::new(),
            first_of,
        }
    }

    /// The first file that holds so many bytes; of the largest files, if none does.
    fn first_holding(&self, size: u64) -> u32 {
        let mut sizes = self.first_of.iter();
        let first = sizes.find(|(of, first)| *of >= size && *first < self.spec.files);
        let largest = self.spec.size_of(self.spec.files - 1).0;
        match first {
            Some(&(_, first)) => first,
            None => first_with(self.spec.files, |file| self.spec.size_of(file).0 >= largest),
        }
    }

    /// A file from a number on.
    fn file(&self, from: u32, random: &mut Random<'_>) -> u32 {
        let files = self.spec.files;
        let any = |random: &mut Random<'_>| from + random.below(u64::from(files - from)) as u32;
        if self.spec.hot_files >= 1.0 {
            return any(random);
        }
        let hot = random.uniform() < self.spec.hot_share;
        // Every so many files one is hot: how many of the kind there are before a file.
        let before = |file: u32| {
            let number = (f64::from(file) * self.spec.hot_files) as u32;
            if hot { number } else { file - number }
        };
        let (least, most) = (before(from), before(files));
        if least == most {
            return any(random);
        }
        let number = least + random.below(u64::from(most - least)) as u32;
        first_with(files, |file| before(file + 1) > number)
    }

    /// A transfer of so many bytes: file, offset, bytes.
    fn transfer(&self, size: u64, random: &mut Random<'_>) -> (u32, u64, u64) {
        let file = self.file(self.first_holding(size), random);
        let held = self.spec.size_of(file).0;
        let size = size.min(held);
        (file, random.below(held / size) * size, size)
    }

    fn think(&self, random: &mut Random<'_>) -> Span {
        let mean = Span::from_seconds(self.spec.think.0);
        match self.spec.think_distribution {
            _ if mean == Span::ZERO => Span::ZERO,
            ThinkDistribution::Constant => mean,
            ThinkDistribution::Exponential => random.exponential_span(mean),
        }
    }

    /// How many operations are to begin in an open loop from one time to before another;
    /// none in a closed one.
    ///
    /// # Errors
    /// If one comes too late.
    pub fn arrivals(mut self, from: Time, to: Time) -> Result<Option<u64>, String> {
        let Some(rate) = self.spec.rate else {
            return Ok(None);
        };
        let most = match self.spec.amount {
            Amount::Forever => u64::MAX,
            Amount::Count(most) => u64::from(most),
        };
        let mut between = 0;
        for client in 0..self.clients.len() {
            for _ in 0..most {
                let arrival = self.arrival(client, rate)?;
                if arrival >= to {
                    break;
                }
                between += u64::from(arrival >= from);
            }
        }
        Ok(Some(between))
    }

    /// When a client's next operation comes in an open loop.
    fn arrival(&mut self, client: usize, rate: f64) -> Result<Time, String> {
        let mean = self.clients.len() as f64 / rate;
        let key = self.key(client);
        let client = &mut self.clients[client];
        let mut random = Random::named(key, "arrivals", &mut client.arrivals);
        client.last += random.exponential(mean);
        if client.last > Seconds::LONGEST.0 {
            return Err(format!(
                "an operation is to be asked at {} s, and simulated time ends after 213 days; \
                 look at workload.rate and workload.amount",
                client.last
            ));
        }
        Ok(Time::from_seconds(client.last))
    }

    fn key(&self, client: usize) -> u64 {
        self.seed ^ ((client as u64) << 32)
    }

    /// A read: file, offset, bytes.
    fn read(&self, drawn: MixedOperation, random: &mut Random<'_>) -> (u32, u64, u64) {
        let size = self.spec.read_sizes.at(random.uniform()).0;
        self.placed(drawn, size, random)
    }

    /// A write: file, offset, bytes.
    fn write(&mut self, drawn: MixedOperation, random: &mut Random<'_>) -> (u32, u64, u64) {
        let size = self.spec.write_sizes.at(random.uniform()).0;
        let appends = random.uniform() < self.spec.append_share;
        if !appends || drawn == MixedOperation::SharedWrite {
            return self.placed(drawn, size, random);
        }
        let file = self.file(0, random);
        let end = self.ends.entry(file).or_insert(self.spec.size_of(file).0);
        let (offset, size) = match drawn.is_direct() {
            true => (in_units(*end), in_units(size)),
            false => (*end, size),
        };
        *end = offset.saturating_add(size);
        (file, offset, size)
    }

    /// A transfer of so many bytes within a file.
    fn placed(&self, drawn: MixedOperation, size: u64, random: &mut Random<'_>) -> (u32, u64, u64) {
        use MixedOperation::{SharedRead, SharedWrite};
        if matches!(drawn, SharedRead | SharedWrite) {
            let file = self.spec.files - 1;
            let held = self.spec.size_of(file).0;
            let size = size.min(held);
            return (file, random.below(held / size) * size, size);
        }
        if !drawn.is_direct() {
            return self.transfer(size, random);
        }
        let (file, offset, size) = self.transfer(in_units(size), random);
        // In a file that holds less than was drawn: the whole units of it.
        (file, offset, size / DIRECT_UNIT * DIRECT_UNIT)
    }

    /// What is asked: operation, file, offset, bytes.
    fn draw(
        &mut self,
        drawn: MixedOperation,
        random: &mut Random<'_>,
    ) -> (Operation, u32, u64, u64) {
        use MixedOperation::{Read, ReadWrite, SharedRead, SharedReadWrite, SharedWrite, Write};
        let operation = operation(drawn);
        match drawn {
            ReadWrite | SharedReadWrite => {
                let single = match (drawn, random.uniform() < 0.5) {
                    (ReadWrite, true) => Read,
                    (ReadWrite, false) => Write,
                    (_, true) => SharedRead,
                    (_, false) => SharedWrite,
                };
                self.draw(single, random)
            }
            it if it.reads() => {
                let (file, offset, size) = self.read(drawn, random);
                (operation, file, offset, size)
            }
            it if it.writes() => {
                let (file, offset, size) = self.write(drawn, random);
                (operation, file, offset, size)
            }
            MixedOperation::Truncate => {
                let file = self.file(0, random);
                self.ends.remove(&file);
                (operation, file, self.spec.size_of(file).0, 0)
            }
            it if makes_or_removes(it) => {
                let name = random.below(u64::from(self.spec.files)) as u32;
                (operation, self.spec.files + name, 0, 0)
            }
            _ => (operation, self.file(0, random), 0, 0),
        }
    }
}

/// The whole units of direct transfers that hold so many bytes.
fn in_units(bytes: u64) -> u64 {
    bytes.div_ceil(DIRECT_UNIT).saturating_mul(DIRECT_UNIT)
}

/// The first of so many files that satisfies a condition which all after it do too.
fn first_with(files: u32, satisfies: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, files);
    while low < high {
        let middle = low + (high - low) / 2;
        match satisfies(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

fn makes_or_removes(operation: MixedOperation) -> bool {
    use MixedOperation::{Create, Link, Mkdir, Rename, Rmdir, Symlink, Unlink};
    matches!(
        operation,
        Create | Unlink | Rename | Link | Mkdir | Rmdir | Symlink
    )
}

/// What a simulation takes an operation for.
fn operation(drawn: MixedOperation) -> Operation {
    use MixedOperation as Drawn;
    match drawn {
        Drawn::Read | Drawn::Fread | Drawn::DirectRead | Drawn::Mmap | Drawn::SharedRead => {
            Operation::Read
        }
        Drawn::Write | Drawn::Fwrite | Drawn::DirectWrite | Drawn::SharedWrite => Operation::Write,
        // Each is drawn to be a read or a write; this is the first of the two.
        Drawn::ReadWrite | Drawn::SharedReadWrite => Operation::Read,
        Drawn::Truncate => Operation::Truncate,
        Drawn::Sync => Operation::Sync,
        Drawn::Open => Operation::Open,
        Drawn::Close | Drawn::Munmap => Operation::Close,
        Drawn::Stat | Drawn::Fstat | Drawn::Access | Drawn::Chdir => Operation::Stat,
        Drawn::Statfs | Drawn::Fstatfs => Operation::Statfs,
        Drawn::Getxattr => Operation::Getxattr,
        Drawn::Setattr => Operation::Setattr,
        Drawn::Setxattr => Operation::Setxattr,
        Drawn::Readlink => Operation::Readlink,
        Drawn::Readdir | Drawn::FindFirst | Drawn::FindNext => Operation::Readdir,
        Drawn::Lock => Operation::Lock,
        Drawn::Unlock => Operation::Unlock,
        Drawn::Create => Operation::Create,
        Drawn::Unlink => Operation::Unlink,
        Drawn::Rename => Operation::Rename,
        Drawn::Link => Operation::Link,
        Drawn::Mkdir => Operation::Mkdir,
        Drawn::Rmdir => Operation::Rmdir,
        Drawn::Symlink => Operation::Symlink,
    }
}

impl Application for OperationMixApplication {
    fn processes(&self) -> u32 {
        self.processes
    }

    fn files(&self) -> u32 {
        self.spec.files * 2
    }

    fn existing(&self) -> Vec<ExistingFile> {
        let files = 0..self.spec.files;
        files
            .map(|file| ExistingFile {
                file,
                rank: None,
                size: self.spec.size_of(file).0,
            })
            .collect()
    }

    fn next(&mut self, rank: u32, now: Time, _: &mut Random<'_>) -> Result<Next, String> {
        // Processes are on the clients in turn.
        let client = rank as usize % self.clients.len();
        let asked = self.clients[client].asked;
        if matches!(self.spec.amount, Amount::Count(most) if asked >= u64::from(most)) {
            return Ok(Next::Finished);
        }
        self.clients[client].asked += 1;
        let mut draws = self.clients[client].draws;
        let mut random = Random::named(self.key(client), "operations", &mut draws);
        let drawn = self.spec.weights.at(random.uniform());
        let (operation, file, offset, size) = self.draw(drawn, &mut random);
        // The first operation does not come after another.
        let first = asked < u64::from(self.processes) / self.clients.len() as u64;
        let think = match first {
            true => Span::ZERO,
            false => self.think(&mut random),
        };
        self.clients[client].draws = draws;
        let intended = match self.spec.rate {
            Some(rate) => Some(self.arrival(client, rate)?),
            None => None,
        };
        Ok(Next::Ask(Ask {
            operation,
            call: Some(drawn),
            file,
            offset,
            size,
            after: intended.map_or(think, |time| time.since(now)),
            compute: Span::ZERO,
            intended,
            phase: 0,
        }))
    }

    fn total_requests(&self) -> Option<u64> {
        match self.spec.amount {
            Amount::Forever => None,
            Amount::Count(each) => Some(u64::from(each) * self.clients.len() as u64),
        }
    }
}

#[cfg(test)]
mod tests;
