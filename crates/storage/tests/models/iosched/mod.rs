//! I/O schedulers by themselves: between transfers that come at given times, or
//! when earlier ones are done, and a device of known service times.

mod anticipatory;
mod bfq;
mod cfq;
mod deadline;
mod every_transfer;
mod in_servers;
mod kyber;
mod merging;
mod priorities;

use std::sync::{Arc, Mutex};

use headrace_net::{Builder, Fcfs, Limits, Random, Span, Time};
use headrace_spec::{
    Anticipatory, Bfq, Bytes, Cfq, Deadline, IoClass, IoPriority, IoScheduler, IoSchedulerKind,
    Kyber, MqDeadline, NoIoScheduler, Noop, Seconds,
};
use headrace_storage::iosched::BlockDevice;
use headrace_storage::iosched::build;
use headrace_storage::{Content, Transfer};
use headrace_trace::Operation::{self, Read, Write};

const KIB: u64 = 1024;
const MIB: u64 = 1 << 20;
const MILLISECOND: Span = Span::from_millis(1);

/// A queue with the usual limits.
fn queue(kind: IoSchedulerKind, depth: u32) -> IoScheduler {
    IoScheduler {
        kind,
        depth: Some(depth),
        requests: 128,
        largest_request: Bytes(1280 * KIB),
    }
}

fn none() -> IoSchedulerKind {
    IoSchedulerKind::NoIoScheduler(NoIoScheduler {})
}

fn noop() -> IoSchedulerKind {
    IoSchedulerKind::Noop(Noop {})
}

fn deadline() -> IoSchedulerKind {
    IoSchedulerKind::Deadline(Deadline {
        read_expire: Seconds(0.5),
        write_expire: Seconds(5.0),
        writes_starved: 2,
        fifo_batch: 16,
        front_merges: true,
    })
}

fn mq_deadline() -> IoSchedulerKind {
    IoSchedulerKind::MqDeadline(MqDeadline {
        read_expire: Seconds(0.5),
        write_expire: Seconds(5.0),
        writes_starved: 2,
        fifo_batch: 16,
        prio_aging_expire: Seconds(10.0),
        front_merges: true,
    })
}

fn anticipatory() -> IoSchedulerKind {
    IoSchedulerKind::Anticipatory(Anticipatory {
        read_expire: Seconds(0.125),
        write_expire: Seconds(0.25),
        read_batch_expire: Seconds(0.5),
        write_batch_expire: Seconds(0.125),
        antic_expire: Seconds(0.006),
    })
}

fn cfq(priorities: Option<Vec<u32>>) -> IoSchedulerKind {
    IoSchedulerKind::Cfq(Cfq {
        quantum: 8,
        slice_sync: Seconds(0.1),
        slice_async: Seconds(0.04),
        slice_async_requests: 2,
        slice_idle: Seconds(0.008),
        fifo_expire_sync: Seconds(0.125),
        fifo_expire_async: Seconds(0.25),
        back_seek_max: Bytes(16 * MIB),
        back_seek_penalty: 2,
        priorities,
    })
}

fn bfq(weights: Option<Vec<u32>>) -> IoSchedulerKind {
    IoSchedulerKind::Bfq(Bfq {
        max_budget: Bytes(8 * MIB),
        timeout_sync: Seconds(0.125),
        slice_idle: Seconds(0.008),
        fifo_expire_sync: Seconds(0.125),
        fifo_expire_async: Seconds(0.25),
        back_seek_max: Bytes(16 * MIB),
        back_seek_penalty: 2,
        weights,
    })
}

fn kyber() -> IoSchedulerKind {
    IoSchedulerKind::Kyber(Kyber {
        read_latency: Seconds(0.002),
        write_latency: Seconds(0.01),
    })
}

/// Every kind, by its defaults.
fn every_kind() -> Vec<IoSchedulerKind> {
    vec![
        none(),
        noop(),
        deadline(),
        mq_deadline(),
        anticipatory(),
        cfq(None),
        bfq(None),
        kyber(),
    ]
}

/// The same process reads on at once.
fn reads_on(transfer: &Transfer) -> Option<(Span, Transfer)> {
    let follows = Transfer {
        address: transfer.end(),
        ..*transfer
    };
    Some((Span::ZERO, follows))
}

