//! Guards, actions and service times of nets that are functions in Python.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use headrace_model::{Colours, External, Function, Kind};
use pyo3::create_exception;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};

create_exception!(
    headrace,
    FunctionFailure,
    pyo3::exceptions::PyException,
    "What a function of a net did wrong: (number, what, exception or None)."
);

/// Picoseconds of a second.
const SECOND: f64 = 1e12;

/// A function as Python describes it.
#[derive(FromPyObject)]
pub struct Described {
    /// Its name in expressions.
    name: String,
    function: Py<PyAny>,
    /// The name of its result's colour.
    colour: String,
    /// True if its result is ignored.
    ignored: bool,
    /// Position of the random generator among the arguments, if it takes one.
    generator_at: Option<usize>,
    /// The transition or station, for its generator's seed.
    path: String,
}

/// A colour as Python describes it.
#[derive(FromPyObject)]
pub enum ColourType {
    /// A record: its class, a function of the values of its fields, and their names.
    #[pyo3(transparent)]
    Record((Py<PyAny>, Py<PyAny>, Vec<Py<PyString>>)),
    /// Members of an enumeration.
    #[pyo3(transparent)]
    Enum(Vec<Py<PyAny>>),
}

/// The colours of a net, and their types in Python.
struct Types {
    colours: Colours,
    enums: Vec<Option<Vec<Py<PyAny>>>>,
    records: Vec<Option<RecordType>>,
}

struct RecordType {
    class: Py<PyAny>,
    make: Py<PyAny>,
    fields: Vec<Py<PyString>>,
}

/// All functions of a net.
pub struct NetFunctions {
    all: Vec<Arc<NetFunction>>,
    shared: Arc<Shared>,
    /// Held by a run: generators and failures are of one run.
    running: Mutex<()>,
}

#[derive(Default)]
struct Shared {
    types: OnceLock<Types>,
    has_failed: AtomicBool,
    failure: Mutex<Option<PyErr>>,
}

struct NetFunction {
    number: usize,
    described: Described,
    kind: OnceLock<Kind>,
    generator: Mutex<Option<Py<PyAny>>>,
    /// The words that the last call returned.
    last: Mutex<[i64; 8]>,
    shared: Arc<Shared>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl NetFunctions {
    /// The functions that Python describes.
    pub fn new(described: Vec<Described>) -> NetFunctions {
        let shared = Arc::new(Shared::default());
        let all = described.into_iter().enumerate();
        let all = all.map(|(number, described)| {
            Arc::new(NetFunction {
                number,
                described,
                kind: OnceLock::new(),
                generator: Mutex::new(None),
                last: Mutex::new([0; 8]),
                shared: Arc::clone(&shared),
            })
        });
        NetFunctions {
            all: all.collect(),
            shared,
            running: Mutex::new(()),
        }
    }

    /// Returns true if the net has no function in Python.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The declarations that the compiler of documents needs.
    pub fn externals(&self) -> Vec<External> {
        let all = self.all.iter();
        let external = |it: &Arc<NetFunction>| External {
            name: it.described.name.clone(),
            colour: it.described.colour.clone(),
            function: Arc::clone(it) as Arc<dyn Function>,
        };
        all.map(external).collect()
    }

    /// The net is compiled: its colours are known.
    pub fn set_types(&self, py: Python<'_>, colours: &Colours, find: &TypesByName) {
        let of = |name: &String| find.iter().find(|(other, _)| other == name);
        let enums = colours.enums.iter().map(|it| match of(&it.name) {
            Some((_, ColourType::Enum(members))) => {
                Some(members.iter().map(|it| it.clone_ref(py)).collect())
            }
            _ => None,
        });
        let records = colours.records.iter().map(|it| match of(&it.name) {
            Some((_, ColourType::Record((class, make, fields)))) => Some(RecordType {
                class: class.clone_ref(py),
                make: make.clone_ref(py),
                fields: fields.iter().map(|it| it.clone_ref(py)).collect(),
            }),
            _ => None,
        });
        let types = Types {
            enums: enums.collect(),
            records: records.collect(),
            colours: colours.clone(),
        };
        for function in &self.all {
            let kind = colours.names.get(&function.described.colour);
            let _ = function.kind.set(kind.copied().unwrap_or(Kind::Unit));
        }
        let _ = self.shared.types.set(types);
    }

    /// Begins a run with this seed; none if another run of the net goes on.
    pub fn begin(
        &self,
        py: Python<'_>,
        seed: u64,
    ) -> PyResult<Option<std::sync::MutexGuard<'_, ()>>> {
        let guard = match self.running.try_lock() {
            Ok(guard) => guard,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return Ok(None),
        };
        self.shared.has_failed.store(false, Ordering::Relaxed);
        *lock(&self.shared.failure) = None;
        self.swap(&mut self.generators(py, seed)?);
        Ok(Some(guard))
    }

