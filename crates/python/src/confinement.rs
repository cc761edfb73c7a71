//! Confinement of this process to stated files, by Landlock.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, PathFdError,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus,
};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// The newest version whose rights about files are used; an older kernel enforces those it knows.
const VERSION: ABI = ABI::V5;

/// Confines this thread, and the threads and processes that it starts later, for ever: they open
/// only files at or below these paths. Paths that do not exist are skipped.
///
/// Returns whether the kernel enforces that. Without Landlock nothing is confined.
///
/// # Errors
/// `OSError`: the kernel has Landlock and rejects the rules.
#[pyfunction]
fn confine(readable: Vec<PathBuf>, writable: Vec<PathBuf>) -> PyResult<bool> {
    restrict(&readable, &writable).map_err(|error| PyOSError::new_err(error.to_string()))
}

fn restrict(
    readable: &[PathBuf],
    writable: &[PathBuf],
) -> Result<bool, Box<dyn std::error::Error>> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(VERSION))?
        .create()?;
    let ruleset = allow(ruleset, readable, AccessFs::from_read(VERSION))?;
    let ruleset = allow(ruleset, writable, AccessFs::from_all(VERSION))?;
    Ok(ruleset.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}

fn allow(
    mut ruleset: RulesetCreated,
    paths: &[PathBuf],
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Box<dyn std::error::Error>> {
    for path in paths {
        let opened = match PathFd::new(path) {
            Ok(opened) => opened,
            Err(PathFdError::OpenCall { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        // Rights about directories do not fit a file.
        let access = match path.is_dir() {
            true => access,
            false => access & AccessFs::from_file(VERSION),
        };
        ruleset = ruleset.add_rule(PathBeneath::new(opened, access))?;
    }
    Ok(ruleset)
}

/// Adds the function to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(confine, module)?)
}
