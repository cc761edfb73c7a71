//! A data server's locks.
//!
//! ```text
//!   received ─▶ [locks or data] ─▶ (lock server) ─▶ [decide] ─▶ send
//!                      └─▶ data
//! ```

use std::collections::BTreeMap;

use headrace_net::{Fcfs, Page, Random, To};
use headrace_spec::Parallel;
use headrace_trace::Operation;

use super::lock_table::{Growth, Lock, LockNotice, Object};
use crate::duplex::Duplex;
use crate::network::Wire;
use crate::time_conversion::span;
use crate::tokens::{Direction, Job, Message};

/// A server's lock tables, by file, target, and number of the object there.
type Tables = BTreeMap<(u32, u16, u32), Object>;

/// Puts the lock server before the server's other work, if there are locks; returns the other
/// messages.
pub fn locks(page: &mut Page<'_>, scenario: &Parallel, outside: Duplex) -> Duplex {
    let Some(spec) = scenario.locks.extent() else {
        return outside;
    };
    let Duplex { send, received } = outside;
    let time = span(spec.time_per_lock);
    let time = move |_: &Job, _: &mut Random<'_>| time;
    let server = page.station("lock server", Fcfs::new(1, time));
    let data = page.place::<Job>("not about locks");
    let (to_locks, to_data): (To<Job>, To<Job>) = (server.into(), data.into());
    page.transition("locks or data").take(received).route(
        [to_locks, to_data],
        move |_, job: &mut Job, ()| match job.message.is_about_locks() {
            true => to_locks,
            false => to_data,
        },
    );
    let tables = page.store("lock tables", |_| Tables::new());
    let growth = Growth::new(spec);
    let wire = Wire::new(&scenario.network).bytes(0);
    page.transition("decide")
        .take(server)
        .with(tables)
        .puts_many(send)
        .fires(move |firing, job: Job, tables| {
            let key = (job.file, job.target, job.pending);
            let object = tables.entry(key).or_default();
            let mut tell = Vec::new();
            match job.message {
                Message::Cancel => object.cancel(job.client, job.request, growth, &mut tell),
                _ => {
                    let lock = Lock {
                        client: job.client,
                        number: job.request,
                        write: job.operation == Operation::Write,
                        start: job.offset,
                        end: job.offset + job.size,
                        called: false,
                    };
                    object.enqueue(lock, growth, &mut tell);
                }
            }
            if object.is_free() {
                tables.remove(&key);
            }
            for tell in tell {
                let (lock, message) = match tell {
                    LockNotice::Granted(lock) => (lock, Message::Granted),
                    LockNotice::Blocking(lock) => (lock, Message::Blocking),
                };
                let told = Job {
                    request: lock.number,
                    client: lock.client,
                    offset: lock.start,
                    size: lock.end - lock.start,
                    wire,
                    operation: match lock.write {
                        true => Operation::Write,
                        false => Operation::Read,
                    },
                    direction: Direction::Back,
                    message,
                    ..job
                };
                firing.put(send, told);
            }
        });
    Duplex {
        send,
        received: data,
    }
}
