//! Traces for Python: batches of records as columns of numpy arrays.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headrace_trace::{
    Columns, Files, Flags, Names, Operation, Order, Pattern, Phases, Reader, Record, Stop,
    Summarizer, Synthesis, Writer,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{TraceError, of_trace};
use crate::guard::interruptible;

/// Python's classes may be seen from several threads; used from one at a time.
struct Exclusive<T: ?Sized>(Mutex<Box<T>>);

impl<T: ?Sized> Exclusive<T> {
    fn new(value: Box<T>) -> Self {
        Self(Mutex::new(value))
    }

    fn get(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn names_of(names: &Names, numbers: &[u32]) -> Vec<String> {
    let name = |it: &u32| names.get(*it).unwrap_or_default().to_string();
    numbers.iter().map(name).collect()
}

fn columns_of<'py>(py: Python<'py>, records: &[Record]) -> PyResult<Bound<'py, PyDict>> {
    let columns = Columns::of(records);
    let batch = PyDict::new(py);
    batch.set_item("time_ns", columns.time_ns.into_pyarray(py))?;
    batch.set_item("process", columns.process.into_pyarray(py))?;
    batch.set_item("operation", columns.operation.into_pyarray(py))?;
    batch.set_item("file", columns.file.into_pyarray(py))?;
    batch.set_item("offset", columns.offset.into_pyarray(py))?;
    batch.set_item("size", columns.size.into_pyarray(py))?;
    batch.set_item("duration_ns", columns.duration_ns.into_pyarray(py))?;
    batch.set_item("flags", columns.flags.into_pyarray(py))?;
    batch.set_item("other", columns.other.into_pyarray(py))?;
    Ok(batch)
}

fn column<T: numpy::Element + Copy>(batch: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
    let value = batch
        .get_item(name)?
        .ok_or_else(|| PyValueError::new_err(format!("{name}: expected a column")))?;
    let array: PyReadonlyArray1<'_, T> = value.extract()?;
    Ok(array.as_array().iter().copied().collect())
}

fn records_of(batch: &Bound<'_, PyDict>, files: usize, processes: usize) -> PyResult<Vec<Record>> {
    let columns = Columns {
        time_ns: column(batch, "time_ns")?,
        process: column(batch, "process")?,
        operation: column(batch, "operation")?,
        file: column(batch, "file")?,
        offset: column(batch, "offset")?,
        size: column(batch, "size")?,
        duration_ns: column(batch, "duration_ns")?,
        flags: column(batch, "flags")?,
        other: column(batch, "other")?,
    };
    columns.records(files, processes).map_err(of_trace)
}

/// Reads a trace batch by batch.
#[pyclass(frozen)]
struct TraceReader {
    reader: Arc<Mutex<Box<dyn Reader>>>,
    /// True at a signal, or when the reader of the records is gone.
    is_cancelled: Arc<AtomicBool>,
}

fn lock(reader: &Mutex<Box<dyn Reader>>) -> MutexGuard<'_, Box<dyn Reader>> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TraceReader {
    fn new_from(reader: Box<dyn Reader>, is_cancelled: Arc<AtomicBool>) -> Self {
        Self {
            reader: Arc::new(Mutex::new(reader)),
            is_cancelled,
        }
    }

    fn get(&self) -> MutexGuard<'_, Box<dyn Reader>> {
        lock(&self.reader)
    }
}

/// Reads in a thread of its own. After a signal it reads no further block.
fn reading<T: Send + 'static>(
    py: Python<'_>,
    is_cancelled: &AtomicBool,
    read: impl FnOnce() -> Result<T, headrace_trace::Error> + Send + 'static,
) -> PyResult<T> {
    let read = interruptible(py, None, move |_| read());
    if read.is_err() {
        is_cancelled.store(true, Relaxed);
    }
    read?.map_err(of_trace)
}

#[pymethods]
impl TraceReader {
    #[new]
    #[pyo3(signature = (path, format=None, messages=false))]
    fn new(py: Python<'_>, path: PathBuf, format: Option<&str>, messages: bool) -> PyResult<Self> {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_cancelled);
        let stop: Stop = Arc::new(move || asked.load(Relaxed));
        let format = format.map(str::to_owned);
        let reader = reading(py, &is_cancelled, move || {
            let mut reader = headrace_trace::open_stream(&path, format.as_deref(), stop)?;
            if messages {
                reader.keep_messages();
            }
            Ok(reader)
        })?;
        Ok(Self::new_from(reader, is_cancelled))
    }

    /// Has another thread's reading end with an error.
    fn cancel(&self) {
        self.is_cancelled.store(true, Relaxed);
    }

    /// A synthetic trace; see headrace_trace::Pattern.
    #[staticmethod]
    #[pyo3(signature = (*, processes, shared, block, transfer, segments, phases, random, think_ns, seed))]
    #[allow(clippy::too_many_arguments)]
    fn synthesis(
        processes: u32,
        shared: bool,
        block: u64,
        transfer: u64,
        segments: u64,
        phases: &str,
        random: bool,
        think_ns: i64,
        seed: u64,
    ) -> PyResult<Self> {
        let phases = match phases {
            "write" => Phases::Write,
            "read" => Phases::Read,
            "write-then-read" => Phases::WriteThenRead,
            other => {
                let problem =
                    format!("phases = \"{other}\": expected write, read or write-then-read");
                return Err(TraceError::new_err(problem));
            }
        };
        let files = if shared {
            Files::Shared
        } else {
            Files::PerProcess
        };
        let order = if random {
            Order::Random
        } else {
            Order::Sequential
        };
        let pattern = Pattern {
            processes,
            files,
            block,
            transfer,
            segments,
            phases,
            order,
            think_ns,
            seed,
        };
        let reader: Box<dyn Reader> = Box::new(Synthesis::new(pattern).map_err(of_trace)?);
        Ok(Self::new_from(reader, Arc::default()))
    }

