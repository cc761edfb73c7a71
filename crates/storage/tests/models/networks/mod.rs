//! Networks at the grains of flows and packets, and their topologies.

mod credits;
mod flow;
mod grids;
mod packet;
mod ports;
mod rdma;
mod targets;
mod topologies;
