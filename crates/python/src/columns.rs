//! Tables that cross to Python: a dict of numpy arrays of equal length. Small tables of every run
//! are lists: importing numpy takes longer than a small run.

use headrace_model::Chain;
use headrace_net::{NodeFrame, Playback};
use headrace_storage::measure::Completed;
use headrace_storage::{Outcome, ServerSeries};
use headrace_trace::Operation;
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

struct Table<'py>(Bound<'py, PyDict>);

impl<'py> Table<'py> {
    fn new(py: Python<'py>) -> Table<'py> {
        Table(PyDict::new(py))
    }

    fn column<T: Element>(&self, name: &str, values: Vec<T>) -> PyResult<()> {
        self.0.set_item(name, values.into_pyarray(self.0.py()))
    }
}

/// A Markov chain: columns of its arcs and of its states.
pub fn chain(py: Python<'_>, chain: Chain) -> PyResult<Bound<'_, PyDict>> {
    let table = Table::new(py);
    table.column("vanishing", chain.vanishing)?;
    table.column("tokens", chain.tokens)?;
    table.column("busy", chain.busy)?;
    table.column("holds", chain.holds)?;
    table.column("source", chain.source)?;
    table.column("target", chain.target)?;
    table.column("transition", chain.transition)?;
    table.column("value", chain.value)?;
    table.column("servers", chain.servers)?;
    Ok(table.0)
}

/// Bytes moved over time: one row for each window, group and operation that
/// moved any in the run. Groups and operations are numbers.
pub fn series<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let operations = Operation::ALL.len();
    let rows = || outcome.series.rows();
    let columns = rows().next().map_or(0, |(_, bytes)| bytes.len());
    let (mut time, mut group, mut operation, mut moved) = (vec![], vec![], vec![], vec![]);
    for column in 0..columns {
        if rows().all(|(_, bytes)| bytes[column] == 0) {
            continue;
        }
        for (start, bytes) in rows() {
            time.push(start);
            group.push((column / operations) as u32);
            operation.push((column % operations) as u32);
            moved.push(bytes[column]);
        }
    }
    let table = PyDict::new(py);
    table.set_item("time_s", time)?;
    table.set_item("group", group)?;
    table.set_item("operation", operation)?;
    table.set_item("bytes", moved)?;
    Ok(table)
}

/// A measurement's operations over time: one row for each window and operation with a count.
/// `operation` is the index of the operation's name.
pub fn measured_series<'py>(
    py: Python<'py>,
    record: &headrace_load::Record,
) -> PyResult<Bound<'py, PyDict>> {
    let length = record.windows.length() as f64 * 1e-9;
    let (mut time, mut operation) = (vec![], vec![]);
    let (mut count, mut bytes, mut service, mut longest) = (vec![], vec![], vec![], vec![]);
    for number in 0..headrace_load::operation::ALL.len() {
        for (place, window) in record.windows.of(number).iter().enumerate() {
            time.push(place as f64 * length);
            operation.push(number as u32);
            count.push(window.count);
            bytes.push(window.bytes);
            service.push(window.service as f64 * 1e-9);
            longest.push(window.longest as f64 * 1e-9);
        }
    }
    let table = Table::new(py);
    table.column("time_s", time)?;
    table.column("operation", operation)?;
    table.column("count", count)?;
    table.column("bytes", bytes)?;
    table.column("service_s", service)?;
    table.column("longest_s", longest)?;
    Ok(table.0)
}

/// The distribution of latency: the share of requests that took no longer.
pub fn latency_curve<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let (latency, share): (Vec<f64>, Vec<f64>) = outcome.latency_curve.iter().copied().unzip();
    let table = PyDict::new(py);
    table.set_item("latency_s", latency)?;
    table.set_item("share", share)?;
    Ok(table)
}

