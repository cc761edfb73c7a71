//! Recording changes no run, and each frame is what a run has that stops there.

use headrace_net::{Frame, Limits, Net, Stop, Time};
use proptest::prelude::*;

use super::random_net::{build, plan};

/// The state of a net that stands still, as a frame has it: tokens and arrivals by node, and
/// firings.
type State = (Vec<(u64, u64)>, Vec<u64>);

fn state(net: &Net) -> State {
    let nodes = net.reports().into_iter().map(|it| (it.inside, it.arrivals));
    let firings = net.transition_firings().map(|(_, firings)| firings);
    (nodes.collect(), firings.collect())
}

fn state_of(frame: &Frame) -> State {
    let nodes = frame.nodes.iter().map(|it| (it.tokens, it.arrivals));
    (nodes.collect(), frame.firings.clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn recording_changes_nothing(plan in plan(), seed in 0_u64..1000, frames in 0_u32..40) {
        let mut plain = build(&plan, seed);
        let mut recorded = build(&plan, seed);
        recorded.net.record_playback(frames);
        for built in [&mut plain, &mut recorded] {
            prop_assert_eq!(built.net.run(&Limits::default()), Ok(Stop::Quiet));
        }
        prop_assert!(plain.net.playback().is_none());
        let store = |built: &super::random_net::Built| built.net.store(built.trace, 0).clone();
        prop_assert_eq!(store(&plain), store(&recorded));
        prop_assert_eq!(plain.net.reports(), recorded.net.reports());
        prop_assert_eq!(plain.net.events(), recorded.net.events());
        prop_assert_eq!(plain.net.now(), recorded.net.now());
    }

    #[test]
    fn a_frame_is_the_state_at_its_time(
        plan in plan(),
        seed in 0_u64..1000,
        frames in 1_u32..40,
        reset in prop::option::of(0_u64..100_000_000),
    ) {
        let mut recorded = build(&plan, seed);
        recorded.net.record_playback(frames);
        if let Some(reset) = reset {
            let limits = Limits { until: Time(reset), ..Limits::default() };
            recorded.net.run(&limits).expect("random nets run");
            recorded.net.reset_statistics();
        }
        recorded.net.run(&Limits::default()).expect("random nets run");
        let playback = recorded.net.playback().expect("it was recorded");
        let (last, evenly) = playback.frames.split_last().expect("there is the end");
        prop_assert_eq!(last.time, recorded.net.now());
        prop_assert!(evenly.len() < 2 * frames as usize);
        if let [first, second, ..] = evenly {
            let interval = second.time.since(first.time);
            for (number, frame) in evenly.iter().enumerate() {
                prop_assert_eq!(frame.time, Time::ZERO + interval * number as u64);
            }
            // Fewer than requested only because the run was short.
            let short = interval.0 == 1_000_000;
            prop_assert!(short || evenly.len() >= frames as usize, "{}", evenly.len());
        }
        let mut slow = build(&plan, seed);
        for frame in &playback.frames {
            let limits = Limits { until: frame.time, ..Limits::default() };
            slow.net.run(&limits).expect("random nets run");
            prop_assert_eq!(state_of(frame), state(&slow.net));
            for node in &frame.nodes {
                prop_assert!(node.queue + node.busy <= node.tokens);
                prop_assert!(node.most_tokens <= node.tokens && node.most_queue <= node.queue);
            }
        }
    }
}
