//! Networks: what carries jobs between clients and servers.
//!
//! To add a topology, write a file with a function that returns a [`Network`],
//! and name it in [`build`].

mod link;
mod pairs;
mod star;

pub use link::{Link, Side, Wire};

use headrace_net::{Page, Port, To};
use headrace_spec::{Scenario, Topology};

use crate::tokens::Job;

/// The hosts that a network connects, by kind.
#[derive(Clone, Copy, Debug)]
pub struct Hosts {
    /// Clients.
    pub clients: u32,
    /// Data servers.
    pub servers: u32,
    /// Metadata servers.
    pub metadata: u32,
}

/// A network's ways in and out. Jobs choose their host by their own fields.
pub struct Network {
    /// Where clients send.
    pub from_clients: To<Job>,
    /// Where data servers send.
    pub from_servers: To<Job>,
    /// Where metadata servers send.
    pub from_metadata: To<Job>,
    /// What arrives at clients.
    pub to_clients: Port<Job>,
    /// What arrives at data servers.
    pub to_servers: Port<Job>,
    /// What arrives at metadata servers.
    pub to_metadata: Port<Job>,
}

/// Builds the scenario's network as a page.
pub fn build(page: &mut Page<'_>, scenario: &Scenario, hosts: Hosts) -> Network {
    page.page("network", |page| match scenario.network.topology {
        Topology::Star => star::star(page, scenario, hosts),
        Topology::Pairs => pairs::pairs(page, scenario, hosts),
    })
}

fn client(job: &Job) -> u32 {
    job.client
}

fn server(job: &Job) -> u32 {
    job.server
}