/// A transfer that is synchronous if it reads.
fn transfer(operation: Operation, process: u32, address: u64, size: u64) -> Transfer {
    Transfer {
        owner: None,
        process,
        file: 0,
        offset: 0,
        address,
        size,
        first_used: 0,
        operation,
        synchronous: operation == Read,
        priority: IoPriority::default(),
        forced: false,
        content: Content::Data,
        absorbed: false,
        member: 0,
        part_of: 0,
    }
}

fn read(process: u32, address: u64) -> Transfer {
    transfer(Read, process, address, 4 * KIB)
}

fn write(process: u32, address: u64) -> Transfer {
    transfer(Write, process, address, 4 * KIB)
}

/// A transfer at an instant.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Time,
    transfer: Transfer,
}

/// Dispatches and completions, in order.
#[derive(Default, Debug)]
struct Log {
    issued: Vec<Seen>,
    done: Vec<Seen>,
    most_out: usize,
    out: usize,
}

impl Log {
    /// The addresses that went to the device.
    fn addresses(&self) -> Vec<u64> {
        self.issued
            .iter()
            .map(|seen| seen.transfer.address)
            .collect()
    }

    /// The processes of what went to the device.
    fn processes(&self) -> Vec<u32> {
        self.issued
            .iter()
            .map(|seen| seen.transfer.process)
            .collect()
    }

    /// Bytes that came back to a process until a time.
    fn bytes(&self, process: u32, until: Time) -> u64 {
        let own = self
            .done
            .iter()
            .filter(|seen| seen.transfer.process == process && seen.at <= until);
        own.map(|seen| seen.transfer.size).sum()
    }
}

/// Next transfer of a process after a completion, with its delay.
type Next = fn(&Transfer) -> Option<(Span, Transfer)>;

fn nothing(_: &Transfer) -> Option<(Span, Transfer)> {
    None
}

/// Runs transfers that come at given times, and those that follow them, through
/// a queue before a device that serves `servers` at once.
fn drive(
    spec: &IoScheduler,
    servers: u32,
    service: impl FnMut(&Transfer, &mut Random<'_>) -> Span + Clone + Send + 'static,
    first: &[(Span, Transfer)],
    next: Next,
    until: Limits,
) -> Log {
    let log: Arc<Mutex<Log>> = Arc::default();
    let mut builder = Builder::new("test", 1);
    let mut page = builder.root();
    let coming = page.place::<Transfer>("coming");
    let start = page.place::<(Span, Transfer)>("start");
    let first = first.to_vec();
    page.tokens(start, move |_| first.clone());
    page.transition("send").take(start).puts(coming).fires(
        move |firing, (at, transfer): (Span, Transfer), ()| {
            firing.put_after(coming, transfer, at);
        },
    );
    let station = page.station("device", Fcfs::new(servers, service));
    let device = BlockDevice {
        submit: page.place("device queue"),
        done: page.place("device done"),
    };
    let noted = Arc::clone(&log);
    page.transition("served")
        .take(station)
        .put(device.done, move |_, transfer: Transfer, ()| {
            noted.lock().unwrap().out -= 1;
            transfer
        });
    let noted = Arc::clone(&log);
    page.transition("note").take(device.submit).put(
        station,
        move |firing, transfer: Transfer, ()| {
            let mut log = noted.lock().unwrap();
            log.out += 1;
            log.most_out = log.most_out.max(log.out);
            let at = firing.now();
            log.issued.push(Seen { at, transfer });
            transfer
        },
    );
    let block = build(&mut page, spec, device);
    page.connect(coming, block.submit);
    let noted = Arc::clone(&log);
    page.transition("done")
        .take(block.done)
        .may_put(coming)
        .fires(move |firing, transfer: Transfer, ()| {
            let mut log = noted.lock().unwrap();
            let at = firing.now();
            log.done.push(Seen { at, transfer });
            if let Some((later, follows)) = next(&transfer) {
                firing.put_after(coming, follows, later);
            }
        });
    let mut net = builder.compile().unwrap();
    net.run(&until).unwrap();
    drop(net);
    Arc::into_inner(log).unwrap().into_inner().unwrap()
}

/// As [`drive`], one millisecond for each request, one request after the other,
/// until all is done.
fn script(spec: &IoScheduler, first: &[(Span, Transfer)]) -> Log {
    let servers = spec.depth.unwrap_or(1);
    let service = |_: &Transfer, _: &mut Random<'_>| MILLISECOND;
    drive(spec, servers, service, first, nothing, Limits::default())
}
