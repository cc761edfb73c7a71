//! `[[failure]]`: a server fails, and may come back.

use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{
    Duplex, JournalMode, MetadataHosts, Parallel, RepairKind, ReplicaSets, Scenario, Topology,
};
use crate::values::{Ordinal, Seconds};

section! {
    /// A server fails. Its memory is lost, and with it the jobs that it worked on. The data on its
    /// devices is available again after its restart. `[recovery]` says what clients do.
    pub struct Failure {
        /// The data server that fails, counted from 0.
        server: Option<u32> as Option<Ordinal> = optional("a metadata server fails") aka ["data_server"],
        /// The metadata server that fails, counted from 0.
        metadata: Option<u32> as Option<Ordinal> = optional("a data server fails") aka ["metadata_server"],
        /// Time of the failure.
        at: Seconds = required("60 s") aka ["from", "time"],
        /// Time when it, or another machine with its devices, serves again. Omit it if
        /// `servers.failover` or `metadata.takeover` determines the time, unless the server returns
        /// sooner.
        until: Option<Seconds> = optional("it does not come back") aka ["back", "to"],
    }
    check failure_is_possible;
}

fn failure_is_possible(failure: &Failure, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    names_one_server(failure, parallel, at)?;
    if let Some(until) = failure.until
        && until.0 <= failure.at.0
    {
        let message = format!("expected a time after at = \"{}\"", failure.at);
        return Err(at.error("until", message));
    }
    does_not_fail_twice_at_once(failure, parallel, at)?;
    is_back_before_others_serve(failure, parallel, at)?;
    leaves_its_pair_a_server(failure, parallel, at)?;
    is_modelled(parallel, at)?;
    copies_can_be_sent(parallel, at)?;
    somebody_goes_on(failure, all, parallel, at)
}

fn names_one_server(failure: &Failure, parallel: &Parallel, at: &Place<'_>) -> Result<(), Error> {
    let (field, number, section, count) = match (failure.server, failure.metadata) {
        (Some(number), None) => ("server", number, "servers.count", parallel.servers.count),
        (None, Some(number)) => {
            let servers = parallel.metadata_servers();
            ("metadata", number, "metadata.servers", servers)
        }
        (None, None) => {
            let message = "expected the number of a data server, or metadata = that of a \
                           metadata server";
            return Err(at.error("server", message));
        }
        (Some(_), Some(_)) => {
            let message = "one [[failure]] is of one server: expected no server, or another \
                           [[failure]]";
            return Err(at.error("metadata", message));
        }
    };
    if number >= count {
        let message = format!(
            "{section} = {count}: expected a number from 0 to {}",
            count - 1
        );
        return Err(at.error(field, message));
    }
    if field == "metadata" && parallel.metadata.on != MetadataHosts::Own {
        let message = format!("it is on a data server: expected server = {number}");
        return Err(at.error(field, message));
    }
    Ok(())
}

fn does_not_fail_twice_at_once(
    failure: &Failure,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    let number = at.path.rsplit('.').next();
    let number = number.and_then(|number| number.parse::<usize>().ok());
    let earlier = parallel.failures().iter().take(number.unwrap_or(0));
    let end = |it: &Failure| parallel.back(it).map_or(f64::INFINITY, |back| back.0);
    for other in earlier {
        let same = (other.server, other.metadata) == (failure.server, failure.metadata);
        if same && failure.at.0 <= end(other) && other.at.0 <= end(failure) {
            let until = match parallel.back(other) {
                Some(until) => format!(" to \"{until}\""),
                None => " on".to_owned(),
            };
            let message = format!(
                "the same server is away from \"{}\"{until}: expected another time",
                other.at
            );
            return Err(at.error("at", message));
        }
    }
    Ok(())
}

/// Targets stay where they are once another machine has taken them over.
fn is_back_before_others_serve(
    failure: &Failure,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    let takeover = parallel.servers.failover.takeover();
    let (Some(until), Some(takeover), Some(_)) = (failure.until, takeover, failure.server) else {
        return Ok(());
    };
    let taken = Seconds(failure.at.0 + takeover.0);
    if until.0 < taken.0 {
        return Ok(());
    }
    let message = format!(
        "another machine serves its targets from \"{taken}\" on (servers.failover), and that they \
         go back is not modelled: expected an earlier time, or none"
    );
    Err(at.error("until", message))
}

/// Checks that no server fails that has taken over targets or is to take them over.
fn leaves_its_pair_a_server(
    failure: &Failure,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    let Some(server) = failure.server else {
        return Ok(());
    };
    let Some(partner) = parallel.servers.partner(server) else {
        return Ok(());
    };
    let of_pair = |it: &&Failure| it.server == Some(server) || it.server == Some(partner);
    let of_pair: Vec<&Failure> = parallel.failures().iter().filter(of_pair).collect();
    if of_pair.len() < 2 || of_pair.iter().all(|it| it.until.is_some()) {
        return Ok(());
    }
    let message = format!(
        "its partner, server {partner}, serves the targets of both and must not fail: \
         expected one failure of such a pair, or times until which they are back before others \
         serve"
    );
    Err(at.error("server", message))
}

