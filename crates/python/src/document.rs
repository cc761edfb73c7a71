//! Worksheets and catalogues for Python.

use std::path::PathBuf;

use headrace_spec::{DocumentKind, LoadedDocument};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors;
use crate::guard::interruptible;

/// A worksheet or a catalogue that has been loaded.
#[pyclass(frozen, module = "headrace._core", name = "Document")]
pub struct PyDocument {
    loaded: LoadedDocument,
}

#[pymethods]
impl PyDocument {
    /// Loads a document from text; `file` is what errors call it.
    #[staticmethod]
    fn from_text(
        py: Python<'_>,
        kind: &str,
        text: String,
        file: PathBuf,
        sets: Vec<String>,
    ) -> PyResult<PyDocument> {
        let kind = kind_of(kind)?;
        let loaded = interruptible(py, None, move |_| kind.load(&text, &file, &sets))?;
        let loaded = loaded.map_err(|error| errors::of_scenario(py, &error))?;
        Ok(PyDocument { loaded })
    }

    /// Loads a document from a file.
    #[staticmethod]
    fn from_file(
        py: Python<'_>,
        kind: &str,
        file: PathBuf,
        sets: Vec<String>,
    ) -> PyResult<PyDocument> {
        let kind = kind_of(kind)?;
        let loaded = interruptible(py, None, move |_| kind.load_file(&file, &sets))?;
        let loaded = loaded.map_err(|error| errors::of_scenario(py, &error))?;
        Ok(PyDocument { loaded })
    }

    /// The values as JSON, in SI units.
    #[getter]
    fn json(&self) -> &str {
        &self.loaded.json
    }

    /// The whole document, defaults filled in.
    #[getter]
    fn toml(&self) -> &str {
        &self.loaded.toml
    }

    /// One row per field: path, value as TOML, origin, and why it has that value.
    #[getter]
    fn rows(&self) -> Vec<(String, Option<String>, String, String)> {
        let rows = self.loaded.rows.iter().cloned();
        rows.map(|row| (row.path, row.value, row.origin, row.source))
            .collect()
    }

    /// The error about the value of the field at `path`.
    fn refusal(&self, py: Python<'_>, path: &str, message: String) -> PyErr {
        errors::of_scenario(py, &self.loaded.error(path, message))
    }
}

/// The JSON Schema of a kind of document, as JSON.
#[pyfunction]
fn document_schema(kind: &str) -> PyResult<String> {
    Ok(kind_of(kind)?.schema().to_string())
}

/// A kind of document as a form to fill in.
#[pyfunction]
fn document_form(kind: &str) -> PyResult<String> {
    Ok(kind_of(kind)?.form())
}

fn kind_of(name: &str) -> PyResult<DocumentKind> {
    DocumentKind::of(name)
        .ok_or_else(|| PyValueError::new_err(format!("no kind of document is called {name:?}")))
}

/// Makes documents known to Python.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDocument>()?;
    module.add_function(wrap_pyfunction!(document_schema, module)?)?;
    module.add_function(wrap_pyfunction!(document_form, module)?)
}
