//! `[hosts]`: what clients and servers have in common.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Rate, Seconds, choice};

choice! {
    /// Hosts that share one processor.
    pub enum SharedBy {
        /// Each host has its own.
        None = "none",
        /// All clients have one.
        Clients = "clients",
        /// All data and metadata servers have one.
        Servers = "servers",
        /// All hosts have one.
        All = "all",
    }
}

section! {
    /// Settings common to clients and servers.
    pub struct Hosts {
        /// The processors that send and receive messages.
        cpu: HostCpu = section() aka ["processor"],
    }
}

section! {
    /// The processors of clients and servers, as far as messages need them: the overheads of the
    /// LogGP model (Alexandrov et al. 1995). A message takes its time on a core before it is sent,
    /// and after it has arrived; others wait, first come, first served. The processor time of a
    /// data server for a job is added to the message that asks for it, or that has the data. The
    /// cores of a machine (`machine.cpu`) are others.
    pub struct HostCpu {
        /// Cores of a processor.
        cores: u32 as AtLeastOne = default(1, "one core"),
        /// Hosts that share one processor, as virtual machines or containers on one machine do.
        shared_by: SharedBy = default("none", "each host is a machine of its own"),
        /// Time to send a message.
        send: Seconds = default("0 s", "nothing is assumed: measure it") aka ["send_overhead"],
        /// Time to receive a message.
        receive: Seconds = default("0 s", "nothing is assumed: measure it") aka ["receive_overhead"],
        /// Rate at which data is sent, besides.
        send_rate: Option<Rate> = optional("bytes take no time"),
        /// Rate at which data is received, besides.
        receive_rate: Option<Rate> = optional("bytes take no time"),
        /// Time of a data server for each job that reads, beside its messages: what hands
        /// it from thread to thread, for instance.
        serve_read: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Time of a data server for each job that writes, beside its messages.
        serve_write: Seconds = default("0 s", "nothing is assumed: measure it"),
        /// Time of a data server for each access to its storage, for example of a thread that
        /// serves it. A job is one access; with `messages.kind = "rendezvous"` each buffer of it
        /// is.
        access: Seconds = default("0 s", "nothing is assumed: measure it"),
    }
    check only_where_it_costs;
}

impl HostCpu {
    /// Returns true if any message or job takes time.
    #[must_use]
    pub fn costs(&self) -> bool {
        let times = [
            self.send,
            self.receive,
            self.serve_read,
            self.serve_write,
            self.access,
        ];
        times.iter().any(|time| time.0 > 0.0)
            || self.send_rate.is_some()
            || self.receive_rate.is_some()
    }
}

fn only_where_it_costs(cpu: &HostCpu, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if cpu.shared_by != SharedBy::None && !cpu.costs() {
        let message = "nothing takes time on it: give send, receive, send_rate, receive_rate, \
                       serve_read, serve_write or access, or leave it out";
        return Err(at.error("shared_by", message));
    }
    Ok(())
}
