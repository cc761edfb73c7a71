//! A server's door to its network: lets messages in and out while the server is there.
//!
//! ```text
//!   received ─▶ [come in] ─▶ jobs          ping ─▶ send
//!   answers ─▶ [go out] ─▶ send
//! ```
//!
//! Not modelled: locks that are not granted while a server is away, and that clients report when it
//! is back.

use headrace_net::Page;
use headrace_trace::Operation;

use super::Failing;
use crate::duplex::Duplex;
use crate::host_pages::HostNumbers;
use crate::tokens::{Direction, Job, Message, Role};

/// Puts a door between a server and its network, if servers fail; the
/// numbers of the servers among all are given.
pub fn availability_gate(
    page: &mut Page<'_>,
    failing: Option<Failing>,
    numbers: HostNumbers,
    outside: Duplex,
) -> Duplex {
    let Some(failing) = failing else {
        return outside;
    };
    let Duplex { send, received } = outside;
    let inside = page.place::<Job>("inside");
    let leaving = page.place::<Job>("leaving");
    let of_all = numbers.clone();
    page.transition("come in")
        .take(received)
        .with(failing.store)
        .may_put(inside)
        .may_put(send)
        .fires(move |firing, job: Job, failures| {
            if job.message.is_about_locks() {
                firing.put(inside, job);
                return;
            }
            let machine = of_all.of(firing.copy());
            let host = failures.world.server_on(machine, &job);
            let hosts = &mut failures.world.hosts;
            if !hosts.is_there(host) || hosts.machine(host) != machine {
                failures.is_lost(firing, &job);
                return;
            }
            if job.message == Message::Ping {
                let direction = Direction::Back;
                firing.put(send, Job { direction, ..job });
                return;
            }
            hosts.enters(host, &job);
            firing.put(inside, job);
        });
    page.transition("go out")
        .take(leaving)
        .with(failing.store)
        .may_put(send)
        .fires(move |firing, job: Job, failures| {
            let host = failures.world.server_on(numbers.of(firing.copy()), &job);
            let locks = job.message.is_about_locks();
            if !locks && !failures.world.hosts.leaves(host, &job) {
                failures.is_lost(firing, &job);
                return;
            }
            let world = &mut failures.world;
            if let Some(repair) = &mut world.repair
                && job.role == Role::Data
                && job.operation == Operation::Write
                && job.direction.answers()
                && job.message == Message::Whole
            {
                for part in world.ways.stored(host, &job) {
                    repair.holds(host, part);
                }
            }
            firing.put(send, job);
        });
    Duplex {
        send: leaving.into(),
        received: inside,
    }
}
