//! Nets of one's own for Python: documents in, JSON out.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use headrace_model::{
    Asked, Extras, Failure, Fault, Faults, Language, OwnMonitor, Play, Program, Question, Settings,
    Verdict,
};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde::Serialize;
use serde_json::{Value, json};

use crate::columns;
use crate::errors::{self, RunError, ScenarioError};
use crate::guard::{detached, interruptible, watcher};
use crate::net_functions::{Described, Generators, NetFunctions, TypesByName};

/// A net that has been read from a document.
#[pyclass(frozen, module = "headrace._core", name = "NetModel")]
pub struct PyNetModel {
    text: String,
    language: Language,
    file: String,
    program: Arc<Program>,
    run: [Option<f64>; 4],
    functions: Arc<NetFunctions>,
}

fn language(name: &str) -> Language {
    match name {
        "json" => Language::Json,
        _ => Language::Toml,
    }
}

/// All faults, one a line, each with file, line and column. The attributes are of the first.
fn refused(py: Python<'_>, text: &str, language: Language, file: &str, faults: &Faults) -> PyErr {
    let line = |fault: &Fault| {
        let (line, column) = headrace_model::position(text, language, fault);
        (line, column, format!("{file}:{line}:{column}: {fault}"))
    };
    let mut lines: Vec<(usize, usize, String)> = faults.0.iter().map(line).collect();
    lines.sort_by_key(|(line, column, _)| (*line, *column));
    lines.dedup();
    let all: Vec<&str> = lines.iter().map(|(_, _, text)| &**text).collect();
    let error = ScenarioError::new_err(all.join("\n"));
    let value = error.value(py);
    let message = faults.0.first().map_or("", |fault| &fault.message);
    let set = || -> PyResult<()> {
        value.setattr("file", file)?;
        value.setattr("message", message)?;
        if let Some((line, column, _)) = lines.first() {
            value.setattr("line", line)?;
            value.setattr("column", column)?;
        }
        Ok(())
    };
    match set() {
        Ok(()) => error,
        Err(error) => error,
    }
}

/// Why a text is no net.
enum Unread {
    /// Line, column and reason.
    Syntax((usize, usize, String)),
    Faults(Faults),
}

impl From<Faults> for Unread {
    fn from(faults: Faults) -> Unread {
        Unread::Faults(faults)
    }
}

