//! The slow, obvious twin: a list of tokens, searched from end to end for the
//! one whose service ends next. Completion times must agree exactly.

use headrace_net::{Builder, Fcfs, Infinite, Limits, Node, Random, Span, Stop, Store, Time, To};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Case {
    /// Servers (none: as many as there are tokens) and service time.
    stations: Vec<(Option<u32>, u64)>,
    /// The stations that each token visits, in turn.
    tours: Vec<Vec<usize>>,
}

/// (time, token, station) of each completion, in order.
type Log = Vec<(u64, usize, usize)>;

fn service(case: &Case, token: usize, station: usize) -> u64 {
    case.stations[station].1 + token as u64 % 3
}

/// A token that is being served.
struct Job {
    ends: u64,
    started: usize,
    token: usize,
    station: usize,
}

fn slow(case: &Case) -> Log {
    let mut log = Log::new();
    let mut hops = vec![0; case.tours.len()];
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); case.stations.len()];
    let mut jobs: Vec<Job> = Vec::new();
    let mut started = 0;
    let mut now = 0;
    let mut arrive = |token: usize,
                      station: usize,
                      now: u64,
                      jobs: &mut Vec<Job>,
                      waiting: &mut Vec<Vec<usize>>,
                      from_the_line: bool| {
        let busy = jobs.iter().filter(|job| job.station == station).count();
        let free = case.stations[station]
            .0
            .is_none_or(|servers| busy < servers as usize);
        if !free && !from_the_line {
            waiting[station].push(token);
            return;
        }
        started += 1;
        let ends = now + service(case, token, station);
        jobs.push(Job {
            ends,
            started,
            token,
            station,
        });
    };
    for (token, tour) in case.tours.iter().enumerate() {
        arrive(token, tour[0], now, &mut jobs, &mut waiting, false);
    }
    while let Some(next) = (0..jobs.len()).min_by_key(|&job| (jobs[job].ends, jobs[job].started)) {
        let job = jobs.remove(next);
        assert!(job.ends >= now);
        now = job.ends;
        log.push((now, job.token, job.station));
        if !waiting[job.station].is_empty() {
            let token = waiting[job.station].remove(0);
            arrive(token, job.station, now, &mut jobs, &mut waiting, true);
        }
        hops[job.token] += 1;
        if let Some(&station) = case.tours[job.token].get(hops[job.token]) {
            arrive(job.token, station, now, &mut jobs, &mut waiting, false);
        }
    }
    log
}

#[derive(Clone, Copy)]
struct Tourist {
    token: usize,
    hop: usize,
}

fn fast(case: &Case) -> Log {
    let mut builder = Builder::new("tours", 1);
    let mut page = builder.root();
    let log: Store<Log> = page.store("log", |_| Log::new());
    let start = page.place("start");
    let next = page.place("next");
    let home = page.place("home");
    page.sink(home);
    let tourists = case.tours.len();
    page.tokens(start, move |_| {
        (0..tourists).map(|token| Tourist { token, hop: 0 })
    });
    page.connect(start, next);
    let mut stations: Vec<Node<Tourist>> = Vec::new();
    for (index, &(servers, _)) in case.stations.iter().enumerate() {
        let case = case.clone();
        let time =
            move |tourist: &Tourist, _: &mut Random<'_>| Span(service(&case, tourist.token, index));
        let name = format!("station {index}");
        let station = match servers {
            None => page.stations(&name, |_| Infinite(time.clone())),
            Some(servers) => page.stations(&name, |_| Fcfs::new(servers, time.clone())),
        };
        page.transition(&format!("leave {index}"))
            .take(station)
            .with(log)
            .put(next, move |firing, tourist, log| {
                log.push((firing.now().0, tourist.token, index));
                Tourist {
                    hop: tourist.hop + 1,
                    ..tourist
                }
            });
        stations.push(station);
    }
    let targets: Vec<To<Tourist>> = stations.iter().map(|&station| station.into()).collect();
    let tours = case.tours.clone();
    let travel = page.transition("travel").take(next).may_put(home);
    let travel = targets
        .iter()
        .fold(travel, |travel, &target| travel.may_put(target));
    travel.fires(move |firing, tourist: Tourist, ()| {
        match tours[tourist.token].get(tourist.hop) {
            Some(&station) => firing.put(targets[station], tourist),
            None => firing.put(home, tourist),
        };
    });
    let mut net = builder.compile().expect("tours are sound");
    assert_eq!(net.run(&Limits::default()), Ok(Stop::Quiet));
    assert!(net.now() > Time::ZERO);
    net.store(log, 0).clone()
}

fn case() -> impl Strategy<Value = Case> {
    let station = (prop::option::weighted(0.7, 1..4_u32), 1..12_u64);
    let stations = prop::collection::vec(station, 1..5);
    let tours = prop::collection::vec(prop::collection::vec(0..100_usize, 1..20), 1..15);
    (stations, tours).prop_map(|(stations, mut tours)| {
        for stop in tours.iter_mut().flatten() {
            *stop %= stations.len();
        }
        Case { stations, tours }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn completion_times_are_those_of_the_slow_twin(case in case()) {
        prop_assert_eq!(fast(&case), slow(&case));
    }
}
