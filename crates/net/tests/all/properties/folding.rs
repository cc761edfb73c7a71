//! A page folded to n copies is n pages written out.

use headrace_net::{
    Builder, Exponential, Fcfs, Infinite, Limits, Net, Node, Page, Random, Sharing, Span, Stop,
    Store, Time,
};
use proptest::prelude::*;

#[derive(Clone, Copy)]
struct Walker {
    id: u32,
    hops: u32,
}

/// (time, station, token) of every departure in one copy.
type Trace = Vec<(Time, usize, u32)>;

/// A ring of stations that each token walks a number of times.
fn ring(
    page: &mut Page<'_>,
    services: &[u64],
    hops: u32,
    tokens: fn(u32, u32) -> u32,
    me: Option<u32>,
) -> Store<Trace> {
    let trace = page.store("trace", |_| Trace::new());
    let stations: Vec<Node<Walker>> = services
        .iter()
        .enumerate()
        .map(|(index, &service)| {
            let name = format!("station {index}");
            let time = move |walker: &Walker, _: &mut Random<'_>| {
                Span::from_micros(service + u64::from(walker.id % 5))
            };
            match index % 3 {
                0 => page.station(&name, Fcfs::new(1, time)),
                1 => page.station(&name, Sharing::new(1, time)),
                _ => page.station(&name, Infinite(time)),
            }
        })
        .collect();
    let done = page.place("done");
    page.sink(done);
    for (index, &station) in stations.iter().enumerate() {
        let next = stations[(index + 1) % stations.len()];
        page.transition(&format!("leave {index}"))
            .take(station)
            .with(trace)
            .route([next.into(), done.into()], move |firing, walker, trace| {
                trace.push((firing.now(), index, walker.id));
                walker.hops += 1;
                if walker.hops < hops {
                    next.into()
                } else {
                    done.into()
                }
            });
    }
    page.tokens(stations[0], move |copy| {
        (0..tokens(me.unwrap_or(copy), 7)).map(|id| Walker { id, hops: 0 })
    });
    trace
}

fn run(builder: Builder) -> Net {
    let mut net = builder.compile().expect("rings are sound");
    assert_eq!(net.run(&Limits::default()), Ok(Stop::Quiet));
    net
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn n_copies_are_n_pages(
        services in prop::collection::vec(0_u64..9, 1..6),
        hops in 1_u32..20,
        copies in 1_u32..6,
    ) {
        let tokens: fn(u32, u32) -> u32 = |copy, most| (copy * 5 + 3) % most;
        let mut builder = Builder::new("folded", 1);
        let trace = builder.root().fold("ring", copies, |page| {
            ring(page, &services, hops, tokens, None)
        });
        let folded = run(builder);
        let mut builder = Builder::new("separate", 1);
        let traces: Vec<Store<Trace>> = (0..copies)
            .map(|copy| {
                builder.root().page(&format!("ring {copy}"), |page| {
                    ring(page, &services, hops, tokens, Some(copy))
                })
            })
            .collect();
        let separate = run(builder);
        for (copy, trace_of_copy) in (0..copies).zip(traces) {
            prop_assert_eq!(folded.store(trace, copy), separate.store(trace_of_copy, 0));
        }
        prop_assert_eq!(folded.firings(), separate.firings());
        prop_assert_eq!(folded.now(), separate.now());
    }
}

/// Random draws differ between copies and pages, their laws do not.
#[test]
fn n_copies_are_n_pages_on_average() {
    const COPIES: u32 = 400;
    let office = |page: &mut Page<'_>| {
        let think = page.station("think", Infinite(Exponential(Span::from_millis(5))));
        let serve = page.station("serve", Fcfs::new(1, Exponential(Span::from_millis(1))));
        page.connect(think, serve);
        page.connect(serve, think);
        page.tokens(think, |_| 0..5_u32);
        serve
    };
    let limits = Limits::until_seconds(5.0);
    let mut builder = Builder::new("folded", 1);
    let serve = builder.root().fold("office", COPIES, office);
    let mut folded = builder.compile().expect("an office is sound");
    folded.run(&limits).expect("offices run for ever");
    let folded = folded.node_report(serve);

    let mut builder = Builder::new("separate", 1);
    let serves: Vec<Node<u32>> = (0..COPIES)
        .map(|copy| builder.root().page(&format!("office {copy}"), office))
        .collect();
    let mut separate = builder.compile().expect("offices are sound");
    separate.run(&limits).expect("offices run for ever");
    let served: Vec<f64> = serves
        .iter()
        .map(|&serve| separate.node_report(serve).arrivals as f64)
        .collect();
    let count = f64::from(COPIES);
    let mean = served.iter().sum::<f64>() / count;
    let variance = served.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0);
    // Both means have this standard error; four of the difference's.
    let error = (2.0 * variance / count).sqrt();
    assert!(error < 0.002 * mean);
    assert!((folded.arrivals as f64 / count - mean).abs() < 4.0 * error);
}