#[pymethods]
impl PyNetModel {
    /// Reads a net; `file` is what errors call it, `name` the net's name if it has none. Its
    /// expressions may call the functions, which get and return values of these types.
    #[staticmethod]
    #[pyo3(signature = (text, format, file, name, functions=None, types=None))]
    fn from_text(
        py: Python<'_>,
        text: String,
        format: &str,
        file: String,
        name: &str,
        functions: Option<Vec<Described>>,
        types: Option<TypesByName>,
    ) -> PyResult<PyNetModel> {
        let language = language(format);
        let functions = NetFunctions::new(functions.unwrap_or_default());
        let externals = functions.externals();
        let (source, name) = (text.clone(), name.to_owned());
        let read = move || {
            let value = headrace_model::parse(&source, language).map_err(Unread::Syntax)?;
            let document = headrace_model::read(&value).map_err(Faults)?;
            let program = headrace_model::compile_with(&document, &name, &externals)?;
            let run = headrace_model::run_settings(&document, &program)?;
            // Finds what the kernel does not accept.
            headrace_model::structure(&program)?;
            Ok((Arc::new(program), run))
        };
        let (program, run) =
            interruptible(py, None, move |_| read())?.map_err(|error| match error {
                Unread::Syntax((line, column, message)) => {
                    ScenarioError::new_err(format!("{file}:{line}:{column}: {message}"))
                }
                Unread::Faults(faults) => refused(py, &text, language, &file, &faults),
            })?;
        functions.set_types(py, &program.colours, &types.unwrap_or_default());
        Ok(PyNetModel {
            text,
            language,
            file,
            program,
            run,
            functions: Arc::new(functions),
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.program.name
    }

    /// The document's settings of a run: end, warm-up (both in seconds), seed, replications.
    #[getter]
    fn run_settings(&self) -> [Option<f64>; 4] {
        self.run
    }

    /// The structure of the net as JSON, its invariants, and nodes that none covers.
    fn structure(&self, py: Python<'_>) -> PyResult<String> {
        let program = Arc::clone(&self.program);
        let (shape, of_transitions) = interruptible(py, None, move |_| {
            let of_transitions = headrace_model::transition_invariants(&program);
            (headrace_model::structure(&program), of_transitions)
        })?;
        let shape = shape.map_err(|faults| self.refused(py, &faults))?;
        let all = json!({
            "page": shape.structure.page,
            "invariants": shape.invariants,
            "uncovered": shape.uncovered,
            "not_computed": shape.not_computed,
            "transition_invariants": of_transitions,
        });
        Ok(all.to_string())
    }

    /// Paths of the places and stations, in the order of tokens of monitors.
    #[getter]
    fn node_paths(&self) -> Vec<String> {
        let nodes = 0..self.program.nodes.len();
        nodes.map(|node| self.program.node_path(node)).collect()
    }

    /// Names and kinds of the monitors.
    #[getter]
    fn monitors(&self) -> Vec<(String, &'static str)> {
        let monitors = self.program.monitors.iter();
        monitors
            .map(|it| (it.name.clone(), it.watch.kind()))
            .collect()
    }

    /// Runs the net; the result is a JSON document, and the frames of a playback if that many were
    /// asked for. `on_progress` is called with the simulated time; an exception that it raises, or
    /// a signal, ends the run. `own` has names, transitions and functions of
    /// monitors, and whether they are given the marking.
    #[pyo3(signature = (until, warmup, seed, on_progress=None, own=Vec::new(), playback=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        until: Option<f64>,
        warmup: f64,
        seed: u64,
        on_progress: Option<Py<PyAny>>,
        own: Vec<(String, Option<String>, Py<PyAny>, bool)>,
        playback: Option<u32>,
    ) -> PyResult<(String, Option<Bound<'py, PyDict>>)> {
        let settings = Settings {
            until,
            warmup,
            seed,
        };
        let running = self.begin(py, seed)?;
        // In the calling thread a signal ends a function, too.
        let calls_python = self.program.has_externals() || !own.is_empty();
        let mut raised = None;
        let of_monitors = Arc::new(Mutex::new(None));
        let own: PyResult<Vec<OwnMonitor<'static>>> = own
            .into_iter()
            .map(|(name, transition, function, has_marking)| {
                let transition = transition.map(|path| self.transition(&path)).transpose()?;
                Ok(own_monitor(
                    name,
                    transition,
                    (function, has_marking),
                    Arc::clone(&of_monitors),
                ))
            })
            .collect();
        let extras = Extras {
            own: own?,
            playback,
        };
        let result = if calls_python {
            let mut watch = watcher(on_progress, &mut raised);
            detached(py, || {
                headrace_model::run_with(&self.program, &settings, extras, &mut watch)
            })?
        } else {
            let program = Arc::clone(&self.program);
            interruptible(py, on_progress.as_ref(), move |watched| {
                headrace_model::run_with(&program, &settings, extras, &mut |now| watched.at(now))
            })?
        };
        drop(running);
        let raised = self.functions.take_failure().or(raised);
        let raised = raised.or_else(|| of_monitors.lock().ok()?.take());
        let (result, playback) = self.checked(py, result, raised)?;
        let playback = playback.map(|it| columns::playback(py, &it)).transpose()?;
        Ok((as_json(&result)?, playback))
    }

    /// Begins to play the net.
    fn play(&self, py: Python<'_>, seed: u64) -> PyResult<PyNetPlay> {
        drop(self.begin(py, seed)?);
        let mut generators = self.functions.generators(py, seed)?;
        let program = Arc::clone(&self.program);
        let play = detached(py, || {
            let _entered = self.functions.enter(&mut generators);
            Play::new(program, seed)
        })?;
        let raised = self.functions.take_failure();
        let play = self.checked(py, play, raised)?;
        Ok(PyNetPlay {
            play: Arc::new(Mutex::new((play, generators))),
            functions: Arc::clone(&self.functions),
            seed,
        })
    }

    /// The negation of a formula without path quantifiers, in the notation of LBT; none of any
    /// other formula.
    fn negation(&self, formula: &str) -> PyResult<Option<String>> {
        headrace_model::negation(&self.program, formula)
            .map_err(|faults| ScenarioError::new_err(faults.to_string()))
    }

    /// The net as places and transitions with weights, in JSON.
    fn plain(&self) -> PyResult<String> {
        as_json(&headrace_model::plain(&self.program).map_err(PyValueError::new_err)?)
    }

    /// Explores the state space; the answer is a JSON document. `holds` has formulas, each with
    /// the automaton of its negation if it has one; `on_progress` is called with the number of
    /// markings explored.
    #[pyo3(signature = (limit, timed, reach=None, holds=Vec::new(), reduced=false, on_progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn state_space(
        &self,
        py: Python<'_>,
        limit: usize,
        timed: bool,
        reach: Option<String>,
        holds: Vec<(String, Option<String>)>,
        reduced: bool,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let holds = holds
            .into_iter()
            .map(|(formula, automaton)| Asked { formula, automaton });
        let holds = holds.collect();
        let question = Question {
            limit,
            timed,
            reach,
            holds,
            reduced,
        };
        let program = Arc::clone(&self.program);
        let answer = interruptible(py, on_progress.as_ref(), move |watched| {
            headrace_model::explore(&program, &question, &mut |states| watched.at(states as f64))
        })?;
        let answer = self.checked(py, answer, None)?;
        as_json(&answer)
    }

