//! Schedulers of one's own: subclasses of `headrace.Scheduler` as schedulers of the model. The
//! requests of a method (dispatch, messages, wake-ups) are gathered and executed after its return:
//! no simulated time passes in it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use headrace_net::{Message, Span};
use headrace_storage::qos::{self, Copies, Dispatcher, JobId, ServerView, View};
use headrace_storage::{Job, Role};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use pyo3::{create_exception, intern};

create_exception!(
    headrace,
    SchedulerFailure,
    pyo3::exceptions::PyException,
    "What a method of a scheduler or placement did wrong: (class, number or None, method, what or \
     None, exception or None, where the method is defined or None)."
);

/// A job, as schedulers see it.
#[pyclass(frozen, module = "headrace", name = "Job")]
pub struct PyJob {
    job: Job,
    group: Py<PyString>,
    /// Identity of the waiting job, including its scheduler.
    slot: JobId,
    scheduler: u64,
    /// The server that it goes to.
    server: AtomicU32,
    /// The copies that it may read.
    copies: Arc<Copies>,
    /// Arrival at the scheduler, in seconds.
    #[pyo3(get)]
    arrival: f64,
    waiting: std::sync::atomic::AtomicBool,
}

#[pymethods]
impl PyJob {
    /// The name of its client's group.
    #[getter]
    fn group(&self, py: Python<'_>) -> Py<PyString> {
        self.group.clone_ref(py)
    }

    /// The number of its client.
    #[getter]
    fn client(&self) -> u32 {
        self.job.client
    }

    /// The number of the workload that it is a part of.
    #[getter]
    fn workload(&self) -> u32 {
        self.job.workload.into()
    }

    /// The number of the server that it is for, or that `dispatch` sent it to.
    #[getter]
    fn server(&self) -> u32 {
        self.server.load(Ordering::Relaxed)
    }

    /// The numbers of the servers that `dispatch` may send it to.
    #[getter]
    fn servers(&self) -> Vec<u32> {
        match self.copies.servers(&self.job) {
            Ok(servers) => servers.collect(),
            Err(_) => vec![self.job.server],
        }
    }

    /// The number of its file.
    #[getter]
    fn file(&self) -> u32 {
        self.job.file
    }

    /// The first byte, within the part of the file that the server holds.
    #[getter]
    fn offset(&self) -> u64 {
        self.job.offset
    }

    /// Bytes to read or write; 0 for an operation that moves none.
    #[getter]
    fn size(&self) -> u64 {
        self.job.size
    }

    /// Operation: "read", "write", "open" and so on.
    #[getter]
    fn operation(&self) -> &'static str {
        self.job.operation.name()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let group = self.group.bind(py).to_string();
        format!(
            "<Job: {} {} bytes of file {} at {}, client {}, group {group:?}>",
            self.job.operation.name(),
            self.job.size,
            self.job.file,
            self.job.offset,
            self.job.client,
        )
    }
}

/// The state of a data server at the time of a view.
#[pyclass(frozen, module = "headrace", name = "ServerState")]
pub struct PyServerState(ServerView);

#[pymethods]
impl PyServerState {
    /// Jobs that have arrived and have not been answered.
    #[getter]
    fn jobs(&self) -> u32 {
        self.0.jobs
    }

    /// The waiting jobs.
    #[getter]
    fn queue(&self) -> u32 {
        self.0.queue()
    }

    /// The jobs that threads or devices serve.
    #[getter]
    fn in_service(&self) -> u32 {
        self.0.in_service
    }

    /// Bytes in memory that are not on its devices yet.
    #[getter]
    fn dirty(&self) -> u64 {
        self.0.dirty
    }

    /// Bytes of files in memory.
    #[getter]
    fn cached(&self) -> u64 {
        self.0.cached
    }

    /// Share of the last period that its devices were busy, from 0 to 1.
    #[getter]
    fn utilisation(&self) -> f64 {
        self.0.utilisation
    }

    fn __repr__(&self) -> String {
        let it = &self.0;
        format!(
            "<ServerState: {} jobs, {} in service, {} dirty and {} cached bytes, {:.0} % busy>",
            it.jobs,
            it.in_service,
            it.dirty,
            it.cached,
            100.0 * it.utilisation
        )
    }
}

/// Call of a scheduler method.
enum SchedulerCall {
    Dispatch(JobId),
    DispatchTo(JobId, u32),
    Send(u32, Py<PyAny>),
    Wake(Span, u32),
}

