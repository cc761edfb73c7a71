//! Messages between two hosts for Python.

use std::time::{Duration, Instant};

use headrace_load::network::{self, Answering, NetworkError};
use pyo3::exceptions::{PyConnectionError, PyValueError};
use pyo3::prelude::*;

use crate::{errors, guard};

/// Number of times signals are looked after.
const LOOK: Duration = Duration::from_millis(50);

fn of_network(error: &NetworkError) -> PyErr {
    let text = error.to_string();
    match error {
        NetworkError::Token | NetworkError::Size(_) => PyValueError::new_err(text),
        NetworkError::System { .. }
        | NetworkError::Refused
        | NetworkError::Stranger
        | NetworkError::Interrupted => PyConnectionError::new_err(text),
    }
}

/// Checks for signals now and then; their exceptions are saved.
struct Signals {
    poll_peers: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    fn new() -> Signals {
        Signals {
            poll_peers: Instant::now(),
            raised: None,
        }
    }

    /// Returns true if to go on, after telling something.
    fn goes_on(&mut self, tell: impl FnOnce(Python<'_>) -> PyResult<()>) -> bool {
        if self.poll_peers.elapsed() >= LOOK {
            self.poll_peers = Instant::now();
            let poll_peers = Python::attach(|py| py.check_signals().and_then(|()| tell(py)));
            self.raised = poll_peers.err();
        }
        self.raised.is_none()
    }
}

/// Answers hosts that know the token at an address, until a signal arrives. `started` is called
/// with the address, which has a port of its own where port 0 is given.
#[pyfunction]
fn answer_messages(
    py: Python<'_>,
    address: String,
    token: String,
    started: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let answering = Answering::listen(address, &token).map_err(|error| of_network(&error))?;
    let at = answering.address().map_err(|error| of_network(&error))?;
    started.call1((at.to_string(),))?;
    let mut signals = Signals::new();
    let ended =
        py.detach(|| guard::catch(|| network::answer(&answering, || signals.goes_on(|_| Ok(())))));
    if let Some(raised) = signals.raised {
        return Err(raised);
    }
    ended
        .map_err(|panic| errors::of_ours(&panic))?
        .map_err(|error| of_network(&error))
}

/// Measure round trips of each message size for a number of seconds. Returns for each size: size,
/// count, and round-trip seconds (minimum, median, 99 %, maximum). `progress` is called with the
/// size that is next or in progress.
#[pyfunction]
#[pyo3(signature = (address, token, sizes, seconds, progress=None))]
#[expect(clippy::type_complexity, reason = "a row of figures for each size")]
fn ask_messages(
    py: Python<'_>,
    address: String,
    token: String,
    sizes: Vec<u32>,
    seconds: f64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<(u32, u64, f64, f64, f64, f64)>> {
    let duration = Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err("expected a duration of 0 s or more"))?;
    let mut signals = Signals::new();
    let ended = py.detach(|| {
        guard::catch(|| {
            network::ask(&address, &token, &sizes, duration, |size| {
                signals.goes_on(|py| match &progress {
                    Some(progress) => progress.call1(py, (size,)).map(drop),
                    None => Ok(()),
                })
            })
        })
    });
    if let Some(raised) = signals.raised {
        return Err(raised);
    }
    let trips = ended
        .map_err(|panic| errors::of_ours(&panic))?
        .map_err(|error| of_network(&error))?;
    let of = trips.iter().map(|it| {
        let at = |quantile| it.times.value_at_quantile(quantile) as f64 * 1e-9;
        let (least, most) = (it.times.min() as f64 * 1e-9, it.times.max() as f64 * 1e-9);
        (it.size, it.times.len(), least, at(0.5), at(0.99), most)
    });
    Ok(of.collect())
}

/// Makes messages known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(answer_messages, module)?)?;
    module.add_function(wrap_pyfunction!(ask_messages, module)?)
}
