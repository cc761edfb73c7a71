//! Runs and state spaces against closed forms and published figures.

mod nets;

use nets::{net, program, runs, space};

/// The mean of a figure over runs with ten seeds, and twice its standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let number = values.len() as f64;
    let mean = values.iter().sum::<f64>() / number;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, 3.0 * (squares / (number - 1.0) / number).sqrt())
}

fn agrees(values: &[f64], expected: f64, what: &str) {
    let (mean, error) = mean(values);
    let difference = (mean - expected).abs();
    assert!(
        difference < error,
        "{what}: {mean} ± {error}, not {expected}"
    );
    assert!(
        error < 0.05 * expected,
        "{what}: {mean} ± {error} is too wide"
    );
}

#[test]
fn one_server() {
    // M/M/1 with load 1/2: one customer inside, who stays for 1 s.
    let results = runs(&net("queue", &[]), 20_000.0, 10);
    let desks = || results.iter().map(|result| &result.nodes[2]);
    let inside: Vec<f64> = desks().map(|desk| desk.mean_inside).collect();
    agrees(&inside, 1.0, "customers inside");
    let stays: Vec<f64> = desks().map(|desk| desk.residence).collect();
    agrees(&stays, 1.0, "residence");
    let busy: Vec<f64> = desks().map(|desk| desk.utilisation).collect();
    agrees(&busy, 0.5, "utilisation");
}

#[test]
fn several_servers() {
    // M/M/c with three servers and an offered load of two: Erlang's C formula.
    let (servers, load) = (3, 2.0_f64);
    let factorial = |n: i32| (1..=n).map(f64::from).product::<f64>();
    let term = |n: i32| load.powi(n) / factorial(n);
    let last = term(servers) * f64::from(servers) / (f64::from(servers) - load);
    let waits = last / ((0..servers).map(term).sum::<f64>() + last);
    let queue = waits * load / (f64::from(servers) - load);
    let text = net("queue", &[]).replace("exponential(0.5 s)\"", "exponential(2 s)\"\nservers = 3");
    let results = runs(&text, 60_000.0, 10);
    let waiting: Vec<f64> = results.iter().map(|it| it.nodes[2].mean_queue).collect();
    agrees(&waiting, queue, "customers waiting");
}

#[test]
fn machine_repair() {
    // n machines, failure rate f and repair rate 1: p(k) = n! / (n − k)! f^k p(0).
    let (machines, rate) = (5, 0.1_f64);
    let weight = |broken: i32| {
        let ways: f64 = (machines - broken + 1..=machines).map(f64::from).product();
        ways * rate.powi(broken)
    };
    let all: f64 = (0..=machines).map(weight).sum();
    let broken: f64 = (0..=machines).map(|it| f64::from(it) * weight(it)).sum();
    let results = runs(&net("machine-repair", &[]), 20_000.0 * 60.0, 10);
    let inside: Vec<f64> = results.iter().map(|it| it.nodes[1].mean_inside).collect();
    agrees(&inside, broken / all, "broken machines");
    let busy: Vec<f64> = results.iter().map(|it| it.nodes[1].utilisation).collect();
    agrees(&busy, 1.0 - 1.0 / all, "the repairer's utilisation");
    assert_eq!(results[0].invariants[0].value, 5);
}

/// Markings of dining philosophers: the trace of the n-th power of the matrix of the states that
/// neighbours can have together. Whoever eats holds the left fork of the next.
fn philosophers_markings(n: u32) -> u64 {
    let allowed = [[1, 1, 1], [1, 1, 1], [1, 0, 0]];
    let mut power = [[1_u64, 0, 0], [0, 1, 0], [0, 0, 1]];
    for _ in 0..n {
        let mut next = [[0; 3]; 3];
        for (i, j, k) in (0..27).map(|it| (it / 9, it / 3 % 3, it % 3)) {
            next[i][j] += power[i][k] * allowed[k][j];
        }
        power = next;
    }
    (0..3).map(|it| power[it][it]).sum()
}

