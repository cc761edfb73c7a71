//! Runs and state spaces against closed forms and published figures.

use crate::nets::{ask, net, program, runs, space};

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
    // M/M/1 with load 1/2: one customer inside, for 1 s.
    let results = runs(&net("queue", &[]), 20_000.0, 10);
    let desks = || results.iter().map(|result| &result.nodes[2]);
    let inside: Vec<f64> = desks().map(|desk| desk.mean_inside).collect();
    agrees(&inside, 1.0, "customers inside");
    let stays: Vec<f64> = desks().filter_map(|desk| desk.residence).collect();
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
/// neighbours can have together. An eating philosopher holds the left fork of the next.
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
fn tokens_that_share_a_rate_by_their_number() {
    // Machines fail at this rate. k broken ones are repaired at the total rate r(k), with one unit
    // of work each: p(k) = n! / (n - k)! f^k / (r(1) … r(k)) p(0).
    let (machines, fails, rates) = (5, 0.4_f64, [1.0, 1.6, 2.0]);
    let rate = |broken: i32| rates[(broken as usize).min(rates.len()) - 1];
    let weight = |broken: i32| -> f64 {
        let one = |k: i32| f64::from(machines - k + 1) * fails / rate(k);
        (1..=broken).map(one).product()
    };
    let all: f64 = (0..=machines).map(weight).sum();
    let broken: f64 = (0..=machines).map(|it| f64::from(it) * weight(it)).sum();
    let text = format!(
        "[stations.works]
        discipline = 'infinite'
        service = 'exponential({} s)'
        initial = {machines}
        [stations.repair]
        discipline = 'load_sharing'
        rates = {rates:?}
        work = 'exponential(1)'
        [transitions.fail]
        take = 'works'
        put = 'repair'
        [transitions.fix]
        take = 'repair'
        put = 'works'",
        1.0 / fails
    );
    let results = runs(&text, 20_000.0, 10);
    let inside: Vec<f64> = results.iter().map(|it| it.nodes[1].mean_inside).collect();
    agrees(&inside, broken / all, "broken machines");
    assert_eq!(space(&text, None).states, machines as usize + 1);
}

#[test]
fn flows_share_links_max_min_fairly() {
    // Links of 1 and 2 units a second. Flow 0 uses both, 1 the first, 2 the second. Flows 0 and 1
    // get 0.5 each, flow 2 the rest of the second link, 1.5, so that it ends after 1 s.
    let text = "
        probes = ['end 0', 'end 1', 'end 2']
        colours.Flow = { number = 'int', size = 'real' }
        [stations.network]
        colour = 'Flow'
        discipline = 'flows'
        rates = [1, 2]
        links = ['if token.number == 2 then -1 else 0', 'if token.number == 1 then -1 else 1']
        work = 'token.size'
        initial = ['Flow(0, 1.0)', 'Flow(1, 1.5)', 'Flow(2, 1.5)']
        [places.done]
        colour = 'Flow'
        sink = true
        [transitions.end]
        take = [{ place = 'network', token = 'f' }]
        put = [{ place = 'done', token = 'f' }]
        record = [
          { probe = 'end 0', value = 'now()', when = 'f.number == 0' },
          { probe = 'end 1', value = 'now()', when = 'f.number == 1' },
          { probe = 'end 2', value = 'now()', when = 'f.number == 2' },
        ]";
    let result = &runs(text, 10.0, 1)[0];
    let ends: Vec<f64> = result.probes.iter().map(|it| it.mean).collect();
    // After 2 s flow 1 has the first link alone, for its last half unit.
    for (end, expected) in ends.iter().zip([2.0, 2.5, 1.0]) {
        assert!((end - expected).abs() < 1e-9, "{ends:?}");
    }
    assert_eq!(space(text, None).states, 8);
    let wrong = text.replace("rates = [1, 2]", "rates = [1, 0]");
    assert!(program(&wrong).unwrap_err().contains("more than 0"));
}

