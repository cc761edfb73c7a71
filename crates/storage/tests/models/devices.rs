//! Devices by themselves: a script of transfers with N outstanding at a time.

use std::sync::{Arc, Mutex};

use headrace_net::{Builder, Limits, Net, Span};
use headrace_spec::{Device, IoPriority, ServerKind};
use headrace_storage::device;
use headrace_storage::iosched::BlockDevice;
use headrace_storage::{Content, Transfer};
use headrace_trace::Operation;

/// A request and its start: as soon as the queue depth permits, or at its own time.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub at: Option<u64>,
    pub operation: Operation,
    pub address: u64,
    pub size: u64,
    pub first_used: u32,
    pub forced: bool,
    pub content: Content,
}

pub fn read(address: u64, size: u64) -> Ask {
    Ask {
        at: None,
        operation: Operation::Read,
        address,
        size,
        first_used: 0,
        forced: false,
        content: Content::Data,
    }
}

pub fn write(address: u64, size: u64) -> Ask {
    Ask {
        operation: Operation::Write,
        ..read(address, size)
    }
}

pub fn sync() -> Ask {
    Ask {
        operation: Operation::Sync,
        ..read(0, 0)
    }
}

impl Ask {
    pub fn forced(self) -> Ask {
        Ask {
            forced: true,
            ..self
        }
    }

    /// Marks the request as file system metadata.
    pub fn metadata(self) -> Ask {
        Ask {
            content: Content::Metadata,
            ..self
        }
    }

    /// Sets the number of newly allocated blocks.
    pub fn allocated(self, first_used: u32) -> Ask {
        Ask { first_used, ..self }
    }

    pub fn at(self, picoseconds: u64) -> Ask {
        Ask {
            at: Some(picoseconds),
            ..self
        }
    }

    fn transfer(&self, number: u32) -> Transfer {
        Transfer {
            owner: Some(number),
            process: 0,
            file: 0,
            offset: 0,
            address: self.address,
            size: self.size,
            first_used: self.first_used,
            operation: self.operation,
            synchronous: true,
            priority: IoPriority::default(),
            forced: self.forced,
            content: self.content,
            absorbed: false,
            member: 0,
            part_of: 0,
        }
    }
}

/// Submission and completion of a transfer, by its number in the script.
#[derive(Clone, Copy, Default, Debug)]
pub struct Took {
    pub asked: u64,
    pub done: u64,
}

impl Took {
    pub fn time(&self) -> u64 {
        self.done - self.asked
    }
}

/// The device that `text` says, below `[servers.device]`.
pub fn device(text: &str) -> Device {
    let scenario = format!(
        "[clients]\ncount = 1\n[servers]\ncount = 1\n[network]\nbandwidth = \"1 Gbit/s\"\n\
         latency = \"1 ms\"\n[layout]\nunit = \"1 MiB\"\n[[workload]]\nblock = \"1 MiB\"\n\
         [servers.device]\n{text}"
    );
    let loaded = headrace_spec::load(&scenario, "device.toml".as_ref(), &[]);
    let scenario = loaded.unwrap_or_else(|error| panic!("{error}\n{scenario}"));
    let parallel = scenario.scenario.parallel().unwrap();
    match &parallel.servers.kind {
        ServerKind::SimpleServer(simple) => simple.device.clone(),
        ServerKind::MachineServer(_) => panic!("a simple one"),
    }
}

/// Runs a script with `depth` transfers out at once.
pub fn drive(device: &Device, script: &[Ask], depth: usize) -> Vec<Took> {
    drive_on(script, depth, |page| device::build(page, device))
}

/// The same on a device that `build` makes.
pub fn drive_on(
    script: &[Ask],
    depth: usize,
    build: impl FnOnce(&mut headrace_net::Page<'_>) -> BlockDevice,
) -> Vec<Took> {
    drive_net(script, depth, build).0
}

/// The same, and what the net has seen in the end.
pub fn drive_net(
    script: &[Ask],
    depth: usize,
    build: impl FnOnce(&mut headrace_net::Page<'_>) -> BlockDevice,
) -> (Vec<Took>, Net) {
    let log = Arc::new(Mutex::new(vec![Took::default(); script.len()]));
    let mut builder = Builder::new("test", 1);
    let mut page = builder.root();
    let device = build(&mut page);
    let next = page.place::<u32>("next");
    let timed = script.iter().any(|ask| ask.at.is_some());
    let first = if timed { script.len() } else { depth };
    let (asks, tooks) = (script.to_vec(), Arc::clone(&log));
    page.tokens(next, move |_| 0..first as u32);
    page.transition("ask")
        .take(next)
        .puts_many(device.submit)
        .fires(move |firing, number: u32, ()| {
            if let Some(ask) = asks.get(number as usize) {
                let delay = ask.at.map_or(Span::ZERO, Span);
                tooks.lock().unwrap()[number as usize].asked = firing.now().0 + delay.0;
                firing.put_after(device.submit, ask.transfer(number), delay);
            }
        });
    let tooks = Arc::clone(&log);
    page.transition("record")
        .take(device.done)
        .puts_many(next)
        .fires(move |firing, transfer: Transfer, ()| {
            let number = transfer.owner.unwrap();
            let took = &mut tooks.lock().unwrap()[number as usize];
            assert_eq!(took.done, 0, "transfer {number} came back twice");
            took.done = firing.now().0.max(1);
            if !timed {
                firing.put(next, number + first as u32);
            }
        });
    let mut net = builder.compile().unwrap();
    net.run(&Limits::default()).unwrap();
    let log = log.lock().unwrap().clone();
    for (number, took) in log.iter().enumerate() {
        assert!(
            took.done > 0,
            "transfer {number} never came back: {:?}",
            script[number]
        );
    }
    (log, net)
}

/// Bytes a second from the first to the last.
pub fn rate(script: &[Ask], log: &[Took]) -> f64 {
    let bytes: u64 = script.iter().map(|ask| ask.size).sum();
    bytes as f64 / (end(log) as f64 * 1e-12)
}

/// Returns the last completion.
pub fn end(log: &[Took]) -> u64 {
    log.iter().map(|took| took.done).max().unwrap()
}

/// The mean time a transfer took, in seconds.
pub fn mean(log: &[Took]) -> f64 {
    log.iter().map(Took::time).sum::<u64>() as f64 / log.len() as f64 * 1e-12
}

/// Numbers that look random, the same each time.
pub fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut counter = 0;
    move |bound| headrace_net::Random::named(seed, "script", &mut counter).below(bound)
}
