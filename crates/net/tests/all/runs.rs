//! Ends of runs and their reports: stop conditions, warm-up, statistics, tallies.

use crate::nets::{Booked, net};
use headrace_net::{
    Exponential, Fcfs, Infinite, Limits, Node, Page, Precision, Sharing, Span, Stop, TallyId, Time,
};

/// One token that takes a second for each turn and records the time it ends.
fn clock(page: &mut Page<'_>) -> (Node<()>, TallyId) {
    let wheel = page.station("wheel", Fcfs::new(1, Span::from_seconds(1.0)));
    let turns = page.tally("turns");
    page.tokens(wheel, |_| [()]);
    page.transition("turn")
        .take(wheel)
        .put(wheel, move |firing, (), ()| {
            let now = firing.now().as_seconds();
            firing.record(turns, now);
        });
    (wheel, turns)
}

#[test]
fn all_that_is_due_by_the_limit_has_happened() {
    let (mut net, (_, turns)) = net(clock);
    assert_eq!(net.run(&Limits::until_seconds(3.0)), Ok(Stop::Time));
    assert_eq!(net.now(), Time::from_seconds(3.0));
    assert_eq!(net.tally(turns).count(), 3);
    assert_eq!(net.run(&Limits::until_seconds(3.5)), Ok(Stop::Time));
    assert_eq!(net.now(), Time::from_seconds(3.5));
    assert_eq!(net.tally(turns).count(), 3);
}

#[test]
fn a_limit_in_the_past_leaves_the_clock_alone() {
    let (mut net, (wheel, _)) = net(clock);
    assert_eq!(net.run(&Limits::until_seconds(3.5)), Ok(Stop::Time));
    assert_eq!(net.run(&Limits::until_seconds(1.0)), Ok(Stop::Time));
    assert_eq!(net.now(), Time::from_seconds(3.5));
    assert_eq!(net.node_report(wheel).utilisation, 1.0);
}

#[test]
fn a_run_in_pieces_is_the_run_in_one() {
    let write = |page: &mut Page<'_>| {
        let think = page.station("think", Infinite(Exponential(Span::from_millis(5))));
        let serve = page.station("serve", Sharing::new(1, Exponential(Span::from_millis(1))));
        page.tokens(think, |_| 0..8_u32);
        page.connect(think, serve);
        page.connect(serve, think);
    };
    let (mut whole, ()) = net(write);
    whole
        .run(&Limits::until_seconds(10.0))
        .expect("a ring runs");
    let (mut pieces, ()) = net(write);
    for piece in 1..=1000 {
        let limits = Limits::until_seconds(f64::from(piece) / 100.0);
        assert_eq!(pieces.run(&limits), Ok(Stop::Time));
    }
    assert_eq!(pieces.reports(), whole.reports());
    assert_eq!(pieces.firings(), whole.firings());
}

#[test]
fn a_count_ends_the_run_at_once() {
    let (mut net, (_, turns)) = net(clock);
    let limits = Limits {
        count: Some((turns, 5)),
        ..Limits::default()
    };
    assert_eq!(net.run(&limits), Ok(Stop::Count));
    assert_eq!(
        (net.tally(turns).count(), net.now()),
        (5, Time::from_seconds(5.0))
    );
}

#[test]
fn a_mean_known_well_enough_ends_the_run() {
    let (mut net, (_, stays)) = net(|page| {
        let serve = page.station("serve", Fcfs::new(1, Exponential(Span::from_millis(1))));
        let stays = page.tally("stays");
        page.tokens(serve, |_| [Time::ZERO]);
        page.transition("next")
            .take(serve)
            .put(serve, move |firing, began, ()| {
                let now = firing.now();
                firing.record(stays, now.since(began).as_seconds());
                now
            });
        (serve, stays)
    });
    let precision = |relative| Limits {
        precision: Some(Precision {
            tally: stays,
            relative,
            confidence: 0.95,
        }),
        ..Limits::default()
    };
    assert_eq!(net.run(&precision(0.05)), Ok(Stop::Precision));
    let rough = net.tally(stays).count();
    assert_eq!(net.run(&precision(0.002)), Ok(Stop::Precision));
    let tally = net.tally(stays);
    assert!(tally.count() > 4 * rough, "{rough} and {}", tally.count());
    let half_width = tally.half_width(0.95).expect("there are batches");
    assert!(half_width <= 0.002 * tally.mean());
    assert!((tally.mean() - 1e-3).abs() < 5e-6, "{}", tally.mean());
    assert!((tally.deviation() - 1e-3).abs() < 2e-5);
}

