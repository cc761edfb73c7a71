//! A machine whose processes use a local file system.
//!
//! ```text
//!   request ─▶ (processor) ─▶ complete
//! ```

use headrace_net::{Fcfs, Page, Port, Span};
use headrace_spec::Machine;

use crate::tokens::Request;

/// A machine's ways in and out.
#[derive(Clone, Copy)]
pub struct MachinePorts {
    /// Where its processes' requests come in.
    pub request: Port<Request>,
    /// Where they go out when they are done.
    pub complete: Port<Request>,
}

/// Writes the page of a machine.
pub fn machine(page: &mut Page<'_>, spec: &Machine) -> MachinePorts {
    let request = page.input("request");
    let complete = page.output("complete");
    let call = Span::from_seconds(spec.cpu.system_call.0);
    let processor = page.station("processor", Fcfs::new(spec.cpu.cores, call));
    page.connect(request, processor);
    page.connect(processor, complete);
    MachinePorts { request, complete }
}
