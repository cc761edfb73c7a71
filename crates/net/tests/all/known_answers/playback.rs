//! Frames of nets whose state at each instant is known by hand.

use crate::nets::{Booked, net};
use headrace_net::{Fcfs, Limits, Node, NodeFrame, Page, Span, Time};

/// Three tokens go round: 10 µs at the first station, 4 µs at the second.
fn two_stations(page: &mut Page<'_>) -> Node<()> {
    let first = page.station("first", Fcfs::new(1, Span::from_micros(10)));
    let second = page.station("second", Fcfs::new(1, Span::from_micros(4)));
    page.tokens(first, |_| [(); 3]);
    page.connect(first, second);
    page.connect(second, first);
    first
}

/// The first station always works, the second from each departure on for 4 µs.
fn by_hand(micros: u64) -> [NodeFrame; 2] {
    let departures = micros / 10;
    let second_works = micros >= 10 && micros % 10 < 4;
    let there = u64::from(second_works);
    let returns = departures - there;
    let node = |tokens, busy, work: u64, arrivals, waited: u64| NodeFrame {
        tokens,
        most_tokens: tokens,
        queue: tokens - busy,
        most_queue: tokens - busy,
        busy,
        work: u128::from(work) * 1_000_000,
        arrivals,
        waited: u128::from(waited) * 1_000_000,
    };
    let work = 4 * returns + if second_works { micros % 10 } else { 0 };
    [
        node(3 - there, 1, micros, 3 + returns, 2 * micros - work),
        node(there, there, work, departures, 0),
    ]
}

#[test]
fn two_stations_by_hand() {
    let (mut net, _) = net(two_stations);
    net.record_playback(100);
    net.run(&Limits {
        until: Time(60_000_000),
        ..Limits::default()
    })
    .expect("a ring runs");
    let playback = net.playback().expect("it was recorded");
    assert_eq!(playback.frames.len(), 61);
    for (frame, micros) in playback.frames.iter().zip(0..) {
        assert_eq!(frame.time, Time(micros * 1_000_000));
        assert_eq!(frame.nodes, by_hand(micros), "{micros} µs");
        let [first, second] = by_hand(micros);
        assert_eq!(frame.firings, [second.arrivals, first.arrivals - 3]);
    }
}

#[test]
fn a_long_run_has_as_many_frames_as_a_short_one() {
    for seconds in [0.001, 0.01, 0.5] {
        let (mut net, first) = net(two_stations);
        net.record_playback(50);
        // Counts of frames go on where statistics start again.
        net.run(&Limits::until_seconds(seconds / 3.0))
            .expect("a ring runs");
        net.reset_statistics();
        net.run(&Limits::until_seconds(seconds))
            .expect("a ring runs");
        let playback = net.playback().expect("it was recorded");
        assert!(
            (50..=100).contains(&playback.frames.len()),
            "{}",
            playback.frames.len()
        );
        for frame in &playback.frames {
            let micros = frame.time.0 / 1_000_000;
            assert_eq!(frame.nodes, by_hand(micros), "{micros} µs");
        }
        assert!(
            net.node_report(first).arrivals < playback.frames.last().unwrap().nodes[0].arrivals
        );
    }
}

#[test]
fn copies_are_summed_and_the_fullest_is_named() {
    let (mut net, ()) = net(|page| {
        page.fold("desk", 3, |page| {
            let desk = page.station("desk", Fcfs::new(2, Span::from_micros(1_000)));
            page.tokens(desk, |copy| vec![(); copy as usize * 3]);
            page.sink(desk);
        });
    });
    net.record_playback(4);
    net.run(&Limits {
        until: Time(2_500_000),
        ..Limits::default()
    })
    .expect("desks work");
    let playback = net.playback().expect("it was recorded");
    let node = &playback.structure.page.pages[0].nodes[0];
    assert_eq!((node.copies, node.servers), (3, Some(2)));
    // 0, 3 and 6 tokens at two servers each.
    let [desk] = playback.frames[1].nodes[..] else {
        panic!("one station")
    };
    assert_eq!((desk.tokens, desk.most_tokens), (9, 6));
    assert_eq!((desk.queue, desk.most_queue, desk.busy), (5, 4, 4));
}

#[test]
fn booked_work_keeps_the_server_busy_until_its_end() {
    let (mut net, ()) = net(|page| {
        let desk = page.station("desk", Booked(Span::from_micros(1)));
        page.tokens(desk, |_| [(); 3]);
        page.sink(desk);
    });
    net.record_playback(10);
    net.run(&Limits {
        until: Time(5_000_000),
        ..Limits::default()
    })
    .expect("the desk works");
    let playback = net.playback().expect("it was recorded");
    let seen = playback.frames.iter().map(|it| {
        let desk = it.nodes[0];
        (desk.tokens, desk.queue, desk.busy, desk.work / 1_000_000)
    });
    // A sink keeps its tokens.
    let by_hand = [
        (3, 2, 1, 0),
        (3, 1, 1, 1),
        (3, 0, 1, 2),
        (3, 0, 0, 3),
        (3, 0, 0, 3),
        (3, 0, 0, 3),
    ];
    assert_eq!(seen.collect::<Vec<_>>(), by_hand);
}