    /// New generators of random numbers, one for each function that takes one.
    pub fn generators(&self, py: Python<'_>, seed: u64) -> PyResult<Generators> {
        let of = |function: &Arc<NetFunction>| -> PyResult<Option<Py<PyAny>>> {
            if function.described.generator_at.is_none() {
                return Ok(None);
            }
            let random = py.import(intern!(py, "random"))?;
            let seed = format!("{seed} {} {}", function.number, function.described.path);
            let generator = random.call_method1(intern!(py, "Random"), (seed,))?;
            Ok(Some(generator.unbind()))
        };
        self.all.iter().map(of).collect()
    }

    fn swap(&self, generators: &mut Generators) {
        for (function, generator) in self.all.iter().zip(generators) {
            std::mem::swap(&mut *lock(&function.generator), generator);
        }
    }

    /// Lets the functions draw from a play's own generators, as long as the result lives; none if
    /// a run of the net goes on.
    pub fn enter<'a>(&'a self, generators: &'a mut Generators) -> Option<Entered<'a>> {
        let guard = match self.running.try_lock() {
            Ok(guard) => Some(guard),
            // Nothing is shared.
            Err(_) if self.all.is_empty() => None,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => return None,
        };
        self.swap(generators);
        Some(Entered {
            functions: self,
            generators,
            _guard: guard,
        })
    }

    /// Takes the error of the function that failed.
    pub fn take_failure(&self) -> Option<PyErr> {
        lock(&self.shared.failure).take()
    }
}

/// Generators of random numbers by function.
pub type Generators = Vec<Option<Py<PyAny>>>;

/// A play whose generators the functions draw from.
pub struct Entered<'a> {
    functions: &'a NetFunctions,
    generators: &'a mut Generators,
    _guard: Option<std::sync::MutexGuard<'a, ()>>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.functions.swap(self.generators);
    }
}

/// Types in Python by the names of their colours.
pub type TypesByName = Vec<(String, ColourType)>;

impl Function for NetFunction {
    fn word(&self, kinds: &[Kind], arguments: &[i64], word: usize) -> Option<i64> {
        if self.shared.has_failed.load(Ordering::Relaxed) {
            return None;
        }
        if word > 0 {
            return lock(&self.last).get(word).copied();
        }
        Python::attach(|py| match self.call(py, kinds, arguments) {
            Ok(word) => Some(word),
            Err(Failed(what, error)) => {
                let exception = error.map(|error| error.into_value(py));
                let failure = FunctionFailure::new_err((self.number, what, exception));
                lock(&self.shared.failure).get_or_insert(failure);
                self.shared.has_failed.store(true, Ordering::Relaxed);
                None
            }
        })
    }
}

/// The fault, or the exception.
struct Failed(Option<String>, Option<PyErr>);

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Failed {
        Failed(None, Some(error))
    }
}

impl NetFunction {
    fn call(&self, py: Python<'_>, kinds: &[Kind], words: &[i64]) -> Result<i64, Failed> {
        let (Some(types), Some(&kind)) = (self.shared.types.get(), self.kind.get()) else {
            return Ok(0);
        };
        let mut values: Vec<Bound<'_, PyAny>> = Vec::with_capacity(kinds.len() + 1);
        let mut at = 0;
        for &kind in kinds {
            let (value, used) = types.to_python(py, kind, &words[at..])?;
            values.push(value);
            at += used;
        }
        if let Some(position) = self.described.generator_at
            && let Some(generator) = &*lock(&self.generator)
        {
            values.insert(position.min(values.len()), generator.bind(py).clone());
        }
        let function = self.described.function.bind(py);
        // Rust's tuples are passed without a tuple in Python.
        let mut values = values.into_iter();
        let mut next = || values.next();
        let returned = match values_len(kinds, self.described.generator_at) {
            0 => function.call0()?,
            1 => function.call1((next(),))?,
            2 => function.call1((next(), next()))?,
            3 => function.call1((next(), next(), next()))?,
            _ => function.call1(PyTuple::new(py, values)?)?,
        };
        if self.described.ignored {
            return Ok(0);
        }
        let mut result = [0; 8];
        types
            .to_words(kind, &returned, &mut result)
            .map_err(|expected| {
                let shown = crate::scheduler::shown(&returned);
                Failed(Some(format!("returned {shown}: expected {expected}")), None)
            })?;
        *lock(&self.last) = result;
        Ok(result[0])
    }
}