#[test]
fn chance_chooses_by_weight() {
    let text = "
        run.choice = 'random'
        [places.start]
        initial = 2000
        [places.end]
        sink = true
        [transitions.first]
        take = 'start'
        put = 'end'
        weight = 3
        [transitions.never]
        take = [{ place = 'start', token = '()' }]
        when = '1 == 2'
        put = 'end'
        weight = 100
        [transitions.second]
        take = 'start'
        put = 'end'";
    let results = runs(text, 1.0, 10);
    let shares = results.iter();
    let shares: Vec<f64> = shares
        .map(|it| it.transitions[0].firings as f64 / 2000.0)
        .collect();
    agrees(&shares, 0.75, "share of the first transition");
    let first = &runs(&text.replace("'random'", "'first'"), 1.0, 1)[0];
    assert_eq!(first.transitions[0].firings, 2000);
    let wrong = program(&text.replace("'random'", "'any'")).unwrap_err();
    assert!(wrong.starts_with("2:22: "), "{wrong}");
    let wrong = program(&text.replace("weight = 3", "weight = 0")).unwrap_err();
    assert!(wrong.contains("more than 0"), "{wrong}");
}

#[test]
fn chance_chooses_among_different_tokens() {
    // The values 1 and 2 suit the guard, whatever the number of their tokens: each has 1/2. A pair
    // of different tokens of 1, 2 and 3 has six bindings, two of which begin with 1.
    let text = "
        run.choice = 'bindings'
        probes = ['is two', 'begins']
        [places.start]
        initial = 2000
        [places.values]
        colour = 'int'
        initial = [1, 1, 1, 2, 3]
        [places.three]
        colour = 'int'
        initial = [1, 2, 3]
        [places.end]
        sink = true
        [transitions.go]
        take = 'start'
        read = [
          { place = 'values', token = 'x' },
          { place = 'three', token = 'a' },
          { place = 'three', token = 'b' },
        ]
        when = 'x < 3'
        put = 'end'
        record = [
          { probe = 'is two', value = 'if x == 2 then 1 else 0' },
          { probe = 'begins', value = 'if a == 1 then 1 else 0' },
        ]";
    let results = runs(text, 1.0, 10);
    let share = |probe: usize| -> Vec<f64> {
        let probes = results.iter().map(|it| it.probes[probe].mean);
        probes.collect()
    };
    agrees(&share(0), 0.5, "share of the value 2");
    agrees(&share(1), 1.0 / 3.0, "share of pairs that begin with 1");
    let again = runs(text, 1.0, 10);
    assert!(
        again
            .iter()
            .zip(&results)
            .all(|(a, b)| a.probes[0].mean == b.probes[0].mean)
    );
    let small = text.replace("2000", "2");
    let random = small.replace("'bindings'", "'random'");
    assert_eq!(runs(&random, 1.0, 1)[0].probes[0].mean, 0.0);
    // A source place without data, and one in order, are taken from as before.
    let (space_of, as_before) = (space(&small, None), space(&random, None));
    assert_eq!(
        (space_of.states, space_of.arcs),
        (as_before.states, as_before.arcs)
    );
    let ordered = text.replace("[places.values]", "[places.values]\norder = 'fifo'");
    assert_eq!(runs(&ordered, 1.0, 1)[0].probes[0].mean, 0.0);
}