/// The single requests. Groups and operations are numbers.
pub fn requests<'py>(py: Python<'py>, requests: &[Completed]) -> PyResult<Bound<'py, PyDict>> {
    fn each<T>(requests: &[Completed], of: impl Fn(&Completed) -> T) -> Vec<T> {
        requests.iter().map(of).collect()
    }
    let table = Table::new(py);
    let of = |seconds: fn(&Completed) -> f64| each(requests, seconds);
    table.column("intended_s", of(|it| it.request.intended.as_seconds()))?;
    table.column("issued_s", of(|it| it.request.issued.as_seconds()))?;
    table.column("completed_s", of(|it| it.completed.as_seconds()))?;
    table.column(
        "latency_s",
        of(|it| it.completed.since(it.request.issued).as_seconds()),
    )?;
    table.column("group", each(requests, |it| u32::from(it.request.group)))?;
    table.column("client", each(requests, |it| it.request.process.client))?;
    table.column("workload", each(requests, |it| it.request.process.workload))?;
    table.column("process", each(requests, |it| it.request.process.rank))?;
    table.column("phase", each(requests, |it| it.request.phase))?;
    table.column(
        "operation",
        each(requests, |it| it.request.operation.code()),
    )?;
    table.column("file", each(requests, |it| it.request.file))?;
    table.column("offset_bytes", each(requests, |it| it.request.offset))?;
    table.column("size_bytes", each(requests, |it| it.request.size))?;
    // -1: none.
    let server = |it: &Completed| it.request.last_server().map_or(-1, i64::from);
    table.column("server", each(requests, server))?;
    Ok(table.0)
}

/// The data servers over time: one row for each window and server.
pub fn server_series<'py>(py: Python<'py>, series: &ServerSeries) -> PyResult<Bound<'py, PyDict>> {
    let servers = series.groups.len();
    let table = PyDict::new(py);
    table.set_item("start_s", &series.starts)?;
    table.set_item("window_s", &series.lengths)?;
    table.set_item("groups", &series.groups)?;
    table.set_item("servers", servers)?;
    table.set_item("utilisation", &series.utilisation)?;
    table.set_item("in_progress", &series.in_progress)?;
    Ok(table)
}

/// The frames of a run: the structure of its net as JSON, the frames' times, and one row after
/// the other for nodes and transitions. Work, arrivals and firings are counted from the start of
/// the run.
pub fn playback<'py>(py: Python<'py>, playback: &Playback) -> PyResult<Bound<'py, PyDict>> {
    fn each<T>(playback: &Playback, of: impl Fn(&NodeFrame) -> T) -> Vec<T> {
        let nodes = playback.frames.iter().flat_map(|frame| &frame.nodes);
        nodes.map(of).collect()
    }
    let frames = || playback.frames.iter();
    let structure = serde_json::to_string(&playback.structure)
        .map_err(|error| errors::of_ours(&error.to_string()))?;
    let table = Table::new(py);
    table.0.set_item("structure", structure)?;
    table.column("time_s", frames().map(|it| it.time.as_seconds()).collect())?;
    table.column("tokens", each(playback, |it| it.tokens))?;
    table.column("most_tokens", each(playback, |it| it.most_tokens))?;
    table.column("queue", each(playback, |it| it.queue))?;
    table.column("most_queue", each(playback, |it| it.most_queue))?;
    table.column("busy", each(playback, |it| it.busy))?;
    table.column("work_s", each(playback, |it| it.work as f64 * 1e-12))?;
    table.column("arrivals", each(playback, |it| it.arrivals))?;
    let waited = |it: &NodeFrame| it.waited as f64 * 1e-12;
    table.column("waited_s", each(playback, waited))?;
    let gauges = frames().flat_map(|it| it.gauges.iter().copied());
    table.column("gauges", gauges.collect())?;
    table.0.set_item("gauge_names", &playback.gauges)?;
    let firings = frames().flat_map(|it| it.firings.iter().copied());
    table.column("firings", firings.collect())?;
    Ok(table.0)
}

/// Imports numpy and its interface now. The first table would do so within a call, where an
/// interruption would be a panic.
#[pyfunction]
pub fn import_numpy(py: Python<'_>) {
    let _ = PyArray1::<f64>::zeros(py, 0, false);
}
