//! Closed nets: a number of customers that never leave.

use headrace_net::{
    Builder, Discipline, Exponential, Fcfs, Infinite, Limits, Net, Node, Sharing, Span,
};

use super::estimate::check;

const THINK: Span = Span::from_millis(5000);
const REPAIR: Span = Span::from_millis(1000);

/// Throughput and mean number being repaired of M/M/c//N, from the balance of
/// births and deaths.
fn machine_repair(machines: u32, crew: u32) -> (f64, f64) {
    let fail = 1.0 / THINK.as_seconds();
    let repair = 1.0 / REPAIR.as_seconds();
    let mut chances = vec![1.0];
    for broken in 0..machines {
        let up = f64::from(machines - broken) * fail;
        let down = f64::from(crew.min(broken + 1)) * repair;
        chances.push(chances[broken as usize] * up / down);
    }
    let total: f64 = chances.iter().sum();
    let mean = |value: &dyn Fn(u32) -> f64| -> f64 {
        let terms = chances
            .iter()
            .zip(0..)
            .map(|(chance, broken)| chance * value(broken));
        terms.sum::<f64>() / total
    };
    let throughput = mean(&|broken| f64::from(crew.min(broken)) * repair);
    (throughput, mean(&f64::from))
}

#[test]
fn a_crew_repairs_machines() {
    for (machines, crew) in [(6, 1), (10, 3)] {
        let (throughput, broken) = machine_repair(machines, crew);
        let exact = [("throughput", throughput), ("broken", broken)];
        check(exact, |seed| {
            let mut builder = Builder::new("shop", seed);
            let mut page = builder.root();
            let working = page.station("working", Infinite(Exponential(THINK)));
            let repair = page.station("repair", Fcfs::new(crew, Exponential(REPAIR)));
            page.connect(working, repair);
            page.connect(repair, working);
            page.tokens(working, move |_| 0..machines);
            let mut net = builder.compile().expect("a ring is a valid net");
            net.run(&Limits::until_seconds(5e4))
                .expect("a ring runs for ever");
            let report = net.node_report(repair);
            [
                report.arrivals as f64 / net.measured().as_seconds(),
                report.mean_inside,
            ]
        });
    }
}

/// The common net: 64 clients think, choose one of 4 servers, think again.
fn common_net<D: Discipline<u32> + Clone>(discipline: D, seed: u64) -> (Net, Node<u32>) {
    let mut builder = Builder::new("common", seed);
    let mut page = builder.root();
    let thinking = page.station("thinking", Infinite(Exponential(Span::from_millis(5))));
    let (disk, done) = page.fold("server", 4, |page| {
        let done = page.output::<u32>("done");
        let disk = page.station("disk", discipline);
        page.connect(disk, done);
        (disk, done)
    });
    page.connect(done, thinking);
    page.transition("choose")
        .take(thinking)
        .put(disk.by(|&server| server), |firing, _, ()| {
            firing.random().below(4) as u32
        });
    page.tokens(thinking, |_| [0; 64]);
    (builder.compile().expect("the common net is valid"), disk)
}

const MILLISECOND: Span = Span::from_millis(1);

#[test]
fn the_common_net_serves_as_fast_as_it_should() {
    // Measured with other simulators: 3.85 to 3.89 requests/ms.
    for seed in 1..=10 {
        let (mut net, disk) = common_net(Fcfs::new(1, MILLISECOND), seed);
        net.run(&Limits::until_seconds(20.0))
            .expect("a ring runs for ever");
        let rate = net.node_report(disk).arrivals as f64 / 20_000.0;
        assert!(
            (3.85..=3.89).contains(&rate),
            "seed {seed}: {rate} requests/ms"
        );
    }
}

