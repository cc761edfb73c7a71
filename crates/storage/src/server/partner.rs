//! The devices of a server that its partner reaches too, and serves in its place (active-active
//! failover).
//!
//! ```text
//!   submit ─▶ [own or partner's] ─▶ (devices) ─▶ [whose] ─▶ done
//!                    └─▶ to the partner ┄ ▲ ┄      │          ▲
//!         from the partner ─▶ [serve] ────┘        └─▶ back to the partner ┄▶ [done]
//! ```
//!
//! Each device exists once, for all users: requests of a server that were in progress at its
//! failure are still before its partner's transfers.
//!
//! Not modelled: the paths between machines and devices, which take no time; targets that return to
//! their original server, and a partner that fails too.

use headrace_net::{Node, Page, Port, To};

use super::targets::Targets;
use crate::tokens::Transfer;

/// The process of transfers that a server's partner asked for; the server's own are of
/// process 0.
const FOR_PARTNER: u32 = 1;

/// A server's ways to its partner's devices, and its partner's to its own.
#[derive(Clone, Copy)]
pub struct PartnerPorts {
    asks: Port<Transfer>,
    asked: Port<Transfer>,
    answers: Port<Transfer>,
    answered: Port<Transfer>,
}

impl PartnerPorts {
    /// Joins the servers with their partners.
    pub fn join(self, page: &mut Page<'_>) {
        for (name, from, to) in [
            ("ask partner", self.asks, self.asked),
            ("answer partner", self.answers, self.answered),
        ] {
            let between = page.place::<Transfer>(&format!("to {name}"));
            page.connect(from, between);
            let to = to.by(|transfer: &Transfer| transfer.process);
            page.transition(name)
                .take(between)
                .put(to, |_, transfer: Transfer, ()| transfer);
        }
    }
}

/// Puts the partner's `count` devices, numbered behind a server's own, within its reach.
pub(super) fn shared(page: &mut Page<'_>, count: u32, own: Targets) -> (Targets, PartnerPorts) {
    let ports = PartnerPorts {
        asks: page.output("to partner"),
        asked: page.input("from partner"),
        answers: page.output("back to partner"),
        answered: page.input("back from partner"),
    };
    let count = count as u16;
    let submitted = page.place::<Transfer>("submitted to the pair");
    let (to_own, to_partner): (To<Transfer>, To<Transfer>) = (own.submit, ports.asks.into());
    page.transition("own or partner's").take(submitted).route(
        [to_own, to_partner],
        move |firing, transfer, ()| {
            if transfer.member < count {
                return to_own;
            }
            transfer.member -= count;
            transfer.process = firing.copy() ^ 1;
            to_partner
        },
    );
    let asked = page.place::<Transfer>("asked by partner");
    page.connect(ports.asked, asked);
    page.transition("serve partner")
        .take(asked)
        .put(own.submit, |_, transfer, ()| Transfer {
            process: FOR_PARTNER,
            ..transfer
        });
    let done: Node<Transfer> = page.place("done in the pair");
    let (back, on): (To<Transfer>, To<Transfer>) = (ports.answers.into(), done.into());
    page.transition("whose")
        .take(own.done)
        .route([back, on], move |firing, transfer, ()| {
            if transfer.process != FOR_PARTNER {
                return on;
            }
            transfer.process = firing.copy() ^ 1;
            back
        });
    page.connect(ports.answered, done);
    let submit = submitted.into();
    (Targets { submit, done }, ports)
}