    /// Explores the state space as a Markov chain: its columns, the paths of its transitions, and
    /// those that had several bindings at once.
    #[pyo3(signature = (limit, conditions, on_progress=None))]
    fn chain<'py>(
        &self,
        py: Python<'py>,
        limit: usize,
        conditions: Vec<String>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, Vec<String>, Vec<String>)> {
        let program = Arc::clone(&self.program);
        let chain = interruptible(py, on_progress.as_ref(), move |watched| {
            let watch = &mut |states| watched.at(states as f64);
            headrace_model::chain(&program, limit, &conditions, watch)
        })?;
        let chain = self.checked(py, chain, None)?;
        let path = |index: usize| self.program.transition_path(index);
        let paths = (0..self.program.transitions.len()).map(path).collect();
        let ambiguous = chain.ambiguous.iter().map(|index| path(*index)).collect();
        Ok((columns::chain(py, chain)?, paths, ambiguous))
    }
}

impl PyNetModel {
    /// Seeds the random numbers of functions in Python. They are called by one run at a time, as
    /// long as the guard is there.
    fn begin(&self, py: Python<'_>, seed: u64) -> PyResult<Option<MutexGuard<'_, ()>>> {
        match self.program.has_externals() {
            false => Ok(None),
            true => self.functions.begin(py, seed)?.map(Some).ok_or_else(|| {
                PyRuntimeError::new_err(
                    "this net is running already: functions in Python are called by one run at a \
                     time",
                )
            }),
        }
    }

    fn refused(&self, py: Python<'_>, faults: &Faults) -> PyErr {
        refused(py, &self.text, self.language, &self.file, faults)
    }

    /// The number of a transition by its path.
    fn transition(&self, path: &str) -> PyResult<usize> {
        headrace_model::transition_of(&self.program, path).map_err(PyValueError::new_err)
    }

    fn checked<T>(
        &self,
        py: Python<'_>,
        result: Result<T, Failure>,
        raised: Option<PyErr>,
    ) -> PyResult<T> {
        let faults = |faults: &Faults| match faults.0.iter().all(|it| it.path.is_empty()) {
            // A question's text is not part of the document.
            true => ScenarioError::new_err(faults.to_string()),
            false => self.refused(py, faults),
        };
        checked(result, raised, &faults)
    }
}

/// The result, or the error in Python.
fn checked<T>(
    result: Result<T, Failure>,
    raised: Option<PyErr>,
    refused: &dyn Fn(&Faults) -> PyErr,
) -> PyResult<T> {
    match (result, raised) {
        (_, Some(error)) => Err(error),
        (Ok(result), None) => Ok(result),
        (Err(Failure::Interrupted), None) => Err(PyKeyboardInterrupt::new_err(())),
        (Err(Failure::Run(message)), None) => Err(RunError::new_err(message)),
        (Err(Failure::Document(faults)), None) => Err(refused(&faults)),
    }
}

fn as_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| errors::of_ours(&error.to_string()))
}

