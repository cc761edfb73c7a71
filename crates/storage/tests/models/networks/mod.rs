//! Networks at the grains of flows and packets, and their topologies.

mod flow;
mod packet;
mod targets;
mod topologies;
