//! Opportunistic locks of CIFS: the clients that may cache a file.
//!
//! - **Exclusive.** A client that has opened a file alone may cache its data and attributes. It
//!   needs no message to stat the file or to reopen it.
//! - **Break.** When another client opens the file, the server breaks the lock. The holder writes
//!   back dirty data and acknowledges. Only then is the other client answered (\[MS-CIFS\],
//!   sections 3.2.5.42 and 3.3.4.2).
//! - **Level II.** From then on both clients may cache what they read (section 3.2.4.18).
//! - **Write.** When one of them writes, no client caches the file any longer, until all have
//!   closed it. Every read, write and stat is a message.
//! - **Close.** A client that closes a file notifies the server. If it holds the file alone, it
//!   keeps the file open instead, until the lock is broken. A program can reopen the file until
//!   then (a batch lock, section 3.2.4.18). A client drops its old cached data when it reopens the
//!   file. A close sends dirty data to the server (Linux, fs/smb/client/file.c, `cifs_flush`); only
//!   `fsync` makes the server store it.
//!
//! The request that has to wait goes to the holder and back:
//!
//! ```text
//!   [collect] ─ nobody has to give it up ─▶ mapped
//!       └─ break ····▶ [give up] ─▶ mapped ─▶ machine: sync ─▶ [sort done] ····▶ mapped
//!          of the opener       of the holder                      of the opener
//! ```
//!
//! A file that is read or written and not opened before stays open.
//!
//! Not modelled: time of the break and its acknowledgement beyond a latency each; the break of
//! level II, for which no client waits; a write in progress when the lock is broken; a lock that
//! returns while others still have the file open; byte-range locks.

use std::collections::BTreeMap;

use headrace_net::{Firing, Node, Page, Port, Span, Time, To};
use headrace_trace::Operation;

use crate::host_pages::JoinPages;
use crate::locks::{NOBODY, Oplocks};
use crate::tokens::{Process, Request};

/// A client's ways for locks to be broken.
#[derive(Clone, Copy)]
pub struct BreakPorts {
    /// To the holder, and where it comes in there.
    asked: Port<Request>,
    asks: Port<Request>,
    /// Back to the opener, and where it comes in there.
    acknowledged: Port<Request>,
    released: Port<Request>,
}

impl BreakPorts {
    /// Joins several pages of clients: gives the ports of all.
    pub(crate) fn of_pages(join: &mut JoinPages<'_, '_>, all: &[BreakPorts]) -> BreakPorts {
        BreakPorts {
            asked: join.output("locks to break", all.iter().map(|it| it.asked)),
            asks: join.input("asked for locks", all.iter().map(|it| it.asks)),
            acknowledged: join.output("locks broken", all.iter().map(|it| it.acknowledged)),
            released: join.input("released locks", all.iter().map(|it| it.released)),
        }
    }

    /// Joins the clients.
    pub fn join(self, page: &mut Page<'_>) {
        // The holder stands in the place of the jobs, of which there are none yet.
        let asks = self.asks.by(|it: &Request| it.pending);
        let released = self.released.by(|it: &Request| it.process.client);
        for (name, transition, from, to) in [
            ("locks to break", "break", self.asked, asks),
            ("locks broken", "acknowledge", self.acknowledged, released),
        ] {
            let place = page.place::<Request>(name);
            page.connect(from, place);
            let under_way = page.transition(transition).take(place);
            under_way.put(to, |_, request: Request, ()| request);
        }
    }
}

/// Requests that wait until another client releases a file.
#[derive(Clone, Copy)]
pub(super) struct Breaking {
    /// The way to the holder.
    pub asked: To<Request>,
    latency: Span,
}

impl Breaking {
    /// A client has opened a file; returns its request if no other client has to release a lock
    /// first.
    pub fn opened(
        self,
        firing: &mut Firing<'_>,
        oplocks: &mut Oplocks,
        request: Request,
    ) -> Option<Request> {
        let program = request.operation == Operation::Open;
        let Some(holder) = oplocks.open(request.file, request.process.client, program) else {
            return Some(request);
        };
        let pending = holder;
        firing.put_after(self.asked, Request { pending, ..request }, self.latency);
        None
    }
}

/// Requests of others for which a client releases locks.
#[derive(Clone, Default)]
struct ReleaseRequests {
    requests: BTreeMap<u32, Request>,
    next: u32,
}

/// Writes a client's actions when locks are broken. Requests go on to `mapped` in their turn, and
/// so does writeback of dirty data. Work that the machine is `done` with is `complete` if a process
/// requested it.
pub(super) fn breaks(
    page: &mut Page<'_>,
    latency: Span,
    mapped: Node<Request>,
    (done, complete): (Node<Request>, To<Request>),
) -> (Breaking, BreakPorts) {
    let ports = BreakPorts {
        asked: page.output("break"),
        asks: page.input("broken"),
        acknowledged: page.output("acknowledge"),
        released: page.input("acknowledged"),
    };
    let given_up = page.store("locks given up", |_| ReleaseRequests::default());
    let asks = page.place("to give up");
    page.connect(ports.asks, asks);
    page.connect(ports.released, mapped);
    page.transition("give up").take(asks).with(given_up).put(
        mapped,
        |firing, request: Request, given_up: &mut ReleaseRequests| {
            let number = given_up.next;
            given_up.next = number.wrapping_add(1);
            given_up.requests.insert(number, request);
            flush(&request, number, firing.now())
        },
    );
    let acknowledge: To<Request> = ports.acknowledged.into();
    page.transition("sort done")
        .take(done)
        .with(given_up)
        .puts_one_of([complete, acknowledge])
        .later()
        .fires(move |firing, request: Request, given_up| {
            if request.process.workload != u32::from(NOBODY) {
                firing.put(complete, request);
            } else if let Some(opener) = given_up.requests.remove(&request.pending) {
                let opener = Request {
                    pending: 0,
                    ..opener
                };
                firing.put_after(acknowledge, opener, latency);
            }
        });
    let breaking = Breaking {
        asked: ports.asked.into(),
        latency,
    };
    (breaking, ports)
}

/// Writes back the dirty data of a file so that another client's request can continue.
fn flush(opener: &Request, number: u32, now: Time) -> Request {
    Request {
        process: Process {
            client: opener.pending,
            workload: u32::from(NOBODY),
            rank: 0,
        },
        offset: 0,
        size: 0,
        intended: now,
        issued: now,
        pending: number,
        compute: 0,
        operation: Operation::Sync,
        ..*opener
    }
}
