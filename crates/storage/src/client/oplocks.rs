//! Opportunistic locks of CIFS: who may cache a file.
//!
//! A client that opens a file alone may cache its data and attributes. When another client opens
//! it, the server breaks the lock: the holder writes back dirty data and acknowledges, and only
//! then is the other one answered (\[MS-CIFS\], sections 3.2.5.42 and 3.3.4.2). From then on, and
//! as long as nobody writes, both may cache what they read (level II, section 3.2.4.18). Once
//! somebody writes, nobody caches anything of it, until all have closed it.
//!
//! A client that closes a file notifies the server, unless it holds the file alone: then it keeps
//! the file open, in case a program opens it again, until the lock is broken (a batch lock, section
//! 3.2.4.18). What a client has cached of a file it drops when it opens it anew.
//!
//! The request that has to wait goes to the holder and back:
//!
//! ```text
//!   [collect] ─ nobody has to give it up ─▶ mapped
//!       └─ break ····▶ [give up] ─▶ mapped ─▶ machine: sync ─▶ [sort done] ····▶ mapped
//!          of the opener       of the holder                      of the opener
//! ```
//!
//! Not modelled: what the break and its acknowledgement take on the wire but a latency each; the
//! break of level II, which nobody waits for; a write that is in progress when the lock is broken;
//! that a client has its lock back if the others have closed the file. A file that is read or
//! written and not opened before stays open.

use std::collections::{BTreeMap, BTreeSet};

use headrace_net::{Firing, Node, Page, Port, Span, Time, To};
use headrace_trace::Operation;

use crate::common::Common;
use crate::localfs::NOBODY;
use crate::tokens::{Process, Request};

/// Permitted caching of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lock {
    /// By this client, reads and writes.
    Exclusive(u32),
    /// By all that have opened it, reads.
    LevelTwo,
    /// By nobody.
    Broken,
}

#[derive(Clone, Debug)]
struct Held {
    lock: Lock,
    /// By client: how often its programs have it open.
    clients: BTreeMap<u32, u32>,
}

/// The server's table of locks. Copies are the same.
#[derive(Clone, Debug)]
pub struct Oplocks {
    files: Common<BTreeMap<u32, Held>>,
    /// Files and clients that have closed them.
    left: Common<BTreeSet<(u32, u32)>>,
    level_two: bool,
}

impl Oplocks {
    /// None held yet; level II is granted or not.
    pub fn new(level_two: bool) -> Oplocks {
        Oplocks {
            files: Common::default(),
            left: Common::default(),
            level_two,
        }
    }

    /// A client opens a file at the server, for a program that does or to read or write it;
    /// gives who has to give up its lock first.
    fn open(&self, file: u32, client: u32, program: bool) -> Option<u32> {
        let mut files = self.files.get();
        let held = files.entry(file).or_insert_with(|| Held {
            lock: Lock::Exclusive(client),
            clients: BTreeMap::new(),
        });
        let opens = held.clients.entry(client).or_default();
        if program || *opens == 0 {
            *opens += 1;
        }
        match held.lock {
            Lock::Exclusive(holder) if holder != client => {
                held.lock = if held.clients.get(&holder) == Some(&0) {
                    // It closes the file now.
                    held.clients.remove(&holder);
                    self.left.get().insert((file, holder));
                    Lock::Exclusive(client)
                } else if self.level_two {
                    Lock::LevelTwo
                } else {
                    Lock::Broken
                };
                Some(holder)
            }
            _ => None,
        }
    }

    /// A program opens a file that its client has open.
    pub(super) fn open_again(&self, file: u32, client: u32) {
        let mut files = self.files.get();
        let held = files.get_mut(&file);
        if let Some(opens) = held.and_then(|it| it.clients.get_mut(&client)) {
            *opens += 1;
        }
    }

    /// A program closes a file; gives whether its client tells the server.
    pub(super) fn close(&self, file: u32, client: u32) -> bool {
        let mut files = self.files.get();
        let Some(held) = files.get_mut(&file) else {
            return false;
        };
        let Some(opens) = held.clients.get_mut(&client) else {
            return false;
        };
        *opens = opens.saturating_sub(1);
        if *opens > 0 || held.lock == Lock::Exclusive(client) {
            return false;
        }
        held.clients.remove(&client);
        self.left.get().insert((file, client));
        if held.clients.is_empty() {
            files.remove(&file);
        }
        true
    }

    /// Returns true if a client opens a file that it had closed: what it has cached of it others
    /// may have changed.
    pub(super) fn comes_back(&self, file: u32, client: u32) -> bool {
        self.left.get().remove(&(file, client))
    }

