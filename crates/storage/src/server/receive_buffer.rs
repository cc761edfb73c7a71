//! A server's receive buffers: a list of jobs for each client.
//!
//! ```text
//!   received ─▶ (receive buffers) ─▶ jobs
//!                     ╎ answered
//!   send ◀─ [answered] ◀─ served
//! ```
//!
//! Jobs are put into their lists one after the other, first come, first served over all clients.
//! The time grows with the length of the client's list (Nguyen 2011, section 7.3.1: PVFS traverses
//! a linked list). A job leaves its list when it is answered.
//!
//! Not modelled: a limit of the lists' size; the processor that traverses them.

use headrace_net::{Discipline, Line, Page, Slot, Span, Station};
use headrace_spec::Parallel;

use crate::duplex::Duplex;
use crate::tokens::Job;

/// The lists of one server.
#[derive(Clone, Debug)]
struct Lists {
    job: Span,
    entry: Span,
    /// Jobs in each client's list.
    entries: Vec<u32>,
    waiting: Line,
    busy: bool,
}

impl Lists {
    fn serve(&mut self, slot: Slot, station: &mut Station<'_, Job>) {
        let entries = self.entries[station.token(slot).client as usize];
        let time = self.job + Span(self.entry.0.saturating_mul(u64::from(entries)));
        station.add_service(slot, time);
        station.wake_in(time, slot.0);
    }
}

impl Discipline<Job> for Lists {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, Job>) {
        let client = station.token(slot).client as usize;
        if self.entries.len() <= client {
            self.entries.resize(client + 1, 0);
        }
        self.entries[client] += 1;
        if self.busy {
            station.push(&mut self.waiting, slot);
        } else {
            self.busy = true;
            station.start_serving();
            self.serve(slot, station);
        }
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, Job>) {
        station.release(Slot(tag));
        if let Some(next) = station.pop(&mut self.waiting) {
            self.serve(next, station);
        } else {
            self.busy = false;
            station.stop_serving();
        }
    }

    fn signal(&mut self, job: &Job, _: &mut Station<'_, Job>) {
        if let Some(entries) = self.entries.get_mut(job.client as usize) {
            *entries = entries.saturating_sub(1);
        }
    }

    fn name(&self) -> String {
        "receive buffers".to_owned()
    }

    fn servers(&self) -> Option<u32> {
        Some(1)
    }
}

/// Puts receive buffers between a server's jobs and its network, if they take any time.
pub fn receive_buffers(page: &mut Page<'_>, scenario: &Parallel, outside: Duplex) -> Duplex {
    let spec = &scenario.servers.receive_buffer;
    let (job, entry) = (spec.time_per_job.0, spec.time_per_entry.0);
    if job == 0.0 && entry == 0.0 {
        return outside;
    }
    let Duplex { send, received } = outside;
    let lists = page.station(
        "receive buffers",
        Lists {
            job: Span::from_seconds(job),
            entry: Span::from_seconds(entry),
            entries: Vec::new(),
            waiting: Line::default(),
            busy: false,
        },
    );
    page.connect(received, lists);
    let served = page.place::<Job>("answered");
    page.transition("leave the list")
        .take(served)
        .signals(lists)
        .put(send, move |firing, job, ()| {
            firing.signal(lists, &job);
            job
        });
    Duplex {
        send: served.into(),
        received: lists,
    }
}
