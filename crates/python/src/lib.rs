//! Headrace's Python extension module `headrace._core`: thin bindings over the
//! Rust crates. Its types are in `python/headrace/_core.pyi`.

mod columns;
mod confinement;
mod document;
mod errors;
mod guard;
mod jobs;
mod measure;
mod mirror;
mod model;
mod net_functions;
mod network;
mod peers;
mod placement;
mod replacement;
mod rounds;
mod run;
mod scenario;
mod scheduler;
mod survival;
mod trace;

use headrace_load::ExitingAllocator;
use pyo3::prelude::*;

/// Without memory a process ends in one line.
#[global_allocator]
static ALLOCATOR: ExitingAllocator = ExitingAllocator;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    guard::install();
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    errors::register(module)?;
    module.add_function(wrap_pyfunction!(columns::import_numpy, module)?)?;
    confinement::register(module)?;
    scenario::register(module)?;
    document::register(module)?;
    run::register(module)?;
    jobs::register(module)?;
    measure::register(module)?;
    mirror::register(module)?;
    model::register(module)?;
    net_functions::register(module)?;
    network::register(module)?;
    replacement::register(module)?;
    scheduler::register(module)?;
    survival::register(module)?;
    trace::register(module)
}