#[test]
fn philosophers_who_take_one_fork_at_a_time_can_starve() {
    for n in [2, 3, 5, 8] {
        let answer = space(
            &net("philosophers", &[("n = 5", &format!("n = {n}"))]),
            None,
        );
        assert_eq!(
            answer.states as u64,
            philosophers_markings(n),
            "{n} philosophers"
        );
        assert_eq!((answer.dead, answer.deadlocks), (1, 1));
        let deadlock = answer.deadlock.unwrap();
        assert_eq!(
            deadlock.firings.len(),
            n as usize,
            "each takes the left fork"
        );
        assert_eq!(deadlock.marking[0].0, "philosophers/waiting");
        // Only the dead marking can be reached from every marking.
        assert_eq!(
            (answer.home_markings, answer.initial_is_home),
            (Some(1), Some(false))
        );
        assert!(
            answer
                .transitions
                .iter()
                .all(|it| it.live == Some(false) && !it.dead)
        );
    }
}

#[test]
fn philosophers_who_take_both_forks_never_starve() {
    // Sets of philosophers of whom no two are neighbours: the Lucas numbers.
    let text = "
        values.n = N
        [places.thinking]
        colour = 'int'
        initial = [{ token = 'i', each = 'i', from = '0', to = 'n - 1' }]
        [places.fork]
        colour = 'int'
        initial = [{ token = 'i', each = 'i', from = '0', to = 'n - 1' }]
        [places.eating]
        colour = 'int'
        [transitions.begin]
        take = [{ place = 'thinking', token = 'p' }, { place = 'fork', token = 'p' },
                { place = 'fork', token = '(p + 1) % n' }]
        put = [{ place = 'eating', token = 'p' }]
        [transitions.end]
        take = [{ place = 'eating', token = 'p' }]
        put = [{ place = 'thinking', token = 'p' }, { place = 'fork', token = 'p' },
               { place = 'fork', token = '(p + 1) % n' }]";
    for (n, lucas) in [(3, 4), (4, 7), (5, 11), (10, 123), (15, 1364)] {
        let answer = space(
            &text.replace("values.n = N", &format!("values.n = {n}")),
            None,
        );
        assert_eq!(answer.states, lucas, "{n} philosophers");
        assert_eq!((answer.dead, answer.components), (0, Some(1)));
        assert_eq!(answer.home_markings, Some(lucas));
        assert!(answer.transitions.iter().all(|it| it.live == Some(true)));
        assert_eq!(answer.bounds[2].most, n as u32 / 2);
        // Each begin has its end.
        let arcs: Vec<u64> = answer.transitions.iter().map(|it| it.arcs).collect();
        assert_eq!(arcs[0], arcs[1]);
    }
}

#[test]
fn token_ring() {
    for n in [1, 2, 4, 7] {
        let answer = space(&net("token-ring", &[("n = 4", &format!("n = {n}"))]), None);
        assert_eq!(answer.states, (3 * n) << (n - 1), "{n} stations");
        assert_eq!((answer.dead, answer.initial_is_home), (0, Some(true)));
        let bounds: Vec<u32> = answer.bounds.iter().map(|it| it.most).collect();
        assert_eq!(bounds, [n as u32, n as u32, 1, 1]);
    }
}

#[test]
fn simple_protocol() {
    // The published state space report of this net: Jensen, Kristensen and Wells, STTT 9 (2007).
    let answer = space(&net("simple-protocol", &[]), None);
    assert!(answer.complete);
    assert_eq!((answer.states, answer.arcs), (13_215, 52_784));
    // All packets have been received, and nothing is on the network.
    assert_eq!((answer.dead, answer.deadlocks), (1, 0));
    assert_eq!(answer.home_markings, Some(1));
    assert_eq!(answer.components, Some(5_013));
    let by_name = |name: &str| {
        answer
            .bounds
            .iter()
            .find(|it| it.path.ends_with(name))
            .unwrap()
    };
    assert_eq!(by_name("/A").most, 3);
    assert_eq!(by_name("/limit_left").most, 3);
}

#[test]
fn the_common_net_is_that_of_the_kernel() {
    // 64 clients, four servers of 1 ms: all busy but for chance, nearly 4 requests a ms.
    let results = runs(&net("common", &[]), 20.0, 2);
    for result in &results {
        let disk = &result.nodes[1];
        assert_eq!((disk.copies, disk.servers), (4, Some(1)));
        assert!(
            (0.9..1.0).contains(&disk.utilisation),
            "{}",
            disk.utilisation
        );
        assert_eq!(
            result.invariants[0].sum,
            "common/thinking + common/server/disk"
        );
        assert_eq!(result.invariants[0].value, 64);
    }
    assert_eq!(program(&net("common", &[])).unwrap().width(), 1);
}