#[test]
fn barriers_and_priorities_in_state_spaces() {
    // Three walkers meet twice: 0, 1 or 2 wait, or all have gone on, before each meeting.
    let text = "
        [places.start]
        initial = 6
        [stations.gate]
        discipline = 'barrier'
        number = 3
        [places.end]
        sink = true
        [transitions.come]
        take = 'start'
        put = 'gate'
        [transitions.go]
        take = 'gate'
        put = 'end'";
    // All that have arrived: those of complete threes may have gone. 1 + 1 + 1 + 4 + 4 + 4 + 7.
    assert_eq!(space(text, None).states, 22);
    // With time: two jobs of class 1 come before one of class 0, all of 2 s.
    let text = |discipline: &str| {
        format!(
            "probes = ['urgent end']
            [places.begin]
            colour = 'int'
            order = 'fifo'
            initial = [1, 1]
            [places.later]
            initial = 1
            [stations.machine]
            colour = 'int'
            discipline = '{discipline}'
            service = '2 s'
            class = 'token'
            [stations.wait]
            discipline = 'delay'
            service = '1 s'
            [places.end]
            colour = 'int'
            sink = true
            [transitions.load]
            take = [{{ place = 'begin', token = 'j' }}]
            put = [{{ place = 'machine', token = 'j' }}]
            [transitions.hold]
            take = 'later'
            put = 'wait'
            [transitions.urgent]
            take = 'wait'
            put = [{{ place = 'machine', token = '0' }}]
            [transitions.unload]
            take = [{{ place = 'machine', token = 'j' }}]
            put = [{{ place = 'end', token = 'j' }}]
            record = [{{ probe = 'urgent end', value = 'now()', when = 'j == 0' }}]"
        )
    };
    for (discipline, order, end) in [("priority", [1, 0, 1], 4.0), ("preemptive", [0, 1, 1], 3.0)] {
        let text = text(discipline);
        let result = &runs(&text, 10.0, 1)[0];
        assert_eq!(result.probes[0].mean, end, "{discipline}");
        let answer = ask(&text, 1000, true, None).unwrap();
        let path = answer.deadlock.unwrap().firings;
        let ends = path
            .iter()
            .filter_map(|it| it.strip_prefix("net/unload (j = "));
        let ends: Vec<String> = ends.map(str::to_owned).collect();
        assert_eq!(ends, order.map(|it| format!("{it})")), "{discipline}");
    }
}

#[test]
fn a_cache_of_one_block_in_each_line() {
    // The lesser of two numbers below 64 is b with probability (127 - 2 b) / 4096. A line hits if
    // the last request to it was for the same block: independent requests.
    let chance = |block: i32| f64::from(127 - 2 * block) / 4096.0;
    let hits = (0..16).map(|line| {
        let blocks = (0..4).map(|it| chance(line + 16 * it));
        let (all, squares): (f64, f64) = blocks.fold((0.0, 0.0), |(all, squares), it| {
            (all + it, squares + it * it)
        });
        squares / all
    });
    let expected: f64 = hits.sum();
    // With one client a block is in the cache before the next request.
    let results = runs(&net("cache", &[("initial = 2", "initial = 1")]), 200.0, 10);
    let ratios: Vec<f64> = results.iter().map(|it| it.probes[1].mean).collect();
    agrees(&ratios, expected, "hit ratio");
    let stores = &results[0].stores[0].fields;
    let asked: u64 = ["hits", "misses"]
        .iter()
        .map(|it| stores[*it].parse::<u64>().unwrap())
        .sum();
    assert_eq!(asked, results[0].probes[1].count);
}

#[test]
fn every_shipped_net_runs() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/nets");
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(runs(&text, 1.0, 1)[0].time <= 1.0, "{text}");
    }
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

#[test]
fn equal_transitions_share_their_invariants() {
    let text = r#"
        [places]
        p = { initial = 2 }
        q = {}
        [transitions]
        a = { take = "p", put = "q" }
        b = { take = "p", put = "q" }
        both = { take = [{ place = "q", count = 2 }], put = [{ place = "p", count = 2 }] }
        idle = { take = "p", put = "p" }
        rest = { take = "q", put = "q" }
    "#;
    let invariants = headrace_model::transition_invariants(&program(text).unwrap());
    let expected = ["2 net/a + net/both", "net/idle", "net/rest"];
    let mut sums = invariants.sums.unwrap();
    sums.sort();
    assert_eq!(sums, expected);
    assert_eq!(invariants.alike, [["net/a", "net/b"]]);
    assert_eq!(invariants.not_computed, None);
}

#[test]
fn invariants_of_uncertain_numbers_are_not_computed() {
    let text = r#"
        places.p = { initial = 2 }
        transitions.t = { take = "p", put = [{ place = "p", when = "bernoulli(0.5)" }] }
    "#;
    let invariants = headrace_model::transition_invariants(&program(text).unwrap());
    let reason = "the number of tokens that net/t puts depends on values or chance";
    assert_eq!(invariants.not_computed.as_deref(), Some(reason));
    assert_eq!(invariants.sums, None);
}