/// Checks that schedulers between clients and servers tolerate the loss of a job.
fn is_modelled(parallel: &Parallel, at: &Place<'_>) -> Result<(), Error> {
    let message = if parallel.messages.rendezvous().is_some() {
        "with messages.kind = \"rendezvous\" a failure is not modelled: expected \"whole\""
    } else if parallel.messages.rdma().is_some() {
        "with messages.kind = \"rdma\" a failure is not modelled: expected \"whole\""
    } else if keeps_data_in_its_journal(parallel) {
        "what of its data a server's journal keeps is not told from what is lost: expected \
         another mode than servers.machine.file_system.journal.mode = \"journal\""
    } else {
        return Ok(());
    };
    Err(at.error("at", message))
}

fn keeps_data_in_its_journal(parallel: &Parallel) -> bool {
    let machine = parallel.servers.machine();
    machine.is_some_and(|it| it.file_system.journal.mode == JournalMode::Data)
}

/// Servers must reach servers to re-replicate.
fn copies_can_be_sent(parallel: &Parallel, at: &Place<'_>) -> Result<(), Error> {
    let network = &parallel.network;
    let why = if !parallel.repairs() {
        return Ok(());
    } else if matches!(network.topology, Topology::Pairs(_)) {
        "with network.topology = \"pairs\" there is no way from server to server"
    } else if network.duplex == Duplex::Half {
        "with network.duplex = \"half\" messages from server to server are not modelled"
    } else if parallel.servers.streaming {
        "with servers.streaming nothing is read before it is sent"
    } else {
        return Ok(());
    };
    let message = format!("{why}: expected replication.repair = {{ kind = \"none\" }}");
    Err(at.error("at", message))
}

/// Clients that wait for ever would never end the run.
fn somebody_goes_on(
    failure: &Failure,
    all: &Scenario,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    if all.run.stop.precision.is_some() {
        let message = "run.stop.precision may end the run before it, and the mean before it says \
                       nothing of what comes after: leave the precision out";
        return Err(at.error("at", message));
    }
    let copies = failure
        .server
        .is_some_and(|server| parallel.does_without(server));
    let waits = parallel.recovery.retries.limit().is_none();
    if parallel.back(failure).is_some() || copies || !waits || all.run.stop.time.is_some() {
        return Ok(());
    }
    let message = "clients would wait for ever for what no other server has: expected a time, \
                   recovery.retries, or run.stop.time";
    Err(at.error("until", message))
}

impl Parallel {
    /// Returns true if what a data server that never comes back has is on others too, that do.
    fn does_without(&self, server: u32) -> bool {
        let names = match self.metadata.on {
            MetadataHosts::Own => false,
            MetadataHosts::DataServers | MetadataHosts::EveryDataServer => {
                server < self.metadata_servers()
            }
        };
        let failures = self.failures().iter();
        let gone: Vec<u32> = failures
            .filter(|it| self.back(it).is_none())
            .filter_map(|it| it.server)
            .collect();
        let (servers, copies) = (self.servers.count, self.replication.pieces());
        let spare = self.replication.spare() as usize;
        let is_gone = |server| gone.contains(&server);
        let no_set_is_gone = match self.replication.sets {
            _ if self.crush().is_some() => gone.len() <= spare,
            ReplicaSets::Neighbours => (0..servers).all(|first| {
                let set = (first..first.saturating_add(copies)).map(|it| it % servers);
                !first.is_multiple_of(copies) && servers.is_multiple_of(copies)
                    || set.filter(|it| is_gone(*it)).count() <= spare
            }),
            ReplicaSets::Random | ReplicaSets::Blocks => gone.len() <= spare,
        };
        copies > 1 && !names && no_set_is_gone
    }

    /// Returns true if servers send each other copies that a failure has cost.
    #[must_use]
    pub fn repairs(&self) -> bool {
        let replication = &self.replication;
        let nobody = matches!(replication.repair.kind, RepairKind::NoRepair(_));
        !nobody && replication.pieces() > 1 && self.failures().iter().any(|it| it.server.is_some())
    }

    /// Returns true if servers send messages to servers.
    #[must_use]
    pub fn servers_talk(&self) -> bool {
        self.replication.chained() || self.repairs()
    }

    /// The data server that serves the targets of one that fails, if that is not back
    /// sooner.
    #[must_use]
    pub fn taken_over_by(&self, failure: &Failure) -> Option<u32> {
        let partner = self.servers.partner(failure.server?);
        partner.filter(|_| failure.until.is_none())
    }

    /// Returns the time when a failed server, or its replacement, serves again.
    #[must_use]
    pub fn back(&self, failure: &Failure) -> Option<Seconds> {
        let takeover = match failure.metadata {
            Some(_) => self.metadata.takeover,
            None => self.servers.failover.takeover(),
        };
        let standby = takeover.map(|takeover| Seconds(failure.at.0 + takeover.0));
        let back = failure.until.into_iter().chain(standby);
        back.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The servers' failures.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        self.failure.as_deref().unwrap_or_default()
    }
}