#[test]
fn a_net_that_comes_to_rest_is_quiet() {
    let write = |page: &mut Page<'_>| {
        let work = page.station("work", Fcfs::new(1, Span::from_millis(10)));
        let idle = page.place("idle");
        page.tokens(work, |_| 0..3_u32);
        page.connect(work, idle);
        page.sink(idle);
    };
    let (mut quiet, ()) = net(write);
    assert_eq!(quiet.run(&Limits::default()), Ok(Stop::Quiet));
    assert_eq!(quiet.now(), Time::from_seconds(0.03));
    // With a time limit, time passes until then.
    let (mut timed, ()) = net(write);
    assert_eq!(timed.run(&Limits::until_seconds(1.0)), Ok(Stop::Time));
    assert_eq!(timed.now(), Time::from_seconds(1.0));
}

#[test]
fn tokens_may_rest_where_this_is_said() {
    let write = |rest: bool| {
        let (mut net, ()) = net(|page| {
            let credits = page.place::<()>("credits");
            let wanted = page.place::<()>("wanted");
            page.tokens(credits, |_| [(); 2]);
            page.tokens(wanted, |_| []);
            page.transition("use")
                .take(credits)
                .take(wanted)
                .fires(|_, _, ()| ());
            if rest {
                page.rest(credits);
            }
        });
        net.run(&Limits::default())
            .map_err(|error| error.to_string())
    };
    assert_eq!(write(true), Ok(Stop::Quiet));
    assert!(write(false).is_err());
}

#[test]
fn a_transition_asks_for_the_end() {
    let (mut net, (tokens, wheel)) = net(|page| {
        let wheel = page.station("wheel", Fcfs::new(1, Span::from_seconds(1.0)));
        page.tokens(wheel, |_| [0]);
        page.transition("turn")
            .take(wheel)
            .put(wheel, |firing, turns, ()| {
                if turns == 6 {
                    firing.stop();
                }
                turns + 1
            });
        (0, wheel)
    });
    assert_eq!(tokens, 0);
    assert_eq!(net.run(&Limits::default()), Ok(Stop::Asked));
    assert_eq!(net.now(), Time::from_seconds(7.0));
    // It is not asked again.
    assert_eq!(net.run(&Limits::until_seconds(9.0)), Ok(Stop::Time));
    assert_eq!(net.node_report(wheel).arrivals, 10);
}

#[test]
fn who_asks_for_the_end_is_heard_before_a_count() {
    let (mut net, turns) = net(|page| {
        let wheel = page.station("wheel", Fcfs::new(1, Span::from_seconds(1.0)));
        let turns = page.tally("turns");
        page.tokens(wheel, |_| [()]);
        page.transition("turn")
            .take(wheel)
            .put(wheel, move |firing, (), ()| {
                firing.record(turns, 1.0);
                firing.stop();
            });
        turns
    });
    let limits = Limits {
        count: Some((turns, 1)),
        ..Limits::default()
    };
    assert_eq!(net.run(&limits), Ok(Stop::Asked));
    assert_eq!(net.run(&Limits::until_seconds(1.5)), Ok(Stop::Time));
}

#[test]
fn areas_and_counts_start_again_after_a_warm_up() {
    // Two tokens, one server of one second: always one served, one waiting.
    let (mut net, (wheel, turns)) = net(|page| {
        let handles = clock(page);
        page.tokens(handles.0, |_| [()]);
        handles
    });
    net.run(&Limits::until_seconds(10.25)).expect("a ring runs");
    net.reset_statistics();
    let report = net.node_report(wheel);
    assert_eq!((report.arrivals, report.inside), (0, 2));
    assert_eq!(
        (report.mean_inside, report.residence, report.utilisation),
        (0.0, None, 0.0)
    );
    assert_eq!(net.tally(turns).count(), 0);
    net.run(&Limits::until_seconds(20.25)).expect("a ring runs");
    let report = net.node_report(wheel);
    assert_eq!(net.measured(), Span::from_seconds(10.0));
    assert_eq!((report.arrivals, report.departures), (10, 10));
    assert_eq!(report.mean_inside, 2.0);
    assert_eq!(report.residence, Some(2.0));
    assert_eq!(report.service, Some(1.0));
    assert_eq!(report.utilisation, 1.0);
    assert_eq!(report.mean_queue, 1.0);
    assert_eq!(net.tally(turns).count(), 10);
    assert_eq!(net.tally(turns).least(), 11.0);
    let firings: Vec<(&str, u64)> = net.transition_firings().collect();
    assert_eq!(firings, [("main/turn", 10)]);
}