    /// A client writes a file that it has opened.
    pub(super) fn write(&self, file: u32) {
        if let Some(held) = self.files.get().get_mut(&file)
            && held.lock == Lock::LevelTwo
        {
            held.lock = Lock::Broken;
        }
    }

    /// Returns true if a client knows a file's attributes because nobody can change them.
    pub(super) fn holds(&self, file: u32, client: u32) -> bool {
        self.files
            .get()
            .get(&file)
            .is_some_and(|held| held.clients.contains_key(&client) && held.lock != Lock::Broken)
    }

    /// Returns true if nobody may cache a file.
    pub fn is_broken(&self, file: u32) -> bool {
        let files = self.files.get();
        files.get(&file).is_some_and(|it| it.lock == Lock::Broken)
    }
}

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
    /// A client has opened a file; gives its request back if nobody has to give up a lock
    /// first.
    pub fn opened(
        self,
        firing: &mut Firing<'_>,
        oplocks: &Oplocks,
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

/// Requests of others for which a client gives up locks.
#[derive(Clone, Default)]
struct GivenUpFor {
    requests: BTreeMap<u32, Request>,
    next: u32,
}

/// Writes what a client does when locks are broken: requests go on to `mapped` when it is
/// their turn, and there too what is dirty is written back; what the machine is `done` with
/// is `complete` if it was asked by a process.
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
    let given_up = page.store("locks given up", |_| GivenUpFor::default());
    let asks = page.place("to give up");
    page.connect(ports.asks, asks);
    page.connect(ports.released, mapped);
    page.transition("give up").take(asks).with(given_up).put(
        mapped,
        |firing, request: Request, given_up: &mut GivenUpFor| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lock_is_exclusive_then_shared_then_broken() {
        let locks = Oplocks::new(true);
        assert_eq!(locks.open(7, 0, true), None);
        locks.write(7);
        assert_eq!(locks.open(7, 0, true), None);
        assert!(locks.holds(7, 0) && !locks.holds(7, 1));
        assert_eq!(locks.open(7, 1, true), Some(0));
        assert_eq!(locks.open(7, 2, true), None);
        assert!(locks.holds(7, 0) && locks.holds(7, 1) && !locks.is_broken(7));
        locks.write(7);
        assert!(locks.is_broken(7) && !locks.holds(7, 0));
        assert!(!locks.is_broken(8));
    }

    /// A file may be cached again when all clients have closed it.
    #[test]
    fn a_file_that_all_have_closed_is_as_new() {
        let locks = Oplocks::new(true);
        locks.open(7, 0, true);
        assert!(!locks.close(7, 0) && locks.holds(7, 0));
        // Nobody has to wait for a lock that is not used.
        assert_eq!(locks.open(7, 1, true), Some(0));
        assert!(locks.holds(7, 1) && !locks.holds(7, 0));
        assert!(locks.comes_back(7, 0) && !locks.comes_back(7, 0));
        assert_eq!(locks.open(7, 0, true), Some(1));
        // To read it opens it no more.
        assert_eq!(locks.open(7, 0, false), None);
        locks.write(7);
        assert!(locks.is_broken(7));
        assert!(locks.close(7, 0) && locks.is_broken(7));
        assert!(locks.close(7, 1) && !locks.is_broken(7));
        assert!(!locks.close(7, 1));
        assert_eq!(locks.open(7, 1, true), None);
        assert!(locks.holds(7, 1));
    }

    proptest! {
        /// Never may one client cache writes while another may cache anything.
        #[test]
        fn nobody_else_caches_what_one_may_write(
            level_two: bool,
            steps in prop::collection::vec(
                (0_u32..4, 0_u32..3, any::<bool>(), any::<bool>()), 0..60,
            ),
        ) {
            let locks = Oplocks::new(level_two);
            for (client, file, writes, closes) in steps {
                if closes {
                    locks.close(file, client);
                } else {
                    locks.open(file, client, true);
                    if writes {
                        locks.write(file);
                    }
                }
                for file in 0..3 {
                    let holders = (0..4).filter(|&it| locks.holds(file, it)).count();
                    let lock = locks.files.get().get(&file).map(|it| it.lock);
                    match lock {
                        Some(Lock::Exclusive(_)) => prop_assert_eq!(holders, 1),
                        Some(Lock::LevelTwo) => prop_assert!(level_two && holders > 0),
                        _ => prop_assert_eq!(holders, 0),
                    }
                }
            }
        }
    }
}
