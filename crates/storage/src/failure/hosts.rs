//! Availability of servers, and the cost of their failures.

use std::collections::BTreeMap;

use headrace_net::Time;
use headrace_spec::Parallel;

use crate::tokens::{Direction, Job};

/// A failure of a server, as it went.
#[derive(Clone, Debug)]
pub struct Outage {
    /// The server, among all: data servers, then metadata servers.
    pub host: u32,
    /// Time when it failed.
    pub at: Time,
    /// Time when it is back.
    pub until: Option<Time>,
    /// The data server that serves its targets from then on.
    pub partner: Option<u32>,
    /// Time when the first client took it for failed.
    pub noticed: Option<Time>,
    /// Bytes that were answered as written and lay in its memory alone.
    pub forgotten: u64,
    /// Time when copying began.
    pub repair_began: Option<Time>,
    /// Bytes that were copied.
    pub copied: u64,
    /// Time when nothing was left to be copied.
    pub whole: Option<Time>,
}

/// One server.
#[derive(Clone, Default, Debug)]
struct Host {
    /// Number of its failures and restarts: odd while it is unavailable.
    changes: u32,
    /// True if the server ever fails.
    fails: bool,
    /// Its current failure, or the last one.
    outage: Option<usize>,
    /// Data server that serves its targets, if not itself.
    machine: Option<u32>,
    /// Number of jobs that it has accepted and not answered, by sender and the sender's number. A
    /// sender is a client or the server with the copy before. A server that encodes sends several
    /// with one number.
    inside: BTreeMap<(bool, u32, u32), u32>,
}

/// All servers.
#[derive(Clone, Debug)]
pub struct HostStates {
    hosts: Vec<Host>,
    data_servers: u32,
    outages: Vec<Outage>,
}

impl HostStates {
    /// All of them there.
    pub fn new(parallel: &Parallel) -> HostStates {
        let data_servers = parallel.servers.count;
        let count = data_servers.saturating_add(parallel.metadata_servers());
        let mut hosts = vec![Host::default(); count as usize];
        let mut outages = Vec::new();
        for failure in parallel.failures() {
            let metadata = failure.metadata.map(|number| data_servers + number);
            let host = failure.server.or(metadata).unwrap_or_default();
            hosts[host as usize].fails = true;
            outages.push(Outage {
                host,
                at: Time::from_seconds(failure.at.0),
                until: parallel.back(failure).map(|it| Time::from_seconds(it.0)),
                partner: parallel.taken_over_by(failure),
                noticed: None,
                forgotten: 0,
                repair_began: None,
                copied: 0,
                whole: None,
            });
        }
        HostStates {
            hosts,
            data_servers,
            outages,
        }
    }

    /// The failures, in the order of the scenario.
    pub fn outages(&self) -> &[Outage] {
        &self.outages
    }

    /// The data server, or the metadata server on a host of its own, that has a number
    /// among all.
    pub fn numbered(&self, host: u32) -> (Option<u32>, Option<u32>) {
        match host.checked_sub(self.data_servers) {
            None => (Some(host), None),
            Some(metadata) => (None, Some(metadata)),
        }
    }

    /// Returns true if a server is there.
    pub fn is_there(&self, host: u32) -> bool {
        self.changes(host).is_multiple_of(2)
    }

    /// Number of times a server has gone or come.
    pub fn changes(&self, host: u32) -> u32 {
        self.hosts[host as usize].changes
    }

    /// Returns true if a server has failed for good.
    pub fn is_gone(&self, host: u32) -> bool {
        let outage = self.hosts[host as usize].outage;
        !self.is_there(host) && outage.is_some_and(|it| self.outages[it].until.is_none())
    }

    /// A failure begins.
    pub fn goes(&mut self, outage: usize) {
        let host = &mut self.hosts[self.outages[outage].host as usize];
        host.changes += 1;
        host.outage = Some(outage);
        host.inside.clear();
    }

    /// A failure is over.
    pub fn comes(&mut self, outage: usize) {
        let Outage { host, partner, .. } = self.outages[outage];
        let host = &mut self.hosts[host as usize];
        host.changes += 1;
        host.machine = partner.or(host.machine);
    }

    /// The machine on which a server is, by the number of its first server.
    pub fn machine(&self, host: u32) -> u32 {
        self.hosts[host as usize].machine.unwrap_or(host)
    }

    /// A server's current failure, or its last one.
    pub fn outage_of(&self, host: u32) -> Option<usize> {
        self.hosts[host as usize].outage
    }

    /// Each server's current failure, or its last one.
    pub fn last_outages(&self) -> impl Iterator<Item = usize> + use<'_> {
        self.hosts.iter().filter_map(|host| host.outage)
    }

    /// Copying of what a failure has cost begins.
    pub fn begins_repair(&mut self, outage: usize, now: Time) {
        self.outages[outage].repair_began.get_or_insert(now);
    }

    /// Bytes that a failure had cost are there again; all of them at the time given.
    pub fn repaired(&mut self, outage: usize, bytes: u64, whole: Option<Time>) {
        self.outages[outage].copied += bytes;
        self.outages[outage].whole = whole;
    }

    /// A server lost bytes that it had answered as written.
    pub fn forgets(&mut self, host: u32, bytes: u64) {
        if let Some(outage) = self.hosts[host as usize].outage {
            self.outages[outage].forgotten += bytes;
        }
    }

    /// A client takes a server for failed.
    pub fn noticed(&mut self, host: u32, now: Time) {
        if let Some(outage) = self.hosts[host as usize].outage {
            self.outages[outage].noticed.get_or_insert(now);
        }
    }

    /// A server takes a job in.
    pub fn enters(&mut self, host: u32, job: &Job) {
        let host = &mut self.hosts[host as usize];
        if host.fails && job.direction != Direction::FromNextCopy {
            *host.inside.entry(key(job)).or_default() += 1;
        }
    }

    /// Returns true if a message may leave a server: it is there, and an answer is to what came
    /// since it is.
    pub fn leaves(&mut self, host: u32, job: &Job) -> bool {
        let there = self.is_there(host);
        let host = &mut self.hosts[host as usize];
        let answers = job.direction.answers();
        if !there || !host.fails || !answers {
            return there;
        }
        let Some(jobs) = host.inside.get_mut(&key(job)) else {
            return false;
        };
        *jobs -= 1;
        if *jobs == 0 {
            host.inside.remove(&key(job));
        }
        true
    }
}

fn key(job: &Job) -> (bool, u32, u32) {
    (job.direction.between_servers(), job.client, job.request)
}
