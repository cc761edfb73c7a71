//! A directory mounted a second time, for Python.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use headrace_mirror::{Kind, Mirror, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::guard;

/// A directory that is mounted a second time, and every request counted.
#[pyclass(frozen, module = "headrace._core", name = "Mirror")]
pub struct PyMirror {
    mirror: Mutex<Mirror>,
}

#[pymethods]
impl PyMirror {
    /// Mounts a directory at another as well. Timeouts in seconds say what the kernel may keep.
    #[new]
    #[pyo3(signature = (directory, at, *, attribute_timeout, entry_timeout, directory_timeout,
                        readdirplus))]
    fn new(
        py: Python<'_>,
        directory: PathBuf,
        at: PathBuf,
        attribute_timeout: f64,
        entry_timeout: f64,
        directory_timeout: f64,
        readdirplus: bool,
    ) -> PyResult<PyMirror> {
        let options = Options {
            attribute_timeout: duration(attribute_timeout)?,
            entry_timeout: duration(entry_timeout)?,
            directory_timeout: duration(directory_timeout)?,
            readdirplus,
        };
        let mounted = guard::detached(py, || Mirror::mount(&directory, &at, options))?;
        let mirror = Mutex::new(mounted?);
        Ok(PyMirror { mirror })
    }

    /// Requests so far, by the kernel's name for them.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        let mirror = self.mirror.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |kind: &Kind| (kind.name(), mirror.counts().of(*kind));
        Kind::ALL.iter().map(of).collect()
    }

    /// Unmounts it.
    fn unmount(&self, py: Python<'_>) -> PyResult<()> {
        let unmounted = guard::detached(py, || {
            let mut mirror = self.mirror.lock().unwrap_or_else(PoisonError::into_inner);
            mirror.unmount()
        })?;
        Ok(unmounted?)
    }
}

fn duration(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err("expected a timeout of 0 s or more"))
}

/// Makes mirrors known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyMirror>()
}
