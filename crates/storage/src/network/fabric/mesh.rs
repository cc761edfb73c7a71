//! A mesh: lines of switches in every dimension. See [`super::grid`].

use headrace_spec::{Mesh, Rate};

use super::grid;
use super::{Links, Routes};
use crate::network::Hosts;

/// Adds the links between the switches.
pub(super) fn routes(
    spec: &Mesh,
    hosts: Hosts,
    bandwidth: Rate,
    links: &mut Links,
) -> Box<dyn Routes> {
    let rate = spec.bandwidth.unwrap_or(bandwidth);
    grid::routes(spec.grid(), hosts, rate, spec.latency, links)
}