/// Throughput of 64 customers by mean value analysis (Reiser and Lavenberg
/// 1980): exact when service is exponential.
fn mean_value_analysis(clients: u32, servers: f64, think: f64, service: f64) -> f64 {
    let (mut queue, mut throughput) = (0.0, 0.0);
    for population in 1..=clients {
        let response = service * (1.0 + queue);
        throughput = f64::from(population) / (think + response);
        queue = throughput / servers * response;
    }
    throughput
}

#[test]
fn the_common_net_with_exponential_service_has_a_product_form() {
    let throughput = mean_value_analysis(64, 4.0, 5.0, 1.0);
    let per_server = throughput / 4.0;
    let exact = [("throughput", throughput), ("utilisation", per_server)];
    check(exact, |seed| {
        let (mut net, disk) = common_net(Fcfs::new(1, Exponential(MILLISECOND)), seed);
        net.run(&Limits::until_seconds(1.0))
            .expect("a ring runs for ever");
        net.reset_statistics();
        net.run(&Limits::until_seconds(41.0))
            .expect("a ring runs for ever");
        let report = net.node_report(disk);
        [report.arrivals as f64 / 40_000.0, report.utilisation]
    });
}

/// Throughput and the mean number at each station by mean value analysis. A customer
/// demands `demands[k]` seconds of station k, and thinks between rounds.
fn unequal_stations(customers: u32, think: f64, demands: [f64; 3]) -> (f64, [f64; 3]) {
    let (mut queues, mut throughput) = ([0.0; 3], 0.0);
    for population in 1..=customers {
        let mut stays = demands;
        for (stay, queue) in stays.iter_mut().zip(queues) {
            *stay *= 1.0 + queue;
        }
        throughput = f64::from(population) / (think + stays.iter().sum::<f64>());
        queues = stays.map(|stay| throughput * stay);
    }
    (throughput, queues)
}

/// A processor shared by all, and two disks with different request rates and speeds. It is a
/// product form with several stations, one first come, first served, and one shared equally
/// (Baskett et al. 1975).
#[test]
fn unequal_stations_hold_what_mean_value_analysis_says() {
    const CUSTOMERS: u32 = 10;
    let (processor, disks) = (2e-3, [5e-3, 8e-3]);
    let demands = [processor, 0.6 * disks[0], 0.4 * disks[1]];
    let (throughput, queues) = unequal_stations(CUSTOMERS, 10e-3, demands);
    let exact = [
        ("throughput", throughput),
        ("at the processor", queues[0]),
        ("at the first disk", queues[1]),
        ("at the second disk", queues[2]),
    ];
    check(exact, |seed| {
        let mut builder = Builder::new("machine", seed);
        let mut page = builder.root();
        let millis = |it: f64| Exponential(Span::from_seconds(it));
        let thinking = page.station("thinking", Infinite(millis(10e-3)));
        let cpu = page.station("processor", Sharing::new(1, millis(processor)));
        let first = page.station("first disk", Fcfs::new(1, millis(disks[0])));
        let second = page.station("second disk", Fcfs::new(1, millis(disks[1])));
        page.connect(thinking, cpu);
        page.transition("choose")
            .take(cpu)
            .puts_one_of([first.into(), second.into()])
            .fires(move |firing, customer: u32, ()| {
                let disk = if firing.random().below(10) < 6 {
                    first
                } else {
                    second
                };
                firing.put(disk, customer);
            });
        page.connect(first, thinking);
        page.connect(second, thinking);
        page.tokens(thinking, |_| 0..CUSTOMERS);
        let mut net = builder.compile().expect("a ring is a valid net");
        net.run(&Limits::until_seconds(1.0))
            .expect("a ring runs for ever");
        net.reset_statistics();
        net.run(&Limits::until_seconds(301.0))
            .expect("a ring runs for ever");
        [
            net.node_report(cpu).arrivals as f64 / 300.0,
            net.node_report(cpu).mean_inside,
            net.node_report(first).mean_inside,
            net.node_report(second).mean_inside,
        ]
    });
}
