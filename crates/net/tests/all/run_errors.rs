//! Every way in which a run can fail, with the whole message.

use std::ops::ControlFlow;

use headrace_net::{
    Builder, Discipline, Fcfs, Infinite, Limits, Net, Page, Priority, RunError, Slot, Span,
    Station, Stop, Time,
};

fn net(write: impl FnOnce(&mut Page<'_>)) -> Net {
    let mut builder = Builder::new("main", 1);
    write(&mut builder.root());
    builder.compile().expect("a sound net")
}

fn complaint(write: impl FnOnce(&mut Page<'_>)) -> String {
    let error = net(write).run(&Limits::default()).err();
    error.map_or_else(String::new, |error| error.to_string())
}

#[test]
fn a_loop_without_time_names_its_cycle() {
    let mut net = net(|page| {
        let one = page.station("one", Infinite(Span::from_millis(1)));
        let two = page.place("two");
        let three = page.place("three");
        page.tokens(one, |_| [()]);
        page.connect(one, two);
        page.transition("there")
            .take(two)
            .put(three, |_, (), ()| ());
        page.transition("and back")
            .take(three)
            .put(two, |_, (), ()| ());
    });
    let limits = Limits {
        firings_in_an_instant: 1000,
        ..Limits::default()
    };
    assert_eq!(
        net.run(&limits).map_err(|error| error.to_string()),
        Err(
            "endless loop at 0.001 s: 1001 firings while time stands still, in the cycle \
             main/there → main/and back → main/there"
                .to_owned()
        )
    );
}

#[test]
fn many_firings_in_one_instant_are_no_loop_by_default() {
    let message = complaint(|page| {
        let from = page.place("from");
        let to = page.place("to");
        page.tokens(from, |_| 0..1_000_000);
        page.connect(from, to);
        page.sink(to);
    });
    assert_eq!(message, "");
}

/// Wakes itself for ever.
#[derive(Clone)]
struct Restless;

impl Discipline<()> for Restless {
    fn arrive(&mut self, _: Slot, station: &mut Station<'_, ()>) {
        station.wake_in(Span::ZERO, 0);
    }

    fn wake(&mut self, _: u32, station: &mut Station<'_, ()>) {
        station.wake_in(Span::ZERO, 0);
    }

    fn name(&self) -> String {
        "restless".to_owned()
    }
}

#[test]
fn a_discipline_that_wakes_itself_for_ever_is_named() {
    let mut net = net(|page| {
        let station = page.station("station", Restless);
        page.tokens(station, |_| [()]);
        page.sink(station);
    });
    let limits = Limits {
        firings_in_an_instant: 10,
        ..Limits::default()
    };
    assert_eq!(
        net.run(&limits).map_err(|error| error.to_string()),
        Err(
            "endless loop at 0 s: 11 firings while time stands still, in the cycle main/station"
                .to_owned()
        )
    );
}

fn deadlock(page: &mut Page<'_>) {
    let rows = page.fold("philosopher", 3, |page| {
        let left = page.place::<()>("left fork");
        let hungry = page.station("hungry", Infinite(Span::from_millis(2)));
        let right = page.place::<()>("right fork");
        page.tokens(hungry, |_| [()]);
        page.tokens(left, |_| [()]);
        let waiting = page.place::<()>("waiting");
        page.transition("take left")
            .take(hungry)
            .take(left)
            .put(waiting, |_, _, ()| ());
        page.transition("take right")
            .take(waiting)
            .take(right)
            .put(right, |_, _, ()| ());
        right
    });
    let spare = page.place::<()>("spare");
    page.tokens(spare, |_| [()]);
    page.rest(spare);
    let never = page.place::<()>("never");
    page.tokens(never, |_| []);
    page.transition("help")
        .take(spare)
        .take(never)
        .put(rows.by(|()| 0), |_, _, ()| ());
}

#[test]
fn a_deadlock_says_where_tokens_stand() {
    assert_eq!(
        complaint(deadlock),
        "deadlock at 0.002 s: no event is pending, but tokens wait in \
         main/philosopher/waiting (3)"
    );
}

#[test]
fn a_deadlock_is_one_also_under_a_time_limit() {
    let result = net(deadlock).run(&Limits::until_seconds(1.0));
    assert!(
        matches!(result, Err(RunError::Deadlock { .. })),
        "{result:?}"
    );
}

#[test]
fn a_copy_that_is_not_there() {
    let message = complaint(|page| {
        let start = page.place("start");
        page.tokens(start, |_| [3_u32]);
        let inner = page.fold("server", 3, |page| {
            let inner = page.place::<u32>("inner");
            page.sink(inner);
            inner
        });
        page.transition("send")
            .take(start)
            .put(inner.by(|&token| token), |_, token, ()| token);
    });
    assert_eq!(
        message,
        "main/server/inner: a token chose copy 3, but there are only 3"
    );
}

/// Sends a message to a copy that is not there.
#[derive(Clone)]
struct Astray;

impl Discipline<()> for Astray {
    fn arrive(&mut self, _: Slot, station: &mut Station<'_, ()>) {
        station.send(station.copies(), [0; 4], Span::ZERO);
    }

    fn wake(&mut self, _: u32, _: &mut Station<'_, ()>) {}

    fn name(&self) -> String {
        "astray".to_owned()
    }
}

#[test]
fn a_message_to_a_copy_that_is_not_there() {
    let message = complaint(|page| {
        page.fold("server", 2, |page| {
            let station = page.station("station", Astray);
            page.tokens(station, |_| [()]);
            page.sink(station);
        });
    });
    assert_eq!(
        message,
        "main/server/station: a token chose copy 2, but there are only 2"
    );
}

#[test]
fn a_transition_that_fails() {
    let message = complaint(|page| {
        let place = page.place("place");
        page.tokens(place, |_| [()]);
        page.page("server", |page| {
            page.transition("check")
                .take(place)
                .fires(|firing, (), ()| {
                    firing.fail("file 3: block 7 is read but was never written");
                    firing.fail("and this comes too late");
                });
        });
    });
    assert_eq!(
        message,
        "main/server/check: file 3: block 7 is read but was never written"
    );
}

/// Fails when a token comes.
#[derive(Clone)]
struct Strict;

impl Discipline<()> for Strict {
    fn arrive(&mut self, _: Slot, station: &mut Station<'_, ()>) {
        station.fail("weights: none for this group");
    }

    fn wake(&mut self, _: u32, _: &mut Station<'_, ()>) {}

    fn name(&self) -> String {
        "strict".to_owned()
    }
}

#[test]
fn a_discipline_that_fails_is_named_itself() {
    let expected = "main/strict: weights: none for this group";
    // When a transition puts into it,
    let message = complaint(|page| {
        let place = page.place("place");
        let strict = page.station("strict", Strict);
        page.tokens(place, |_| [()]);
        page.connect(place, strict);
        page.sink(strict);
    });
    assert_eq!(message, expected);
    // when a delayed token arrives,
    let message = complaint(|page| {
        let place = page.place("place");
        let strict = page.station("strict", Strict);
        page.tokens(place, |_| [()]);
        page.transition("send")
            .take(place)
            .puts(strict)
            .later()
            .fires(move |firing, (), ()| {
                firing.put_after(strict, (), Span::from_millis(1));
            });
        page.sink(strict);
    });
    assert_eq!(message, expected);
    // and when the token is there from the start.
    let message = complaint(|page| {
        let strict = page.station("strict", Strict);
        page.tokens(strict, |_| [()]);
        page.sink(strict);
    });
    assert_eq!(message, expected);
}

#[test]
fn time_has_an_end() {
    let message = complaint(|page| {
        let slow = page.station("slow", Fcfs::new(1, Span::from_seconds(100.0 * 86_400.0)));
        page.tokens(slow, |_| [()]);
        page.connect(slow, slow);
    });
    assert_eq!(
        message,
        "main/slow: a token would have to wait for longer than 213 days, the most that simulated \
         time can hold"
    );
    // The same for a token put with a delay, and for one there from the start.
    for write in [
        (|page| {
            let place = page.place("place");
            let slow = page.place("slow");
            page.tokens(place, |_| [()]);
            page.transition("send")
                .take(place)
                .puts(slow)
                .fires(move |firing, (), ()| {
                    firing.put_after(slow, (), Span::from_seconds(1e9));
                });
            page.sink(slow);
        }) as fn(&mut Page<'_>),
        |page| {
            let slow = page.station("slow", Infinite(Span::from_seconds(1e9)));
            page.tokens(slow, |_| [()]);
            page.sink(slow);
        },
    ] {
        let message = complaint(write);
        assert!(
            message.starts_with("main/slow: a token would have to wait"),
            "{message}"
        );
    }
}

#[test]
fn an_interrupted_run_can_go_on() {
    let ring = |page: &mut Page<'_>| {
        let place = page.station("place", Fcfs::new(1, Span::from_millis(1)));
        page.tokens(place, |_| [()]);
        page.connect(place, place);
    };
    let mut whole = net(ring);
    whole
        .run(&Limits::until_seconds(100.0))
        .expect("a ring runs");
    let mut broken = net(ring);
    let result = broken.run_watched(&Limits::until_seconds(100.0), &mut |progress| {
        if progress.steps == 0 {
            return ControlFlow::Continue(());
        }
        assert_eq!(progress.steps, 65_536);
        ControlFlow::Break(())
    });
    let Err(error @ RunError::Interrupted { time }) = result else {
        panic!("{result:?}");
    };
    assert_eq!(time, Time::from_seconds(32.768));
    assert_eq!(
        error.to_string(),
        "interrupted at 32.768 s of simulated time"
    );
    assert_eq!(broken.run(&Limits::until_seconds(100.0)), Ok(Stop::Time));
    assert_eq!(broken.reports(), whole.reports());
}

#[test]
fn a_class_is_a_number_and_no_error() {
    let message = complaint(|page| {
        let desk = page.station("desk", Priority::new(1, Span::ZERO, |&class| class));
        page.tokens(desk, |_| [u32::MAX, 0, 7]);
        page.sink(desk);
    });
    assert_eq!(message, "");
}