    /// Up to `max` records as columns; none at the end.
    fn next_batch<'py>(&self, py: Python<'py>, max: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let reader = Arc::clone(&self.reader);
        let records = reading(py, &self.is_cancelled, move || {
            let mut records = Vec::new();
            lock(&reader).next_batch(max, &mut records)?;
            Ok(records)
        })?;
        if records.is_empty() {
            Ok(None)
        } else {
            columns_of(py, &records).map(Some)
        }
    }

    /// The names of these files.
    fn file_names(&self, numbers: Vec<u32>) -> Vec<String> {
        names_of(self.get().files(), &numbers)
    }

    /// The names of these processes.
    fn process_names(&self, numbers: Vec<u32>) -> Vec<String> {
        names_of(self.get().processes(), &numbers)
    }

    /// Return the skipped and assumed records so far, as JSON.
    fn skipped(&self) -> PyResult<String> {
        json(self.get().skipped())
    }
}

/// A table of names, each with a number: 0, 1, 2… in the order of first use.
#[pyclass]
#[derive(Default)]
struct TraceNames(Names);

#[pymethods]
impl TraceNames {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The numbers of these names; new names get the next ones.
    fn intern<'py>(&mut self, py: Python<'py>, names: Vec<String>) -> Bound<'py, PyArray1<u32>> {
        let numbers: Vec<_> = names.iter().map(|it| self.0.intern(it)).collect();
        numbers.into_pyarray(py)
    }

    /// The names with these numbers.
    fn names(&self, numbers: Vec<u32>) -> Vec<String> {
        names_of(&self.0, &numbers)
    }
}

/// Writes a trace batch by batch.
#[pyclass]
struct TraceWriter {
    writer: Exclusive<dyn Writer>,
}

#[pymethods]
impl TraceWriter {
    #[new]
    #[pyo3(signature = (path, format=None, at=None))]
    fn new(path: PathBuf, format: Option<&str>, at: Option<PathBuf>) -> PyResult<Self> {
        let at = at.as_deref().unwrap_or(&path);
        let writer = headrace_trace::create_at(&path, at, format).map_err(of_trace)?;
        Ok(Self {
            writer: Exclusive::new(writer),
        })
    }

    /// Writes records whose files and processes are positions in these lists.
    fn write(
        &mut self,
        batch: &Bound<'_, PyDict>,
        files: Vec<String>,
        processes: Vec<String>,
    ) -> PyResult<()> {
        let table = |list: Vec<String>| {
            let mut names = Names::new();
            for name in &list {
                names.intern(name);
            }
            if names.len() == list.len() {
                Ok(names)
            } else {
                Err(PyValueError::new_err(
                    "expected distinct names, but one occurs twice",
                ))
            }
        };
        let (files, processes) = (table(files)?, table(processes)?);
        let records = records_of(batch, files.len(), processes.len())?;
        self.writer
            .get()
            .write(&records, &files, &processes)
            .map_err(of_trace)
    }

    fn finish(&mut self) -> PyResult<()> {
        self.writer.get().finish().map_err(of_trace)
    }

    /// Return the records that the format could not hold, and the values that it drops, as JSON.
    fn skipped(&mut self) -> PyResult<String> {
        json(self.writer.get().skipped())
    }
}

/// Sums up batches.
#[pyclass]
#[derive(Default)]
struct TraceSummarizer {
    summarizer: Summarizer,
}

#[pymethods]
impl TraceSummarizer {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn add(&mut self, batch: &Bound<'_, PyDict>) -> PyResult<()> {
        let records = records_of(batch, usize::MAX, usize::MAX)?;
        records.iter().for_each(|it| self.summarizer.add(it));
        Ok(())
    }

    /// The numbers of the files to name in the figures.
    fn busiest(&self) -> Vec<u32> {
        self.summarizer.busiest()
    }

    /// The figures as JSON; `names` are those of the busiest files.
    fn finish(&self, names: Vec<String>) -> PyResult<String> {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        json(&self.summarizer.finish_with(&names))
    }
}

/// The names of a record's flags, as `write|truncate`.
#[pyfunction]
fn trace_flags_text(bits: u16) -> String {
    Flags::from_bits(bits).unwrap_or_default().text()
}

/// The flags with these names; none if one is unknown.
#[pyfunction]
fn trace_flags_bits(text: &str) -> Option<u16> {
    Flags::from_text(text).map(Flags::bits)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TraceReader>()?;
    module.add_class::<TraceNames>()?;
    module.add_class::<TraceWriter>()?;
    module.add_class::<TraceSummarizer>()?;
    module.add_function(wrap_pyfunction!(trace_flags_text, module)?)?;
    module.add_function(wrap_pyfunction!(trace_flags_bits, module)?)?;
    module.add("TRACE_NO_FILE", Record::NO_FILE)?;
    let operations: Vec<_> = Operation::ALL.iter().map(|it| it.name()).collect();
    module.add("TRACE_OPERATIONS", operations)?;
    let groups: Vec<_> = Operation::ALL.iter().map(|it| it.group().name()).collect();
    module.add("TRACE_GROUPS", groups)?;
    let calls = Operation::CALLS.iter();
    let calls: Vec<_> = calls.map(|it| String::from_utf8_lossy(it)).collect();
    module.add("TRACE_CALLS", calls)?;
    let formats: Vec<_> = headrace_trace::FORMATS
        .iter()
        .map(|it| (it.name, it.description, it.create.is_some()))
        .collect();
    module.add("TRACE_FORMATS", formats)
}
