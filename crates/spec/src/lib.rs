//! The scenario file: what a parallel file system, its workload and a run of it
//! are, in TOML.
//!
//! This crate is the only place where fields of the scenario are declared (in `sections/`, one file
//! each). The same holds for worksheets (`worksheet/`) and catalogues (`catalogue/`) of storage
//! designs. From that declaration come the structs, the error messages, [`explain()`], the JSON
//! [`schema()`] and the [`reference()`] pages.
//!
//! ```
//! let text = r#"
//!     [clients]
//!     count = 64
//!     [servers]
//!     count = 4
//!     device = { read_rate = "60 MB/s", write_rate = "60 MB/s" }
//!     [network]
//!     bandwidth = "1 Gbit/s"
//!     latency = "0.2 ms"
//!     [layout]
//!     unit = "256 KiB"
//!     [[workload]]
//!     block = "1 MiB"
//! "#;
//! let loaded = headrace_spec::load(text, "my.toml".as_ref(), &["clients.count=8".to_owned()])?;
//! assert_eq!(loaded.scenario.clients.count, 8);
//! let parallel = loaded.scenario.parallel().expect("it is one");
//! assert_eq!(parallel.network.bandwidth.0, 125e6);
//! # Ok::<(), headrace_spec::Error>(())
//! ```

pub mod catalogue;
mod declare;
mod document;
mod error;
mod explain;
mod form;
mod limits;
mod links;
mod load;
mod merge;
mod models;
mod names;
mod presets;
mod quantities;
mod read_roots;
mod reference;
mod removed;
mod schema;
mod sections;
mod set;
mod structure;
mod syntax;
mod system_file;
mod tree;
mod values;
mod warnings;
mod workloads;
pub mod worksheet;
mod write;

pub use document::{DocumentKind, LoadedDocument, read_catalogue, read_worksheet};
pub use error::Error;
pub use explain::{Explanation, Row, explain};
pub use limits::{LARGEST_PACKET, MOST_GROUPS, MOST_HOSTS, MOST_JOBS};
pub use links::links;
pub use load::{Loaded, load, load_file, load_measured};
pub use models::models;
pub use presets::presets;
pub use quantities::{Quantified, Quantity, quantities};
pub use reference::{Page, reference};
pub use schema::schema;
pub use sections::*;
pub use values::{
    Amperes, Bytes, Kilograms, Limit, PerGroup, Rate, RatesByConcurrency, Seconds, ServiceTimes,
    Span, VoltAmperes, Volts, Watts, Weighted,
};
pub use warnings::{Caution, cautions};
pub use workloads::workloads;
