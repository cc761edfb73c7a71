//! Storage devices: stations that serve [`Transfer`]s. To add one, write a file
//! with a function that makes its station and name it in [`build`].

mod simple;

use headrace_net::{Node, Page};
use headrace_spec::Device;

use crate::tokens::Transfer;

/// The scenario's device, as a station called "device".
pub fn build(page: &mut Page<'_>, device: &Device) -> Node<Transfer> {
    match device {
        Device::SimpleDevice(simple) => simple::station(page, simple),
    }
}
