//! Inputs of several folded pages as those of one: tokens choose a copy by its number over all.

use std::sync::Arc;

use headrace_net::{BuildError, Builder, CopyPlaces, Fcfs, Limits, Net, Page, Port, Span, To};

/// A host's page: an input, a station, and an output.
fn host(page: &mut Page<'_>, seconds: f64) -> (Port<u32>, Port<u32>) {
    let (input, output) = (page.input("in"), page.output("out"));
    let disk = page.station("disk", Fcfs::new(1, Span::from_seconds(seconds)));
    page.connect(input, disk);
    page.connect(disk, output);
    (input, output)
}

/// Three hosts: the first and the third are fast, the second is slow. Each of `numbers` visits
/// one of them.
fn three(numbers: Vec<u32>) -> Net {
    let mut builder = Builder::new("net", 1);
    let mut page = builder.root();
    let start = page.place::<u32>("start");
    page.tokens(start, move |_| numbers.clone());
    let fast = page.fold("fast", 2, |page| host(page, 1.0));
    let slow = page.fold("slow", 1, |page| host(page, 5.0));
    let places: CopyPlaces = Arc::new([(0, 0), (1, 0), (0, 1)]);
    let hosts = page.union("hosts", &[fast.0, slow.0], &places);
    let outputs = page.merge("done by hosts", &[fast.1, slow.1]);
    let done = page.place::<u32>("done");
    page.connect(outputs, done);
    page.sink(done);
    page.conserve(start);
    let to: To<u32> = hosts.by(|number| *number);
    page.transition("send")
        .take(start)
        .put(to, |_, number, ()| number);
    builder.compile().expect("the net is whole")
}

#[test]
fn tokens_reach_the_copy_of_their_number() {
    let mut net = three(vec![0, 1, 2, 2]);
    net.run(&Limits::default()).expect("it runs");
    assert_eq!(net.now().as_seconds(), 5.0);
    let reports = net.reports();
    let disk = |path: &str| {
        reports
            .iter()
            .find(|it| it.path == path)
            .expect("a disk")
            .id
    };
    let arrivals = |path: &str| -> Vec<u64> {
        let copies = net.copy_reports(disk(path));
        copies.iter().map(|it| it.arrivals).collect()
    };
    assert_eq!(arrivals("net/fast/disk"), [1, 2]);
    assert_eq!(arrivals("net/slow/disk"), [1]);
    let busy: Vec<f64> = net
        .copy_reports(disk("net/fast/disk"))
        .iter()
        .map(|it| it.utilisation)
        .collect();
    assert_eq!(busy, [0.2, 0.4]);
}

#[test]
fn no_token_is_lost_on_the_way() {
    let net = three(vec![0, 1, 2]);
    let sums = net.invariants();
    let whole = sums
        .iter()
        .any(|it| it.sum.contains("slow") && it.sum.contains("fast"));
    assert!(whole, "{sums:?}");
}

#[test]
fn drawings_show_an_arc_to_each_page() {
    let net = three(Vec::new());
    let page = &net.structure().page;
    let send = page
        .transitions
        .iter()
        .find(|it| it.name == "send")
        .expect("it");
    assert_eq!(send.outputs.len(), 2);
    assert!(send.outputs.iter().all(|it| it.selects_copy));
}

#[test]
fn a_number_without_a_copy_ends_the_run() {
    let error = three(vec![3])
        .run(&Limits::default())
        .expect_err("there is no host 3");
    assert!(error.to_string().contains("copy 3"), "{error}");
}

#[test]
fn a_union_is_of_folded_pages_beside_each_other() {
    let mut builder = Builder::new("net", 1);
    let mut page = builder.root();
    let start = page.place::<u32>("start");
    page.tokens(start, |_| [0]);
    let one = page.fold("one", 2, |page| host(page, 1.0));
    let other = page.page("other", |page| host(page, 1.0));
    let places: CopyPlaces = Arc::new([(0, 0), (0, 1), (1, 0)]);
    let hosts = page.union("hosts", &[one.0, other.0], &places);
    let outputs = page.merge("done by hosts", &[one.1, other.1]);
    let done = page.place::<u32>("done");
    page.connect(outputs, done);
    page.sink(done);
    page.transition("send")
        .take(start)
        .put(hosts.by(|number| *number), |_, number, ()| number);
    let errors = builder.compile().err().expect("one page is not folded").0;
    let path = "net/hosts".to_owned();
    assert_eq!(errors, [BuildError::NoUnion { path }]);
}

#[test]
fn copies_are_sampled_over_time() {
    let mut net = three(vec![0, 1, 2, 2]);
    let disks: Vec<u32> = net
        .reports()
        .iter()
        .filter(|it| it.path.ends_with("/disk"))
        .map(|it| it.id)
        .collect();
    net.sample_copies(disks, 10);
    net.run(&Limits::default()).expect("it runs");
    let series = net.copy_series().expect("it is sampled");
    assert!(
        (11..=21).contains(&series.samples.len()),
        "{}",
        series.samples.len()
    );
    let last = series.samples.last().expect("the end");
    assert_eq!(last.work, [1.0, 2.0, 5.0]);
    let grows = series
        .samples
        .windows(2)
        .all(|pair| pair[0].time < pair[1].time);
    assert!(grows);
}
