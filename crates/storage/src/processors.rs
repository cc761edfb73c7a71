//! The processors that send and receive messages: one on each host, or one that several hosts
//! share.
//!
//! ```text
//!   to send ─▶ [begin sending] ─┐                   ┌─▶ send
//!                               ├─▶ (processor) ─▶ [end]
//!   received ─▶ [begin receiving] ┘                 └─▶ arrived
//! ```
//!
//! A message takes `send`, and its data `send_rate`, on a core of the sending host. After the
//! network it takes `receive` and `receive_rate` on a core of the receiving host. These are the
//! overheads and gaps of LogGP (Alexandrov, Ionescu, Schauser and Scheiman, SPAA 1995). Service is
//! first come, first served. RDMA bypasses a client's processor.
//!
//! A data server's time for a job (`serve_read`, `serve_write`) is added to the requesting message.
//! Its time for an access to storage (`access`) is added to the message with the data. The cores of
//! `servers.machine.cpu` are separate.
//!
//! Not modelled: other computation of processes; context switches; interrupts; caches that other
//! work has emptied; the moment between two messages at which a server computes.

use headrace_net::{Fcfs, Node, Page, Port, Random, Span, To};
use headrace_spec::{HostCpu, Parallel, Rate, SharedBy};
use headrace_trace::Operation;

use crate::duplex::Duplex;
use crate::host_pages::JoinPages;
use crate::tokens::{Job, Message, Role};

/// The hosts that are of one kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Clients.
    Client,
    /// Data and metadata servers.
    Server,
}

/// A host's way to a processor that it shares with others.
#[derive(Clone, Copy)]
pub struct Shared {
    work: Port<Job>,
    done: Port<Job>,
}

impl Shared {
    /// Joins the ways of several pages of hosts.
    pub(crate) fn join(join: &mut JoinPages<'_, '_>, all: &[Shared]) -> Shared {
        Shared {
            work: join.output("messages to processor", all.iter().map(|it| it.work)),
            done: join.input("messages from processor", all.iter().map(|it| it.done)),
        }
    }
}

/// A host's ways to and from its network.
pub struct Host {
    /// Destination of jobs for or from data servers, and arrived messages.
    pub duplex: Duplex,
    /// Destination of metadata requests or replies.
    pub ask: To<Job>,
    /// Its way to a shared processor, if it has none of its own.
    pub shared: Option<Shared>,
}

/// Puts a processor between a host and its network, in whose page this is called, if messages take
/// any time. Messages about names it sends to `ask`.
pub fn host(
    page: &mut Page<'_>,
    scenario: &Parallel,
    kind: Kind,
    outside: Duplex,
    ask: To<Job>,
) -> Host {
    let spec = &scenario.hosts.cpu;
    if !spec.costs() {
        return Host {
            duplex: outside,
            ask,
            shared: None,
        };
    }
    let shared = match spec.shared_by {
        SharedBy::None => false,
        SharedBy::Clients => kind == Kind::Client,
        SharedBy::Servers => kind == Kind::Server,
        SharedBy::All => true,
    };
    let to_send = page.place::<Job>("to send");
    let arrived = page.place::<Job>("arrived");
    let (work, done, ways): (To<Job>, Node<Job>, _) = if shared {
        let work = page.output("messages to processor");
        let done = page.input("messages from processor");
        let processed = page.place("processed");
        page.connect(done, processed);
        (work.into(), processed, Some(Shared { work, done }))
    } else {
        let processor = cpu(page, spec);
        (processor.into(), processor, None)
    };
    // A client's card does its part of RDMA alone.
    let card_alone = kind == Kind::Client && scenario.messages.rdma().is_some();
    for (name, from, received, past) in [
        ("begin sending", to_send, false, outside.send),
        ("begin receiving", outside.received, true, arrived.into()),
    ] {
        let begin = page.transition(name).take(from);
        if card_alone {
            begin.route([work, past], move |_, job: &mut Job, ()| {
                job.received = received;
                match job.message.is_remote_access() {
                    true => past,
                    false => work,
                }
            });
        } else {
            begin.put(work, move |_, job: Job, ()| Job { received, ..job });
        }
    }
    page.transition("end").take(done).route(
        [arrived.into(), outside.send, ask],
        move |_, job: &mut Job, ()| match (job.received, job.role) {
            (true, _) => arrived.into(),
            (false, Role::Data) => outside.send,
            (false, Role::Metadata) => ask,
        },
    );
    Host {
        duplex: Duplex {
            send: to_send.into(),
            received: arrived,
        },
        ask: to_send.into(),
        shared: ways,
    }
}