/// The base class of schedulers of one's own.
#[pyclass(subclass, module = "headrace", name = "Scheduler")]
#[derive(Default)]
pub struct PyScheduler {
    /// A unique identity, so that no scheduler dispatches another's jobs.
    identity: u64,
    number: u32,
    count: u32,
    seed: u64,
    groups: Option<Py<PyTuple>>,
    now: f64,
    /// True after construction, when its methods may be called.
    runs: bool,
    asked: Vec<SchedulerCall>,
    /// The newest view of the servers, and the same for Python once it has asked for it.
    view: Option<Arc<View>>,
    shown_view: Option<Py<PyTuple>>,
}

/// The longest time that a scheduler can ask for, in seconds: 200 days. Simulated time
/// holds 213.
const LONGEST: f64 = 1.728e7;

static IDENTITIES: AtomicU64 = AtomicU64::new(1);

#[pymethods]
impl PyScheduler {
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(_arguments: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyScheduler {
        PyScheduler {
            identity: IDENTITIES.fetch_add(1, Ordering::Relaxed),
            count: 1,
            ..PyScheduler::default()
        }
    }

    /// Accept any arguments so that a subclass may pass on its own.
    #[pyo3(signature = (*_arguments, **_options))]
    fn __init__(&self, _arguments: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) {}

    /// Says which of the scenario's schedulers this is.
    fn _place(&mut self, number: u32, count: u32, groups: Py<PyTuple>, seed: u64) {
        self.number = number;
        self.count = count;
        self.groups = Some(groups);
        self.seed = seed;
    }

    /// A job has come; it waits until it is dispatched. Must be overridden.
    fn job_arrival(slf: &Bound<'_, Self>, _job: &Bound<'_, PyJob>) -> PyResult<()> {
        let class = slf.get_type().name()?;
        Err(pyo3::exceptions::PyNotImplementedError::new_err(format!(
            "class {class} has no method job_arrival(self, job), so no job would ever go on"
        )))
    }

    /// A job that was dispatched has come back from its server.
    fn job_finish(&self, _job: &Bound<'_, PyJob>) {}

    /// Another scheduler's message has come.
    fn message_arrival(&self, _sender: u32, _message: &Bound<'_, PyAny>) {}

    /// A time asked for with `wake_in` has come.
    fn wake(&self, _tag: u32) {}

    /// The schedulers have learnt a newer state of the servers.
    fn view_arrival(&self) {}

    /// Sends a waiting job on to its server, or to another with a copy of its data.
    #[pyo3(signature = (job, server=None))]
    fn dispatch(&mut self, job: &Bound<'_, PyAny>, server: Option<i64>) -> PyResult<()> {
        let Ok(job) = job.cast::<PyJob>() else {
            let given = job.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "dispatch(): expected a job passed to job_arrival(), not {given}"
            )));
        };
        let job = job.get();
        if job.scheduler != self.identity {
            return Err(PyValueError::new_err(
                "dispatch(): the job belongs to another scheduler",
            ));
        }
        if !job.waiting.load(Ordering::Relaxed) {
            return Err(PyValueError::new_err(
                "dispatch(): the job has already been dispatched",
            ));
        }
        let mut call = SchedulerCall::Dispatch(job.slot);
        if let Some(server) = server {
            // A number that no server has is as wrong as another.
            let server = u32::try_from(server).unwrap_or(u32::MAX);
            let there = job.copies.at(&job.job, server);
            let there = there.map_err(|error| {
                PyValueError::new_err(format!("dispatch(server={server}): {error}"))
            })?;
            if there.is_some() {
                job.server.store(server, Ordering::Relaxed);
                call = SchedulerCall::DispatchTo(job.slot, server);
            }
        }
        job.waiting.store(false, Ordering::Relaxed);
        self.ask("dispatch", call)
    }

    /// The state of all data servers by number, as of `view_time`.
    fn servers(&mut self, py: Python<'_>) -> PyResult<Py<PyTuple>> {
        let Some(view) = &self.view else {
            return Err(PyRuntimeError::new_err(match self.runs {
                true => {
                    "servers(): nothing is learnt of the servers: give scheduler.view_period \
                     in the scenario"
                }
                false => {
                    "servers() before the run has begun: call it when a job has come, not in \
                     __init__"
                }
            }));
        };
        if let Some(shown) = &self.shown_view {
            return Ok(shown.clone_ref(py));
        }
        let states = view.servers.iter();
        let states = states.map(|it| Py::new(py, PyServerState(*it)));
        let states = states.collect::<PyResult<Vec<_>>>()?;
        let shown = PyTuple::new(py, states)?.unbind();
        self.shown_view = Some(shown.clone_ref(py));
        Ok(shown)
    }

