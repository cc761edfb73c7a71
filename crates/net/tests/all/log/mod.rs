//! Nets that write down what happens in them.

use headrace_net::{Builder, Limits, Net, Page, Stop, Store};

/// Events in order.
pub type Log = Vec<String>;

/// Runs a net to its end and returns its log.
pub fn log_of(write: impl FnOnce(&mut Page<'_>, Store<Log>)) -> Log {
    let (mut net, log) = net(write);
    assert_eq!(net.run(&Limits::default()), Ok(Stop::Quiet));
    net.store(log, 0).clone()
}

pub fn net(write: impl FnOnce(&mut Page<'_>, Store<Log>)) -> (Net, Store<Log>) {
    let mut builder = Builder::new("main", 1);
    let mut page = builder.root();
    let log = page.store("log", |_| Log::new());
    write(&mut page, log);
    (builder.compile().expect("a sound net"), log)
}

/// A transition that writes down the token it takes and lets it go.
pub fn watch(page: &mut Page<'_>, log: Store<Log>, node: headrace_net::Node<u32>) {
    page.transition("watch")
        .take(node)
        .with(log)
        .fires(|firing, token, log| {
            log.push(format!("{} at {}", token, firing.now()));
        });
}