/// A monitor that is a function of Python. It is called with transition, copy, time, variables,
/// numbers of tokens, and the marking in JSON if requested. It gives a number to record, "stop", or
/// None. Its exception is saved.
fn own_monitor(
    name: String,
    transition: Option<usize>,
    (function, has_marking): (Py<PyAny>, bool),
    raised: Arc<Mutex<Option<PyErr>>>,
) -> OwnMonitor<'static> {
    let look = move |occurrence: &headrace_model::Occurrence<'_>| {
        let verdict = Python::attach(|py| -> PyResult<Verdict> {
            let binding = to_python(py, &Value::Object(occurrence.binding()))?;
            let path = occurrence.program.transition_path(occurrence.transition);
            let (copy, time) = (occurrence.copy, occurrence.time());
            let marking = has_marking
                .then(|| as_json(&occurrence.marking()))
                .transpose()?;
            let answer = function.bind(py);
            let answer = answer.call1((path, copy, time, binding, occurrence.tokens(), marking))?;
            if answer.is_none() {
                return Ok(Verdict::Nothing);
            }
            if answer.cast::<PyString>().is_ok() {
                return Ok(Verdict::Stop);
            }
            Ok(Verdict::Figure(answer.extract()?))
        });
        verdict.unwrap_or_else(|error| {
            if let Ok(mut raised) = raised.lock() {
                raised.get_or_insert(error);
            }
            Verdict::Failed
        })
    };
    OwnMonitor {
        name,
        transition,
        look: Box::new(look),
    }
}

/// A value of JSON in Python.
fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into_pyobject(py)?.into_any(),
            None => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|it| to_python(py, it));
            items.collect::<PyResult<Vec<_>>>()?.into_pyobject(py)?
        }
        Value::Object(fields) => {
            let table = PyDict::new(py);
            for (name, value) in fields {
                table.set_item(name, to_python(py, value)?)?;
            }
            table.into_any()
        }
    })
}

/// A net that is played. Answers are JSON documents.
#[pyclass(frozen, module = "headrace._core", name = "NetPlay")]
pub struct PyNetPlay {
    play: Arc<Mutex<(Play, Generators)>>,
    functions: Arc<NetFunctions>,
    seed: u64,
}

/// Works with a play, whose functions draw from its own generators meanwhile.
fn with_play<T>(
    play: &Mutex<(Play, Generators)>,
    functions: &NetFunctions,
    work: impl FnOnce(&mut Play) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let failed = |text: &str| Err(Failure::Run(text.to_owned()));
    match play.try_lock() {
        Ok(mut play) => {
            let (play, generators) = &mut *play;
            match functions.enter(generators) {
                Some(_entered) => work(play),
                None => failed("this net is running: its plays wait until the run has ended"),
            }
        }
        Err(TryLockError::WouldBlock) => {
            failed("this play is in a step: its own functions cannot use it")
        }
        Err(TryLockError::Poisoned(_)) => failed("an earlier step failed"),
    }
}

impl PyNetPlay {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Play) -> Result<T, Failure> + Send,
    ) -> PyResult<T> {
        let answer = self.answer(py, work)?;
        checked(answer, self.functions.take_failure(), &of_question)
    }

    fn answer<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Play) -> Result<T, Failure> + Send,
    ) -> PyResult<Result<T, Failure>> {
        detached(py, || with_play(&self.play, &self.functions, work))
    }
}