#[test]
fn booked_work_counts_when_it_is_done() {
    let (mut net, desk) = net(|page| {
        let desk = page.station("desk", Booked(Span::from_seconds(1.0)));
        page.tokens(desk, |_| [(); 10]);
        page.sink(desk);
        desk
    });
    // Served in [0, 1], [1, 2], …, [9, 10].
    let mut utilisation = |until| {
        net.run(&Limits::until_seconds(until))
            .expect("the desk works");
        net.node_report(desk).utilisation * net.measured().as_seconds()
    };
    for (until, worked) in [(0.5, 0.5), (1.5, 1.5), (3.25, 3.25), (8.0, 8.0)] {
        assert!((utilisation(until) - worked).abs() < 1e-9, "{until}");
    }
    // A reset during a service.
    net.run(&Limits::until_seconds(9.25))
        .expect("the desk works");
    net.reset_statistics();
    let mut utilisation = |until| {
        net.run(&Limits::until_seconds(until))
            .expect("the desk works");
        net.node_report(desk).utilisation * net.measured().as_seconds()
    };
    for (until, worked) in [(9.5, 0.25), (10.5, 0.75), (25.0, 0.75)] {
        assert!((utilisation(until) - worked).abs() < 1e-9, "{until}");
    }
}

#[test]
fn utilisation_stays_between_nothing_and_all() {
    let (mut net, stations) = net(|page| {
        let think = page.station("think", Infinite(Exponential(Span::from_millis(2))));
        let two = page.station("two", Fcfs::new(2, Exponential(Span::from_millis(3))));
        let shared = page.station("shared", Sharing::new(2, Exponential(Span::from_millis(2))));
        page.tokens(think, |_| 0..9_u32);
        page.connect(think, two);
        page.connect(two, shared);
        page.connect(shared, think);
        [two, shared]
    });
    for step in 1..=2000 {
        net.run(&Limits::until_seconds(f64::from(step) / 1000.0))
            .expect("a ring runs");
        for station in stations {
            let report = net.node_report(station);
            for utilisation in [report.utilisation, report.most_utilisation] {
                assert!((0.0..=1.0).contains(&utilisation), "{step}: {report:?}");
            }
        }
        if step % 7 == 0 {
            net.reset_statistics();
        }
    }
}

#[test]
fn a_busiest_copy_is_told_from_the_mean() {
    let (mut net, disk) = net(|page| {
        page.fold("server", 4, |page| {
            let disk = page.station("disk", Fcfs::new(1, Span::from_millis(500)));
            page.tokens(disk, |copy| (copy == 2).then_some(copy));
            page.sink(disk);
            disk
        })
    });
    net.run(&Limits::until_seconds(1.0))
        .expect("the disk works");
    let report = net.node_report(disk);
    assert_eq!((report.utilisation, report.most_utilisation), (0.125, 0.5));
    assert_eq!((report.copies, report.servers), (4, Some(1)));
    assert_eq!(report.path, "main/server/disk");
    assert_eq!(report.discipline.as_deref(), Some("FCFS"));
}

#[test]
fn tallies_tell_count_mean_spread_and_range() {
    let (mut net, turns) = net(|page| clock(page).1);
    net.run(&Limits::until_seconds(5.0)).expect("a clock runs");
    let tally = net.tally(turns);
    assert_eq!(
        (tally.path(), tally.count(), tally.mean()),
        ("main/turns", 5, 3.0)
    );
    assert_eq!((tally.least(), tally.most()), (1.0, 5.0));
    assert!((tally.deviation() - 2.5_f64.sqrt()).abs() < 1e-12);
    assert_eq!(tally.half_width(0.95), None);
}

#[test]
fn memory_is_that_of_the_tokens_present_not_of_those_that_came() {
    let (mut net, ()) = net(|page| {
        let wheel = page.station("wheel", Fcfs::new(1, Span::from_millis(1)));
        page.tokens(wheel, |_| 0..100_u64);
        page.connect(wheel, wheel);
    });
    net.run(&Limits::until_seconds(1.0)).expect("a ring runs");
    let before = net.memory();
    net.run(&Limits::until_seconds(100.0)).expect("a ring runs");
    assert_eq!(net.memory(), before);
    let (bytes, tokens) = before;
    assert_eq!(tokens, 100);
    // Two numbers of 8 bytes, and the times of arrival and of service.
    assert!(bytes / tokens < 48, "{bytes} bytes");
}
