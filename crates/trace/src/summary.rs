use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::{Error, Flags, Group, Names, Operation, Reader, Record};

/// Statistics of a trace in SI units: bytes and seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Number of records.
    pub records: u64,
    /// Number of distinct processes that made records.
    pub processes: u64,
    /// Number of distinct files in records.
    pub files: u64,
    /// From the first record's start to the last end, in seconds. None if all
    /// records begin at one time and outnumber the processes: the trace then
    /// has no times.
    pub span_seconds: Option<f64>,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Bytes read per byte written; none if nothing is written.
    pub read_write_ratio: Option<f64>,
    /// The share of records that concern metadata, 0 to 1; none without
    /// records.
    pub metadata_share: Option<f64>,
    /// Sequential fraction, 0 to 1, of the reads and writes that follow another of the same file
    /// and process. None if no such request exists.
    pub sequential_share: Option<f64>,
    /// Every operation met, in the order of [`Operation::ALL`].
    pub operations: Vec<OperationTotal>,
    /// Sizes of reads and writes, in classes of powers of two, ascending;
    /// classes without requests are left out.
    pub request_sizes: Vec<SizeClass>,
    /// The files with the most bytes moved, up to ten, descending.
    pub busiest_files: Vec<BusyFile>,
}

/// All records of one operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationTotal {
    /// The operation.
    pub operation: Operation,
    /// Its group.
    pub group: Group,
    /// Number of records.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Durations added up, in seconds; those that overlap count each. None if the trace tells no
    /// duration of the operation.
    pub seconds: Option<f64>,
    /// Number of records without a duration.
    pub without_duration: u64,
}

/// Requests of similar size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// The smallest size in the class, in bytes: 0, 1, 2, 4, 8…
    pub from: u64,
    /// The largest, in bytes: 0, 1, 3, 7, 15…
    pub to: u64,
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
}

/// One file's traffic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BusyFile {
    /// The file's name.
    pub file: String,
    /// Bytes read from it.
    pub bytes_read: u64,
    /// Bytes written to it.
    pub bytes_written: u64,
}

impl Summary {
    /// Number of files in [`Summary::busiest_files`].
    pub const BUSIEST: usize = 10;