    /// The simulated time of the state that `servers()` gives, in seconds; None without
    /// `scheduler.view_period`.
    #[getter]
    fn view_time(&self) -> Option<f64> {
        self.view.as_ref().map(|view| view.time.as_seconds())
    }

    /// Sends a message, any object, to another scheduler. It takes the scenario's
    /// `scheduler.message_latency`.
    fn send_message(&mut self, to: i64, message: Py<PyAny>) -> PyResult<()> {
        match u32::try_from(to) {
            Ok(number) if number < self.count => {
                self.ask("send_message", SchedulerCall::Send(number, message))
            }
            _ => Err(PyValueError::new_err(format!(
                "send_message() to scheduler {to}: there are {}, numbered from 0",
                self.count
            ))),
        }
    }

    /// Requests a call of `wake(tag)` after `seconds`.
    #[pyo3(signature = (seconds, tag=0))]
    fn wake_in(&mut self, seconds: f64, tag: i64) -> PyResult<()> {
        let wrong = |message: String| Err(PyValueError::new_err(message));
        if !(0.0..=LONGEST).contains(&seconds) {
            return wrong(format!(
                "wake_in(): expected seconds from 0 to {LONGEST:e}, not {seconds:?}"
            ));
        }
        match u32::try_from(tag) {
            Ok(tag) => self.ask(
                "wake_in",
                SchedulerCall::Wake(Span::from_seconds(seconds), tag),
            ),
            Err(_) => wrong(format!(
                "wake_in() takes a tag from 0 to {}, not {tag}",
                u32::MAX
            )),
        }
    }

    /// The simulated time, in seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.now
    }

    /// The number of this scheduler among those of the scenario, from 0.
    #[getter]
    fn number(&self) -> u32 {
        self.number
    }

    /// Number of schedulers the scenario has.
    #[getter]
    fn count(&self) -> u32 {
        self.count
    }

    /// The scenario's `run.seed`, for random numbers of one's own.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// The names of the clients' groups.
    #[getter]
    fn groups(&self, py: Python<'_>) -> Option<Py<PyTuple>> {
        self.groups.as_ref().map(|groups| groups.clone_ref(py))
    }
}

impl PyScheduler {
    fn ask(&mut self, by: &str, asked: SchedulerCall) -> PyResult<()> {
        if !self.runs {
            return Err(PyRuntimeError::new_err(format!(
                "{by}() before the run has begun: call it when a job has come, not in __init__"
            )));
        }
        self.asked.push(asked);
        Ok(())
    }
}

/// State shared by the schedulers of a run.
#[derive(Default)]
pub struct Shared {
    /// The first thing that went wrong.
    failure: Mutex<Option<PyErr>>,
    /// Messages in progress: they cross the model as numbers.
    messages: Mutex<Messages>,
}

#[derive(Default)]
struct Messages {
    objects: Vec<Option<Py<PyAny>>>,
    free: Vec<usize>,
}

impl Shared {
    /// Takes the exception, if one was raised.
    pub fn take_failure(&self) -> Option<PyErr> {
        lock(&self.failure).take()
    }

    /// Keeps an exception, if it is the first.
    pub fn keep_failure(&self, failure: PyErr) {
        lock(&self.failure).get_or_insert(failure);
    }

    fn put(&self, object: Py<PyAny>) -> Message {
        let mut messages = lock(&self.messages);
        let index = match messages.free.pop() {
            Some(index) => {
                messages.objects[index] = Some(object);
                index
            }
            None => {
                messages.objects.push(Some(object));
                messages.objects.len() - 1
            }
        };
        [index as u64, 0, 0, 0]
    }

