//! The whole scenario.

use crate::declare::{Tables, kinds, section};
use crate::presets::{self, PresetName};
use crate::sections::{Calibration, Check, Clients, Lab, Layout, Local, Parallel, Run, Workload};
use crate::tree::{Node, Table};

section! {
    /// A storage system, the work it is given, and how to run it.
    pub struct Scenario {
        /// Name of the scenario in tables and plots.
        name: String = supplied("the file's name without its ending") aka ["title"],
        /// Description of the scenario.
        description: String = default("", "nothing is described"),
        /// The preset that fills what the file does not give.
        system: String as PresetName = default(presets::DEFAULT, "nothing costs anything that is not given") aka ["preset"],
        /// The machines that run the workload.
        clients: Clients = section() aka ["client"],
        /// Kind of system that holds the clients' files.
        #[serde(flatten)]
        kind: SystemKind = kinds(),
        /// Workloads of the clients; several run concurrently.
        workload: Vec<Workload> as Tables<Workload> = required([example()])
            aka ["workloads"],
        /// Uncertainty of measured values.
        calibration: Option<Vec<Calibration>> as Option<Tables<Calibration>> = optional("values are exact"),
        /// Validation of the system on cases outside its calibration.
        check: Option<Vec<Check>> as Option<Tables<Check>> = optional("the model is exact"),
        /// Testbed of the scenario on one machine.
        lab: Lab = section(),
        /// Settings of the simulation run.
        run: Run = section() aka ["simulation"],
    }
}

kinds! {
    /// The kinds of storage systems.
    pub enum SystemKind default "parallel", "clients and servers on a network" {
        Parallel = "parallel",
        Local = "local",
    }
}

impl Scenario {
    /// The parallel file system, if it is one.
    #[must_use]
    pub fn parallel(&self) -> Option<&Parallel> {
        match &self.kind {
            SystemKind::Parallel(parallel) => Some(parallel),
            SystemKind::Local(_) => None,
        }
    }

    /// Bytes of the largest job for a file of this layout, if there is a limit.
    #[must_use]
    pub fn largest_job(&self, layout: &Layout) -> Option<u64> {
        let packet = layout.packet.map(|packet| packet.0);
        let request = Some(self.clients.rpc.size.0).filter(|size| *size > 0);
        packet.into_iter().chain(request).min()
    }

    /// The local file system, if it is one.
    #[must_use]
    pub fn local(&self) -> Option<&Local> {
        match &self.kind {
            SystemKind::Local(local) => Some(local),
            SystemKind::Parallel(_) => None,
        }
    }
}

/// The shortest workload there is.
fn example() -> Table {
    let mut workload = Table::default();
    workload.push("kind", Node::plain("ior".into()));
    workload.push("block", Node::plain("1 MiB".into()));
    workload
}