fn values_len(kinds: &[Kind], generator_at: Option<usize>) -> usize {
    kinds.len() + usize::from(generator_at.is_some())
}

impl Types {
    /// A value in Python, and the words that it takes.
    fn to_python<'py>(
        &self,
        py: Python<'py>,
        kind: Kind,
        words: &[i64],
    ) -> PyResult<(Bound<'py, PyAny>, usize)> {
        let word = words.first().copied().unwrap_or(0);
        let value = match kind {
            Kind::Unit => return Ok((py.None().into_bound(py), 0)),
            Kind::Int => PyInt::new(py, word).into_any(),
            Kind::Bool => PyBool::new(py, word != 0).to_owned().into_any(),
            Kind::Real => PyFloat::new(py, f64::from_bits(word as u64)).into_any(),
            Kind::Time => PyFloat::new(py, word as f64 / SECOND).into_any(),
            Kind::Text => match self.colours.texts.get(word as usize) {
                Some(text) => PyString::new(py, text).into_any(),
                None => py.None().into_bound(py),
            },
            Kind::Enum(index) => {
                let members = self.enums.get(index).and_then(Option::as_ref);
                match members.and_then(|it| it.get(word as usize)) {
                    Some(member) => member.bind(py).clone(),
                    None => PyInt::new(py, word).into_any(),
                }
            }
            Kind::Record(index) => {
                let mut at = 0;
                let mut fields = Vec::new();
                for (_, kind) in &self.colours.records[index].fields {
                    let (value, used) = self.to_python(py, *kind, &words[at..])?;
                    fields.push(value);
                    at += used;
                }
                let fields = PyTuple::new(py, fields)?;
                let value = match self.records.get(index).and_then(Option::as_ref) {
                    Some(record) => record.make.bind(py).call1(fields)?,
                    None => fields.into_any(),
                };
                return Ok((value, at));
            }
        };
        Ok((value, 1))
    }

    /// The words of a value in Python; their number, or the expected type.
    fn to_words(
        &self,
        kind: Kind,
        value: &Bound<'_, PyAny>,
        words: &mut [i64],
    ) -> Result<usize, String> {
        let py = value.py();
        let name = || self.colours.name(kind);
        let word = match kind {
            Kind::Unit => return Ok(0),
            Kind::Int if value.is_instance_of::<PyBool>() => None,
            Kind::Int => value.extract().ok(),
            Kind::Bool => value.extract::<bool>().ok().map(i64::from),
            Kind::Real => value.extract::<f64>().ok().map(|it| it.to_bits() as i64),
            Kind::Time => match value.extract::<f64>() {
                // The kernel's time ends after 213 days.
                Ok(seconds) if (0.0..1.8e7).contains(&seconds) => {
                    Some((seconds * SECOND).round() as i64)
                }
                _ => return Err("a time in seconds, from 0 to 1.8e7".to_owned()),
            },
            Kind::Text => {
                let text: Result<String, _> = value.extract();
                let text = text.map_err(|_| "a text".to_owned())?;
                let known = self.colours.texts.iter().position(|it| *it == text);
                let known = known.ok_or("a text that occurs in the net".to_owned())?;
                Some(known as i64)
            }
            Kind::Enum(index) => {
                let members = self.enums.get(index).and_then(Option::as_ref);
                let position = members.and_then(|it| it.iter().position(|it| it.is(value)));
                position.map(|it| it as i64)
            }
            Kind::Record(index) => {
                let record = self.records.get(index).and_then(Option::as_ref);
                let own = record.filter(|it| value.is_instance(it.class.bind(py)).unwrap_or(false));
                let record = own.ok_or_else(|| format!("a {}", name()))?;
                let mut at = 0;
                let fields = self.colours.records[index].fields.iter();
                for (attribute, (field, kind)) in record.fields.iter().zip(fields) {
                    let part = value.getattr(attribute.bind(py));
                    let part = part.map_err(|_| format!("a {} with {field}", name()))?;
                    let used = self.to_words(*kind, &part, &mut words[at..]);
                    at += used.map_err(|expected| format!("{expected} as {field}"))?;
                }
                return Ok(at);
            }
        };
        let article = if name() == "int" { "an" } else { "a" };
        words[0] = word.ok_or_else(|| format!("{article} {}", name()))?;
        Ok(1)
    }
}

/// Makes the exception known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("FunctionFailure", module.py().get_type::<FunctionFailure>())
}