    fn take(&self, message: Message) -> Option<Py<PyAny>> {
        let mut messages = lock(&self.messages);
        let index = usize::try_from(message[0]).ok()?;
        let object = messages.objects.get_mut(index)?.take();
        messages.free.push(index);
        object
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Key that identifies an outstanding job.
type Key = ([u32; 4], u64, u8, bool);

fn key(job: &Job) -> Key {
    let numbers = [job.client, job.request, job.server, job.file];
    let metadata = job.role == Role::Metadata;
    (numbers, job.offset, job.operation.code(), metadata)
}

/// An object of a subclass as a scheduler of the model.
pub struct Adapter {
    shared: Arc<Shared>,
    object: Py<PyScheduler>,
    number: u32,
    identity: u64,
    name: String,
    groups: Vec<Py<PyString>>,
    job_arrival: Py<PyAny>,
    /// None where the subclass does not override the method.
    job_finish: Option<Py<PyAny>>,
    message_arrival: Option<Py<PyAny>>,
    wake: Option<Py<PyAny>>,
    view_arrival: Option<Py<PyAny>>,
    /// Jobs that are here or out, if the class uses them again.
    jobs: HashMap<Key, Py<PyJob>>,
    /// Jobs with identical keys; any of them may be returned.
    alike: Vec<(Key, Py<PyJob>)>,
    /// Reused by all calls.
    asked: Vec<SchedulerCall>,
}

impl Adapter {
    /// # Errors
    /// If the object has no such methods.
    pub fn new(object: &Bound<'_, PyScheduler>, shared: Arc<Shared>) -> PyResult<Adapter> {
        let py = object.py();
        let class = object.get_type();
        let base = PyType::new::<PyScheduler>(py);
        let own = |method: &str| -> PyResult<Option<Py<PyAny>>> {
            let overridden = !class.getattr(method)?.is(&base.getattr(method)?);
            match overridden {
                true => Ok(Some(object.getattr(method)?.unbind())),
                false => Ok(None),
            }
        };
        let (number, identity, groups) = {
            let mut state = object.borrow_mut();
            state.runs = true;
            let groups = state.groups.as_ref().map(|it| it.bind(py).clone());
            (state.number, state.identity, groups)
        };
        let groups = groups.map_or(Ok(Vec::new()), |groups| groups.extract())?;
        Ok(Adapter {
            shared,
            object: object.clone().unbind(),
            number,
            identity,
            name: class.name()?.to_string(),
            groups,
            job_arrival: object.getattr("job_arrival")?.unbind(),
            job_finish: own("job_finish")?,
            message_arrival: own("message_arrival")?,
            wake: own("wake")?,
            view_arrival: own("view_arrival")?,
            jobs: HashMap::new(),
            alike: Vec::new(),
            asked: Vec::new(),
        })
    }

    /// Calls a method and executes its requests.
    fn call(
        &mut self,
        py: Python<'_>,
        name: &'static str,
        call: impl FnOnce(&Adapter) -> PyResult<Py<PyAny>>,
        dispatcher: &mut Dispatcher<'_, '_>,
    ) {
        // Nothing after the first failure: the run is over.
        if lock(&self.shared.failure).is_some() {
            return;
        }
        {
            let mut object = self.object.borrow_mut(py);
            object.now = dispatcher.now().as_seconds();
            if let Some(view) = dispatcher.view()
                && !object.view.as_ref().is_some_and(|it| Arc::ptr_eq(it, view))
            {
                object.view = Some(Arc::clone(view));
                object.shown_view = None;
            }
        }
        match call(self) {
            Err(error) => return self.fail(py, name, None, Some(error), dispatcher),
            Ok(returned) if !returned.is_none(py) => {
                let given = shown(returned.bind(py));
                let what = format!(
                    "returned {given}; expected no value: what it decides it says by \
                     self.dispatch(job)"
                );
                // Python warns of a coroutine that was never awaited.
                let _ = returned.call_method0(py, intern!(py, "close"));
                return self.fail(py, name, Some(what), None, dispatcher);
            }
            Ok(_) => {}
        }
        let mut asked = std::mem::take(&mut self.asked);
        std::mem::swap(&mut asked, &mut self.object.borrow_mut(py).asked);
        for each in asked.drain(..) {
            match each {
                SchedulerCall::Dispatch(job) => dispatcher.dispatch(job),
                SchedulerCall::DispatchTo(job, server) => self.send_to(server, job, dispatcher),
                SchedulerCall::Send(to, message) => {
                    dispatcher.send_message(to, self.shared.put(message))
                }
                SchedulerCall::Wake(span, tag) => dispatcher.wake_in(span, tag),
            }
        }
        self.asked = asked;
    }

    /// Sends a job to another server, by which it is known from then on.
    fn send_to(&mut self, server: u32, id: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        let came = key(dispatcher.job(id));
        match dispatcher.dispatch_to(server, id) {
            Err(error) => dispatcher.fail(error.to_string()),
            Ok(()) => {
                let leaves = key(dispatcher.job(id));
                if let Some(job) = self.take(&came)
                    && let Some(other) = self.jobs.insert(leaves, job)
                {
                    self.alike.push((leaves, other));
                }
            }
        }
    }

    /// Takes a job that is here or out.
    fn take(&mut self, key: &Key) -> Option<Py<PyJob>> {
        self.jobs.remove(key).or_else(|| {
            let at = self.alike.iter().position(|it| it.0 == *key)?;
            Some(self.alike.swap_remove(at).1)
        })
    }

    fn fail(
        &self,
        py: Python<'_>,
        method: &str,
        what: Option<String>,
        error: Option<PyErr>,
        dispatcher: &mut Dispatcher<'_, '_>,
    ) {
        let exception = error.map(|error| error.into_value(py));
        let place = self.object.bind(py).getattr(method).ok();
        let place = place.and_then(|it| defined_at(&it));
        let (name, number, method) = (self.name.clone(), self.number, method.to_owned());
        let failure = SchedulerFailure::new_err((name, number, method, what, exception, place));
        *lock(&self.shared.failure) = Some(failure);
        dispatcher.fail("a scheduler in Python failed");
    }
}

/// File and line of a method's definition, if it has one in Python.
pub fn defined_at(method: &Bound<'_, PyAny>) -> Option<(String, u32)> {
    let code = method.getattr("__code__").ok()?;
    let file = code.getattr("co_filename").ok()?.extract().ok()?;
    let line = code.getattr("co_firstlineno").ok()?.extract().ok()?;
    Some((file, line))
}

/// A short text of a value.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(
        |_| "a value that cannot be shown".to_owned(),
        |text| text.to_string(),
    );
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl qos::Scheduler for Adapter {
    fn job_arrival(&mut self, id: JobId, dispatcher: &mut Dispatcher<'_, '_>) {
        Python::attach(|py| {
            let job = *dispatcher.job(id);
            let group = match self.groups.get(usize::from(job.group)) {
                Some(group) => group.clone_ref(py),
                None => intern!(py, "").clone().unbind(),
            };
            let shown = PyJob {
                job,
                group,
                slot: id,
                scheduler: self.identity,
                server: job.server.into(),
                copies: Arc::clone(dispatcher.copies()),
                arrival: dispatcher.now().as_seconds(),
                waiting: true.into(),
            };
            let shown = match Py::new(py, shown) {
                Ok(shown) => shown,
                Err(error) => {
                    return self.fail(py, "job_arrival", None, Some(error), dispatcher);
                }
            };
            if self.job_finish.is_some()
                && let Some(other) = self.jobs.insert(key(&job), shown.clone_ref(py))
            {
                self.alike.push((key(&job), other));
            }
            let call = |it: &Adapter| it.job_arrival.call1(py, (shown,));
            self.call(py, "job_arrival", call, dispatcher);
        });
    }

    fn job_finish(&mut self, job: &Job, dispatcher: &mut Dispatcher<'_, '_>) {
        if self.job_finish.is_none() {
            return;
        }
        Python::attach(|py| {
            if let Some(job) = self.take(&key(job)) {
                let call = |it: &Adapter| match &it.job_finish {
                    Some(method) => method.call1(py, (job,)),
                    None => Ok(py.None()),
                };
                self.call(py, "job_finish", call, dispatcher);
            }
        });
    }

    fn message_arrival(
        &mut self,
        from: u32,
        message: Message,
        dispatcher: &mut Dispatcher<'_, '_>,
    ) {
        Python::attach(|py| {
            let object = self.shared.take(message);
            if let Some(object) = object {
                let call = |it: &Adapter| match &it.message_arrival {
                    Some(method) => method.call1(py, (from, object)),
                    None => Ok(py.None()),
                };
                self.call(py, "message_arrival", call, dispatcher);
            }
        });
    }

    fn wake(&mut self, tag: u32, dispatcher: &mut Dispatcher<'_, '_>) {
        Python::attach(|py| {
            let call = |it: &Adapter| match &it.wake {
                Some(method) => method.call1(py, (tag,)),
                None => Ok(py.None()),
            };
            self.call(py, "wake", call, dispatcher);
        });
    }

    fn view_arrival(&mut self, dispatcher: &mut Dispatcher<'_, '_>) {
        if self.view_arrival.is_none() {
            return;
        }
        Python::attach(|py| {
            let call = |it: &Adapter| match &it.view_arrival {
                Some(method) => method.call0(py),
                None => Ok(py.None()),
            };
            self.call(py, "view_arrival", call, dispatcher);
        });
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// Makes schedulers known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyJob>()?;
    module.add_class::<PyServerState>()?;
    module.add_class::<PyScheduler>()?;
    module.add(
        "SchedulerFailure",
        module.py().get_type::<SchedulerFailure>(),
    )
}
