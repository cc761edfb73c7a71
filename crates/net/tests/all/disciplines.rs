//! Service at stations: signals, messages, barriers, interruptions.

use crate::log::{log_of, watch};
use headrace_net::{
    Barrier, Discipline, Infinite, Line, Message, Priority, Slot, Span, Station, Time,
};

/// Lets one token go at a time, when the last is reported done.
#[derive(Clone, Default)]
struct OneAtATime {
    waiting: Line,
    out: bool,
}

impl Discipline<u32> for OneAtATime {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, u32>) {
        station.push(&mut self.waiting, slot);
        self.next(station);
    }

    fn wake(&mut self, _: u32, _: &mut Station<'_, u32>) {}

    fn signal(&mut self, _: &u32, station: &mut Station<'_, u32>) {
        self.out = false;
        self.next(station);
    }

    fn name(&self) -> String {
        "one at a time".to_owned()
    }
}

impl OneAtATime {
    fn next(&mut self, station: &mut Station<'_, u32>) {
        if !self.out
            && let Some(slot) = station.pop(&mut self.waiting)
        {
            self.out = true;
            station.release(slot);
        }
    }
}

#[test]
fn a_signal_reaches_the_discipline() {
    let log = log_of(|page, log| {
        let queue = page.station("queue", OneAtATime::default());
        let work = page.station("work", Infinite(Span::from_seconds(1.0)));
        page.tokens(queue, |_| [1, 2, 3]);
        page.connect(queue, work);
        page.transition("done")
            .take(work)
            .signals(queue)
            .with(log)
            .fires(move |firing, token, log| {
                log.push(format!("{token} at {}", firing.now()));
                firing.signal(queue, &token);
            });
    });
    assert_eq!(log, ["1 at 1 s", "2 at 2 s", "3 at 3 s"]);
}

/// Tells every other copy of each arrival; releases its token once it has
/// heard from all others.
#[derive(Clone, Default)]
struct Gossip {
    own: Line,
    heard: Vec<(u32, u64, Time)>,
}

impl Discipline<u32> for Gossip {
    fn arrive(&mut self, slot: Slot, station: &mut Station<'_, u32>) {
        station.push(&mut self.own, slot);
        let message = [u64::from(*station.token(slot)), 0, 0, 0];
        let me = station.copy();
        for copy in (0..station.copies()).filter(|&copy| copy != me) {
            station.send(copy, message, Span::from_millis(u64::from(copy) + 1));
        }
    }

    fn wake(&mut self, _: u32, _: &mut Station<'_, u32>) {}

    fn message(&mut self, from: u32, message: Message, station: &mut Station<'_, u32>) {
        self.heard.push((from, message[0], station.now()));
        if self.heard.len() as u32 + 1 == station.copies()
            && let Some(slot) = station.pop(&mut self.own)
        {
            *station.token_mut(slot) += self.heard.iter().map(|heard| heard.1 as u32).sum::<u32>();
            station.release(slot);
        }
    }

    fn name(&self) -> String {
        "gossip".to_owned()
    }
}

#[test]
fn copies_send_each_other_messages() {
    let log = log_of(|page, log| {
        page.fold("scheduler", 3, |page| {
            let gossip = page.station("gossip", Gossip::default());
            page.tokens(gossip, |copy| [10_u32.pow(copy)]);
            watch(page, log, gossip);
        });
    });
    assert_eq!(log, ["111 at 0.001 s", "111 at 0.002 s", "111 at 0.003 s"]);
}

#[test]
fn a_barrier_opens_when_all_are_there() {
    let log = log_of(|page, log| {
        let work = page.station(
            "work",
            Infinite(|&token: &u32, _: &mut headrace_net::Random<'_>| {
                Span::from_seconds(f64::from(token))
            }),
        );
        let barrier = page.station("barrier", Barrier::new(2));
        page.tokens(work, |_| [5, 1, 3, 4]);
        page.connect(work, barrier);
        watch(page, log, barrier);
    });
    assert_eq!(log, ["1 at 3 s", "3 at 3 s", "4 at 5 s", "5 at 5 s"]);
}

#[test]
fn an_urgent_token_interrupts_and_the_other_is_resumed() {
    let write = |preemptive: bool| {
        log_of(move |page, log| {
            let service = Span::from_seconds(10.0);
            let class: fn(&u32) -> u32 = |&token| token / 10;
            let desk = page.station(
                "desk",
                match preemptive {
                    true => Priority::preemptive(1, service, class),
                    false => Priority::new(1, service, class),
                },
            );
            page.tokens(desk, |_| [20, 21]);
            let late = page.station("late", Infinite(Span::from_seconds(4.0)));
            page.tokens(late, |_| [10, 22]);
            page.connect(late, desk);
            watch(page, log, desk);
        })
    };
    assert_eq!(
        write(false),
        ["20 at 10 s", "10 at 20 s", "21 at 30 s", "22 at 40 s"]
    );
    assert_eq!(
        write(true),
        ["10 at 14 s", "20 at 20 s", "21 at 30 s", "22 at 40 s"]
    );
}