/// The error of a condition, which is not part of the document.
fn of_question(faults: &Faults) -> PyErr {
    ScenarioError::new_err(faults.to_string())
}

#[pymethods]
impl PyNetPlay {
    /// Simulated time, in seconds.
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |play| Ok(play.time()))
    }

    /// The next firing, or why there is none.
    #[pyo3(signature = (until=None))]
    fn step(&self, py: Python<'_>, until: Option<f64>) -> PyResult<String> {
        let step = self.with(py, |play| play.step(until))?;
        as_json(&step.map_or_else(|stop| json!({ "stop": stop }), |fired| json!(fired)))
    }

    /// Runs to a time or condition; tells why it stopped.
    #[pyo3(signature = (until=None, condition=None, on_progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        until: Option<f64>,
        condition: Option<String>,
        on_progress: Option<Py<PyAny>>,
    ) -> PyResult<&'static str> {
        let mut raised = None;
        let stop = if self.functions.is_empty() {
            let (play, functions) = (Arc::clone(&self.play), Arc::clone(&self.functions));
            interruptible(py, on_progress.as_ref(), move |watched| {
                with_play(&play, &functions, |play| {
                    play.run(until, condition.as_deref(), &mut |now| watched.at(now))
                })
            })?
        } else {
            let mut watch = watcher(on_progress, &mut raised);
            self.answer(py, |play| play.run(until, condition.as_deref(), &mut watch))?
        };
        checked(stop, self.functions.take_failure().or(raised), &of_question)
    }

    /// The transitions that can fire now.
    fn enabled(&self, py: Python<'_>) -> PyResult<String> {
        as_json(&self.with(py, Play::enabled)?)
    }

    /// Fires a transition by hand.
    fn fire(&self, py: Python<'_>, path: String, copy: u32, binding: usize) -> PyResult<String> {
        as_json(&self.with(py, |play| play.fire(&path, copy, binding))?)
    }

    /// The tokens of each place and station.
    fn marking(&self, py: Python<'_>) -> PyResult<String> {
        as_json(&self.with(py, |play| Ok(play.marking()))?)
    }

    /// The next event, or null.
    fn pending(&self, py: Python<'_>) -> PyResult<String> {
        as_json(&self.with(py, |play| Ok(play.pending()))?)
    }

    /// Tokens, tokens that wait, and servers at work, by node of drawings.
    fn counts(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64, u64)>> {
        self.with(py, |play| Ok(play.counts()))
    }

    /// All figures so far.
    fn figures(&self, py: Python<'_>) -> PyResult<String> {
        as_json(&self.with(py, |play| Ok(play.figures()))?)
    }

    /// Returns to the first marking.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let generators = self.functions.generators(py, self.seed)?;
        if let Ok(mut play) = self.play.try_lock() {
            play.1 = generators;
        }
        self.with(py, Play::reset)
    }
}

/// Returns true if a document is a net and no scenario.
#[pyfunction]
fn is_net_document(py: Python<'_>, text: String, format: &str) -> PyResult<bool> {
    let language = language(format);
    interruptible(py, None, move |_| {
        let value = headrace_model::parse(&text, language);
        value.is_ok_and(|value| headrace_model::is_net(&value))
    })
}

/// The tree of an expression as JSON.
#[pyfunction]
fn parse_net_expression(text: &str) -> PyResult<String> {
    let tree = headrace_model::parse_expression(text)
        .map_err(|error| PyValueError::new_err(format!("{text}: {}", error.message)))?;
    serde_json::to_string(&tree).map_err(|error| errors::of_ours(&error.to_string()))
}

/// Makes nets known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyNetModel>()?;
    module.add_class::<PyNetPlay>()?;
    module.add_function(wrap_pyfunction!(parse_net_expression, module)?)?;
    module.add_function(wrap_pyfunction!(is_net_document, module)?)
}
