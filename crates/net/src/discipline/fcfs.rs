use crate::discipline::{Discipline, ServiceTime, Station};
use crate::slab::{Line, Slot};
use crate::time::Span;
use crate::token::Token;

/// First come, first served, by one or more equal servers.
#[derive(Clone, Debug)]
pub struct Fcfs<S> {
    servers: u32,
    service: S,
    waiting: Line,
    busy: u32,
}

impl<S> Fcfs<S> {
    /// Creates a station with `servers` servers (at least one) and this service time.
    pub fn new(servers: u32, service: S) -> Fcfs<S> {
        Fcfs {
            servers: servers.max(1),
            service,
            waiting: Line::default(),
            busy: 0,
        }
    }
}

impl<T: Token, S: ServiceTime<T>> Discipline<T> for Fcfs<S> {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, T>) {
        if self.busy == self.servers {
            station.push(&mut self.waiting, slot);
            return;
        }
        self.busy += 1;
        station.start_serving();
        let service = station.service(&mut self.service, slot);
        station.wake_in(service, slot.0);
    }

    fn wake(&mut self, tag: u32, station: &mut Station<'_, T>) {
        station.release(Slot(tag));
        if let Some(next) = station.pop(&mut self.waiting) {
            let service = station.service(&mut self.service, next);
            station.wake_in(service, next.0);
        } else {
            self.busy -= 1;
            station.stop_serving();
        }
    }

    fn name(&self) -> String {
        match self.servers {
            1 => "FCFS".to_owned(),
            servers => format!("FCFS, {servers} servers"),
        }
    }

    fn servers(&self) -> Option<u32> {
        Some(self.servers)
    }

    fn service(&self) -> Option<Span> {
        self.service.constant()
    }
}