    /// Sums up all that is left to read.
    ///
    /// # Errors
    /// The errors of the reader.
    pub fn of(reader: &mut dyn Reader) -> Result<Summary, Error> {
        let mut summarizer = Summarizer::default();
        let mut batch = Vec::new();
        while reader.next_batch(4096, &mut batch)? > 0 {
            batch.iter().for_each(|record| summarizer.add(record));
            batch.clear();
        }
        Ok(summarizer.finish(reader.files()))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Total {
    count: u64,
    bytes: u64,
    duration_ns: u128,
    without_duration: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    read: u64,
    written: u64,
}

/// Sums up records one by one.
///
/// Memory: some 20 bytes per file, and 40 per pair of a process and a file it
/// reads or writes.
#[derive(Clone, Debug)]
pub struct Summarizer {
    first_ns: i64,
    /// The latest start.
    latest_ns: i64,
    last_ns: i64,
    operations: Vec<Total>,
    /// Reads and writes by class of size: class n holds sizes of n bits.
    sizes: [[u64; 2]; 65],
    processes: Vec<bool>,
    /// Files that occurred.
    files: Vec<bool>,
    /// Traffic by file, up to the last file with traffic.
    traffic: Vec<Traffic>,
    /// By process and file, where the last request ended.
    ends: FxHashMap<(u32, u32), u64>,
    following: u64,
    sequential: u64,
}

impl Default for Summarizer {
    fn default() -> Self {
        Self {
            first_ns: i64::MAX,
            latest_ns: i64::MIN,
            last_ns: i64::MIN,
            operations: vec![Total::default(); Operation::ALL.len()],
            sizes: [[0; 2]; 65],
            processes: Vec::new(),
            files: Vec::new(),
            traffic: Vec::new(),
            ends: FxHashMap::default(),
            following: 0,
            sequential: 0,
        }
    }
}

/// The entry of a table that grows as needed: numbers of names are dense.
fn entry<T: Clone + Default>(table: &mut Vec<T>, number: u32) -> &mut T {
    let index = number as usize;
    if index >= table.len() {
        table.resize(index + 1, T::default());
    }
    &mut table[index]
}

impl Summarizer {
    /// Takes in one record.
    pub fn add(&mut self, record: &Record) {
        self.first_ns = self.first_ns.min(record.time_ns);
        self.latest_ns = self.latest_ns.max(record.time_ns);
        self.last_ns = self
            .last_ns
            .max(record.time_ns.saturating_add(record.duration_ns));
        *entry(&mut self.processes, record.process) = true;
        *entry(&mut self.files, record.file) = true;
        let total = &mut self.operations[usize::from(record.operation.code())];
        total.count += 1;
        total.duration_ns += u128::try_from(record.duration_ns).unwrap_or_default();
        total.without_duration += u64::from(record.flags.has(Flags::NO_DURATION));
        if !record.operation.carries_bytes() {
            return;
        }
        total.bytes = total.bytes.saturating_add(record.size);
        let traffic = entry(&mut self.traffic, record.file);
        let is_write = record.operation == Operation::Write;
        let moved = if is_write {
            &mut traffic.written
        } else {
            &mut traffic.read
        };
        *moved = moved.saturating_add(record.size);
        let class = (u64::BITS - record.size.leading_zeros()) as usize;
        self.sizes[class][usize::from(is_write)] += 1;
        if let Some(end) = self
            .ends
            .insert((record.process, record.file), record.end())
        {
            self.following += 1;
            self.sequential += u64::from(end == record.offset);
        }
    }

    /// The figures. `files` names the files of the records.
    #[must_use]
    pub fn finish(&self, files: &Names) -> Summary {
        let busiest = self.busiest().into_iter();
        let names: Vec<_> = busiest
            .map(|it| files.get(it).unwrap_or_default())
            .collect();
        self.finish_with(&names)
    }

    /// The figures. `names` are those of the [busiest](Self::busiest) files.
    #[must_use]
    pub fn finish_with(&self, names: &[&str]) -> Summary {
        let records = self.operations.iter().map(|it| it.count).sum();
        let total = |operation: Operation| self.operations[usize::from(operation.code())];
        let bytes_read = total(Operation::Read).bytes;
        let bytes_written = total(Operation::Write).bytes;
        let of_metadata: u64 = Operation::ALL
            .iter()
            .filter(|it| it.group() == Group::Metadata)
            .map(|it| total(*it).count)
            .sum();
        let processes = self.processes.iter().filter(|it| **it).count() as u64;
        let span_ns = i128::from(self.last_ns) - i128::from(self.first_ns);
        Summary {
            records,
            processes,
            files: self.files.iter().filter(|it| **it).count() as u64,
            span_seconds: match records {
                0 => Some(0.0),
                _ if self.first_ns == self.latest_ns && records > processes => None,
                _ => Some(span_ns as f64 / 1e9),
            },
            bytes_read,
            bytes_written,
            read_write_ratio: ratio(bytes_read, bytes_written),
            metadata_share: ratio(of_metadata, records),
            sequential_share: ratio(self.sequential, self.following),
            operations: self.operation_totals(),
            request_sizes: self.request_sizes(),
            busiest_files: self.busiest_files(names),
        }
    }

    fn operation_totals(&self) -> Vec<OperationTotal> {
        let totals = Operation::ALL.iter().zip(&self.operations);
        totals
            .filter(|(_, total)| total.count > 0)
            .map(|(&operation, total)| OperationTotal {
                operation,
                group: operation.group(),
                count: total.count,
                bytes: total.bytes,
                seconds: (total.without_duration < total.count)
                    .then_some(total.duration_ns as f64 / 1e9),
                without_duration: total.without_duration,
            })
            .collect()
    }

    fn request_sizes(&self) -> Vec<SizeClass> {
        let classes = self
            .sizes
            .iter()
            .enumerate()
            .filter(|(_, it)| **it != [0, 0]);
        classes
            .map(|(bits, &[reads, writes])| SizeClass {
                from: if bits == 0 { 0 } else { 1 << (bits - 1) },
                to: if bits == 0 {
                    0
                } else {
                    u64::MAX >> (64 - bits)
                },
                reads,
                writes,
            })
            .collect()
    }

    /// The numbers of the files with the most bytes moved, as
    /// [`Summary::busiest_files`] lists them.
    #[must_use]
    pub fn busiest(&self) -> Vec<u32> {
        let moved = |it: &Traffic| it.read.saturating_add(it.written);
        let mut busiest: Vec<_> = (0_u32..)
            .zip(&self.traffic)
            .filter(|(_, it)| moved(it) > 0)
            .collect();
        // The sort is stable: files with equal traffic stay in order of first use.
        busiest.sort_by_key(|(_, it)| std::cmp::Reverse(moved(it)));
        busiest.truncate(Summary::BUSIEST);
        busiest.into_iter().map(|it| it.0).collect()
    }

    fn busiest_files(&self, names: &[&str]) -> Vec<BusyFile> {
        let busiest = self.busiest();
        let traffic = busiest.iter().map(|it| self.traffic[*it as usize]);
        traffic
            .zip(names)
            .map(|(traffic, name)| BusyFile {
                file: (*name).into(),
                bytes_read: traffic.read,
                bytes_written: traffic.written,
            })
            .collect()
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
