//! The whole scenario.

use crate::declare::{Tables, section};
use crate::presets::{self, PresetName};
use crate::sections::{Clients, Layout, Metadata, Network, Run, Scheduler, Servers, Workload};
use crate::tree::{Node, Table};

section! {
    /// A parallel file system, the work it is given, and how to run it.
    pub struct Scenario {
        /// What the scenario is called in tables and plots.
        name: String = supplied("the file's name without its ending") aka ["title"],
        /// What the scenario is for.
        description: String = default("", "nothing is described"),
        /// The preset that fills what the file does not give.
        system: String as PresetName = default(presets::DEFAULT, "nothing costs anything that is not given") aka ["preset"],
        /// The machines that ask.
        clients: Clients = section() aka ["client"],
        /// The machines that hold the data.
        servers: Servers = section() aka ["server"],
        /// The machines that know where the data is.
        metadata: Metadata = section(),
        /// What connects them.
        network: Network = section(),
        /// Which server holds which part of a file.
        layout: Layout = section() aka ["striping", "distribution"],
        /// Who decides which job is served next.
        scheduler: Scheduler = section(),
        /// What the clients do; several run side by side.
        workload: Vec<Workload> as Tables<Workload> = required([example()])
            aka ["workloads"],
        /// How the simulation is run.
        run: Run = section() aka ["simulation"],
    }
}

/// The shortest workload there is.
fn example() -> Table {
    let mut workload = Table::default();
    workload.push("kind", Node::plain("ior".into()));
    workload.push("block", Node::plain("1 MiB".into()));
    workload
}
