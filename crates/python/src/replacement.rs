//! Replacement policies of one's own: subclasses of `headrace.ReplacementPolicy` as policies of the
//! model's page caches.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use headrace_storage::replacement::{CachedPage, ReplacementPolicy};
use pyo3::create_exception;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::scheduler::{defined_at, shown};

create_exception!(
    headrace,
    PolicyFailure,
    pyo3::exceptions::PyException,
    "What a replacement policy's method did wrong: (number, method, what or None, exception or \
     None, where the method is defined or None)."
);

/// Makes the policies of a run by the caller's function.
pub struct Policies {
    make: Py<PyAny>,
    failure: Arc<Mutex<Option<PyErr>>>,
}

impl Policies {
    /// `make` gets the number of a cache and its pages, and returns its policy.
    pub fn new(make: Py<PyAny>) -> Policies {
        Policies {
            make,
            failure: Arc::default(),
        }
    }

    /// Takes the exception, if one was raised.
    pub fn take_failure(&self) -> Option<PyErr> {
        lock(&self.failure).take()
    }

    /// The policy of a cache.
    pub fn policy(&self, number: u32, pages: u64) -> Box<dyn ReplacementPolicy> {
        let object = Python::attach(|py| self.make.call1(py, (number, pages)));
        let object = object.map_err(|error| {
            lock(&self.failure).get_or_insert(error);
        });
        Box::new(Adapter {
            number,
            capacity: usize::try_from(pages).unwrap_or(usize::MAX),
            held: BTreeSet::new(),
            failure: Arc::clone(&self.failure),
            object: object.ok(),
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An object of a subclass as a policy of the model.
struct Adapter {
    number: u32,
    capacity: usize,
    held: BTreeSet<CachedPage>,
    failure: Arc<Mutex<Option<PyErr>>>,
    /// None once it has failed.
    object: Option<Py<PyAny>>,
}

impl std::fmt::Debug for Adapter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "a policy in Python, number {}", self.number)
    }
}

impl Adapter {
    /// Calls a method with a page. Returns its result, unless it or one before it failed.
    fn call<R>(
        &mut self,
        method: &'static str,
        page: Option<CachedPage>,
        convert: impl FnOnce(&Adapter, &Bound<'_, PyAny>) -> Result<R, String>,
    ) -> Option<R> {
        let object = self.object.as_ref()?;
        let failed = Python::attach(|py| {
            let given = match page {
                Some(page) => ((page.file, page.number),).into_pyobject(py),
                None => Ok(PyTuple::empty(py)),
            };
            let returned = given.and_then(|given| object.bind(py).call_method1(method, given));
            let (what, exception) = match returned {
                Ok(returned) => match convert(self, &returned) {
                    Ok(converted) => return Ok(converted),
                    Err(what) => (Some(what), None),
                },
                Err(error) => (None, Some(error.into_value(py))),
            };
            let place = object.bind(py).getattr(method).ok();
            let place = place.and_then(|it| defined_at(&it));
            let number = self.number;
            Err(PolicyFailure::new_err((
                number, method, what, exception, place,
            )))
        });
        match failed {
            Ok(converted) => Some(converted),
            Err(failure) => {
                lock(&self.failure).get_or_insert(failure);
                self.object = None;
                None
            }
        }
    }

    /// The page that leaves for another one.
    fn evict(&mut self, incoming: CachedPage) -> Option<CachedPage> {
        let chosen = self.call("evict", Some(incoming), |it, returned| {
            let expected = "expected a cached page, (file, number)";
            let shown = shown(returned);
            let page: Result<(u32, u64), PyErr> = returned.extract();
            let (file, number) = page.map_err(|_| format!("returned {shown}: {expected}"))?;
            let page = CachedPage { file, number };
            match it.held.contains(&page) {
                true => Ok(page),
                false => Err(format!("returned {shown}, which is not cached: {expected}")),
            }
        });
        // After a failure the run is over at the end of this step.
        let page = chosen.or_else(|| self.held.first().copied())?;
        self.held.remove(&page);
        Some(page)
    }
}

impl ReplacementPolicy for Adapter {
    fn access(&mut self, page: CachedPage) {
        self.call("access", Some(page), |_, _| Ok(()));
    }

    fn insert(&mut self, page: CachedPage) -> Option<CachedPage> {
        let is_full = self.held.len() >= self.capacity;
        let leaves = if is_full { self.evict(page) } else { None };
        self.held.insert(page);
        self.call("insert", Some(page), |_, _| Ok(()));
        leaves
    }

    fn remove(&mut self, page: CachedPage) {
        if self.held.remove(&page) {
            self.call("remove", Some(page), |_, _| Ok(()));
        }
    }

    fn clear(&mut self) {
        for page in std::mem::take(&mut self.held) {
            self.call("remove", Some(page), |_, _| Ok(()));
        }
    }

    fn failure(&self) -> Option<String> {
        let failed = self.object.is_none();
        failed.then(|| "a replacement policy in Python failed".to_owned())
    }
}

/// Makes the exception known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("PolicyFailure", module.py().get_type::<PolicyFailure>())
}
