//! Traces for Python: batches of records as columns of numpy arrays.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use headrace_trace::{
    Columns, Files, Names, Operation, Order, Pattern, Phases, Reader, Record, Summarizer,
    Synthesis, Writer,
};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{TraceError, of_trace};
use crate::guard::detached;

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

fn names_from(names: &Names, first: usize) -> Vec<String> {
    names.iter().skip(first).map(Into::into).collect()
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
    };
    columns.records(files, processes).map_err(of_trace)
}

/// Reads a trace batch by batch.
#[pyclass]
struct TraceReader {
    reader: Exclusive<dyn Reader>,
}

#[pymethods]
impl TraceReader {
    #[new]
    #[pyo3(signature = (path, format=None))]
    fn new(path: PathBuf, format: Option<&str>) -> PyResult<Self> {
        let reader = headrace_trace::open(&path, format).map_err(of_trace)?;
        Ok(Self {
            reader: Exclusive::new(reader),
        })
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
        Ok(Self {
            reader: Exclusive::new(reader),
        })
    }

    /// Up to `max` records as columns; none at the end.
    fn next_batch<'py>(
        &mut self,
        py: Python<'py>,
        max: usize,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut records = Vec::new();
        let reader = self.reader.get();
        let read = detached(py, || reader.next_batch(max, &mut records))?.map_err(of_trace)?;
        if read == 0 {
            Ok(None)
        } else {
            columns_of(py, &records).map(Some)
        }
    }

    /// The names of files from number `first` on.
    #[pyo3(signature = (first=0))]
    fn files(&mut self, first: usize) -> Vec<String> {
        names_from(self.reader.get().files(), first)
    }

    /// The names of processes from number `first` on.
    #[pyo3(signature = (first=0))]
    fn processes(&mut self, first: usize) -> Vec<String> {
        names_from(self.reader.get().processes(), first)
    }

    /// What was skipped or assumed so far, as JSON.
    fn skipped(&mut self) -> PyResult<String> {
        json(self.reader.get().skipped())
    }
}

/// Writes a trace batch by batch.
#[pyclass]
struct TraceWriter {
    writer: Exclusive<dyn Writer>,
    files: Names,
    processes: Names,
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
            files: Names::new(),
            processes: Names::new(),
        })
    }

    /// Makes further names known, in the order of their numbers.
    fn add_names(&mut self, files: Vec<String>, processes: Vec<String>) {
        files.iter().for_each(|it| {
            self.files.intern(it);
        });
        processes.iter().for_each(|it| {
            self.processes.intern(it);
        });
    }

    fn write(&mut self, batch: &Bound<'_, PyDict>) -> PyResult<()> {
        let records = records_of(batch, self.files.len(), self.processes.len())?;
        self.writer
            .get()
            .write(&records, &self.files, &self.processes)
            .map_err(of_trace)
    }

    fn finish(&mut self) -> PyResult<()> {
        self.writer.get().finish().map_err(of_trace)
    }
}

/// Sums up batches.
#[pyclass]
#[derive(Default)]
struct TraceSummarizer {
    summarizer: Summarizer,
    files: Names,
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

    /// The figures as JSON; `files` are the names of all files.
    fn finish(&mut self, files: Vec<String>) -> PyResult<String> {
        files.iter().for_each(|it| {
            self.files.intern(it);
        });
        json(&self.summarizer.finish(&self.files))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TraceReader>()?;
    module.add_class::<TraceWriter>()?;
    module.add_class::<TraceSummarizer>()?;
    let operations: Vec<_> = Operation::ALL.iter().map(|it| it.name()).collect();
    module.add("TRACE_OPERATIONS", operations)?;
    let formats: Vec<_> = headrace_trace::FORMATS
        .iter()
        .map(|it| (it.name, it.description, it.create.is_some()))
        .collect();
    module.add("TRACE_FORMATS", formats)
}