/// The processors that hosts share, in the page around the clients, the data servers and
/// the metadata servers.
pub fn join(page: &mut Page<'_>, scenario: &Parallel, hosts: [Option<Shared>; 3]) {
    let [clients, servers, metadata] = hosts;
    let Some(any) = clients.or(servers) else {
        return;
    };
    let processor = page.page("hosts", |page| {
        let ports = (page.input("messages"), page.output("done"));
        let cpu = cpu(page, &scenario.hosts.cpu);
        page.connect(ports.0, cpu);
        page.connect(cpu, ports.1);
        ports
    });
    let processed = page.place::<Job>("processed");
    page.connect(processor.1, processed);
    for host in hosts.into_iter().flatten() {
        page.connect(host.work, processor.0);
    }
    // Metadata servers without hosts of their own are on the data servers.
    let metadata = metadata.or(servers);
    // Where there are none, no message is from them. A transition tells its targets apart
    // by where they lead, not by which copy they choose.
    let [servers, metadata] = [servers, metadata].map(|host| host.map(|it| it.done.by(server_of)));
    let clients = clients.map(|host| host.done.by(client_of));
    let any = clients.or(servers).unwrap_or(any.done.by(server_of));
    let [clients, servers, metadata] = [clients, servers, metadata].map(|it| it.unwrap_or(any));
    page.transition("back to its host").take(processed).route(
        [clients, servers, metadata],
        move |_, job: &mut Job, ()| match (
            at_client(job) && !job.direction.between_servers(),
            job.role,
        ) {
            (true, _) => clients,
            (false, Role::Data) => servers,
            (false, Role::Metadata) => metadata,
        },
    );
}

/// A processor.
fn cpu(page: &mut Page<'_>, spec: &HostCpu) -> Node<Job> {
    let per_byte = |rate: Option<Rate>| rate.map_or(0.0, |rate| 1e12 / rate.0);
    let sending = (Span::from_seconds(spec.send.0), per_byte(spec.send_rate));
    let receiving = (
        Span::from_seconds(spec.receive.0),
        per_byte(spec.receive_rate),
    );
    let serving = Serving::new(spec);
    let time = move |job: &Job, _: &mut Random<'_>| {
        let (message, per_byte) = if job.received { receiving } else { sending };
        let bytes = Span((job.payload() as f64 * per_byte + 0.5) as u64);
        match job.message {
            Message::Room => Span::ZERO,
            // The server starts an operation or hears of its end; no byte is copied.
            Message::RdmaRead | Message::RdmaData => message + serving.time(job),
            _ => message + bytes + serving.time(job),
        }
    };
    page.station("cpu", Fcfs::new(spec.cores, time))
}

/// Processor time of a data server for jobs, besides messages.
#[derive(Clone, Copy)]
struct Serving {
    read: Span,
    write: Span,
    access: Span,
}

impl Serving {
    fn new(spec: &HostCpu) -> Serving {
        let [read, write, access] =
            [spec.serve_read, spec.serve_write, spec.access].map(|time| Span::from_seconds(time.0));
        Serving {
            read,
            write,
            access,
        }
    }

    /// The part of it that goes with a message. A job's goes with its request, an access's with the
    /// data, which is sent after the read.
    fn time(&self, job: &Job) -> Span {
        let of_job = match job.operation {
            Operation::Read => self.read,
            Operation::Write => self.write,
            _ => return Span::ZERO,
        };
        let asked = job.received && !job.direction.answers();
        let given = !job.received && job.direction.answers();
        match (job.role, job.message) {
            (Role::Data, Message::Whole) if asked => of_job + self.access,
            (Role::Data, Message::Request) if asked => of_job,
            (Role::Data, Message::Data | Message::RdmaData) if asked || given => self.access,
            _ => Span::ZERO,
        }
    }
}

fn client_of(job: &Job) -> u32 {
    job.client
}

/// The server whose processor has a message: between servers, the one that has the copy
/// before stands as the client.
fn server_of(job: &Job) -> u32 {
    if job.direction.between_servers() && at_client(job) {
        job.client
    } else {
        job.server
    }
}

/// Returns true if it is the client's processor that has a message: one that has arrived is at the
/// other end.
fn at_client(job: &Job) -> bool {
    job.direction.answers() == job.received
}
