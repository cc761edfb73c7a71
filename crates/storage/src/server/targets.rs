//! The devices of a data server, where it has several behind one card.
//!
//! ```text
//!   submit ─▶ target ×n: [begin] ─▶ (device) ─▶ done
//! ```

use headrace_net::{Node, Page, To};
use headrace_spec::{Parallel, SimpleServer};

use crate::device;
use crate::tokens::Transfer;

/// Input and output of transfers.
#[derive(Clone, Copy)]
pub(super) struct Targets {
    pub submit: To<Transfer>,
    pub done: Node<Transfer>,
}

/// Writes the devices; [`Transfer::member`] says which of them a transfer is for.
pub(super) fn targets(page: &mut Page<'_>, scenario: &Parallel, spec: &SimpleServer) -> Targets {
    let count = scenario.servers.targets;
    if count == 1 {
        let device = device::queued(page, &spec.device, &spec.io_scheduler);
        return Targets {
            submit: device.submit.into(),
            done: device.done,
        };
    }
    let (submit, out) = page.fold("target", count, |page| {
        let submit = page.input("submit");
        let out = page.output("done");
        let submitted = page.place("submitted");
        page.connect(submit, submitted);
        let device = device::queued(page, &spec.device, &spec.io_scheduler);
        page.transition("begin")
            .take(submitted)
            .put(device.submit, |_, transfer: Transfer, ()| Transfer {
                member: 0,
                ..transfer
            });
        page.connect(device.done, out);
        (submit, out)
    });
    let done = page.place("devices done");
    page.connect(out, done);
    Targets {
        submit: submit.by(|transfer: &Transfer| u32::from(transfer.member)),
        done,
    }
}
