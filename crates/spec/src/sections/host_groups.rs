//! `[[servers.group]]` and `[[clients.group]]`: hosts that differ from the others of their kind.

use std::ops::Range;
use std::sync::LazyLock;

use crate::Error;
use crate::declare::{Place, Section, section};
use crate::names;
use crate::sections::{
    Card, ClientKind, ClientMachine, Clients, Daemon, Device, Failover, IoScheduler, Machine,
    Memory, Parallel, Position, ReceiveBuffer, Replacement, Rpc, Scenario, SchedulerKind,
    ServerKind, Servers, Topology,
};
use crate::tree::{Node, Raw};
use crate::values::{AtLeastOne, Name};

section! {
    /// Servers that differ from the others: one slow disk, or a generation of their own. A section
    /// gives what differs; the rest is as in `[servers]`. Servers without a group have the lowest
    /// numbers; then come the groups in the order of the file.
    pub struct ServerGroup {
        /// Name in results: the stations of the group lie in `system/server NAME`.
        name: String as Name = required("slow"),
        /// Number of its servers, which are among `servers.count`.
        count: u32 as AtLeastOne = required(1) aka ["number", "servers"],
        /// Their network cards.
        card: Option<Card> = over("servers.card"),
        /// Their buffer for received jobs.
        receive_buffer: Option<ReceiveBuffer> = over("servers.receive_buffer"),
        /// Their process that serves the jobs.
        daemon: Option<Daemon> = over("servers.daemon"),
        /// Their page cache, if servers are of kind "simple".
        memory: Option<Memory> = over("servers.memory") aka ["cache"],
        /// The queue of their device, if servers are of kind "simple".
        io_scheduler: Option<IoScheduler> = over("servers.io_scheduler") aka ["elevator"],
        /// Their device, if servers are of kind "simple".
        device: Option<Device> = over("servers.device") aka ["disk", "storage"],
        /// Their machine, if servers are of kind "machine".
        machine: Option<Machine> = over("servers.machine") aka ["host"],
    }
    check of_server_group;
}

section! {
    /// Clients that differ from the others. A section gives what differs; the rest is as in
    /// `[clients]`.
    pub struct ClientGroup {
        /// The group: a name of `clients.groups`. Its stations lie in `system/client NAME`.
        name: String as Name = required("all"),
        /// Their network cards.
        card: Option<Card> = over("clients.card"),
        /// Their requests to the data servers.
        rpc: Option<Rpc> = over("clients.rpc"),
        /// Their machine, if clients are of kind "machine".
        machine: Option<ClientMachine> = over("clients.machine") aka ["host", "cache"],
    }
    check of_client_group;
}

/// Servers with equal settings.
#[derive(Clone, Debug)]
pub struct UniformServers {
    /// Name of their group; none for those without a group.
    pub group: Option<String>,
    /// Their numbers.
    pub numbers: Range<u32>,
    /// All about them.
    pub servers: Servers,
}

/// Clients with equal settings.
#[derive(Clone, Debug)]
pub struct UniformClients {
    /// Name of their group; none for those of all groups without fields of their own.
    pub group: Option<String>,
    /// Their numbers.
    pub numbers: Vec<u32>,
    /// All about them.
    pub clients: Clients,
}

impl Servers {
    /// The groups of servers that differ from the others.
    #[must_use]
    pub fn groups(&self) -> &[ServerGroup] {
        self.group.as_deref().unwrap_or_default()
    }

    /// The servers in the order of their numbers, those that are alike together.
    #[must_use]
    pub fn alike(&self) -> Vec<UniformServers> {
        let grouped: u32 = self.groups().iter().map(|group| group.count).sum();
        let others = self.count.saturating_sub(grouped);
        let mut all = Vec::new();
        if others > 0 {
            let mut servers = self.clone();
            servers.group = None;
            all.push(UniformServers {
                group: None,
                numbers: 0..others,
                servers,
            });
        }
        let mut first = others;
        for group in self.groups() {
            let numbers = first..first.saturating_add(group.count);
            first = numbers.end;
            all.push(UniformServers {
                group: Some(group.name.clone()),
                numbers,
                servers: self.with(group),
            });
        }
        all
    }

    /// The servers of a group, as if all were so.
    fn with(&self, group: &ServerGroup) -> Servers {
        let mut servers = self.clone();
        servers.group = None;
        replace(&mut servers.card, group.card.as_ref());
        replace(&mut servers.receive_buffer, group.receive_buffer.as_ref());
        replace(&mut servers.daemon, group.daemon.as_ref());
        match &mut servers.kind {
            ServerKind::SimpleServer(simple) => {
                replace(&mut simple.memory, group.memory.as_ref());
                replace(&mut simple.io_scheduler, group.io_scheduler.as_ref());
                replace(&mut simple.device, group.device.as_ref());
            }
            ServerKind::MachineServer(server) => {
                replace(&mut server.machine, group.machine.as_ref());
            }
        }
        servers
    }
}

impl Clients {
    /// The clients that differ from the others.
    #[must_use]
    pub fn unlike(&self) -> &[ClientGroup] {
        self.group.as_deref().unwrap_or_default()
    }

    /// The clients, those that are alike together.
    #[must_use]
    pub fn alike(&self) -> Vec<UniformClients> {
        let mut common = self.clone();
        common.group = None;
        let mut all = vec![UniformClients {
            group: None,
            numbers: Vec::new(),
            clients: common,
        }];
        for group in self.unlike() {
            all.push(UniformClients {
                group: Some(group.name.clone()),
                numbers: Vec::new(),
                clients: self.with(group),
            });
        }
        let mut first = 0;
        for (name, size) in self.group_sizes() {
            let numbers = first..first + size;
            first = numbers.end;
            let own = |alike: &UniformClients| alike.group.as_deref() == Some(name);
            let place = all.iter().position(own).unwrap_or(0);
            all[place].numbers.extend(numbers);
        }
        all.retain(|alike| !alike.numbers.is_empty());
        all
    }

    /// The clients of a group, as if all were so.
    fn with(&self, group: &ClientGroup) -> Clients {
        let mut clients = self.clone();
        clients.group = None;
        replace(&mut clients.card, group.card.as_ref());
        replace(&mut clients.rpc, group.rpc.as_ref());
        if let ClientKind::MachineClient(client) = &mut clients.kind {
            replace(&mut client.machine, group.machine.as_ref());
        }
        clients
    }
}

fn replace<T: Clone>(common: &mut T, own: Option<&T>) {
    if let Some(own) = own {
        common.clone_from(own);
    }
}

/// Building a section takes milliseconds, more than all else that reads a scenario.
static SERVERS: LazyLock<Section> = LazyLock::new(Servers::section);
static CLIENTS: LazyLock<Section> = LazyLock::new(Clients::section);

/// Refuses sections of groups that hosts of another kind have. This comes before they are read:
/// the section that says the rest of them is missing, and its required fields would be asked for.
pub(crate) fn kinds_fit(tree: &Node) -> Result<(), Error> {
    let root = Place {
        root: tree,
        path: String::new(),
    };
    for (hosts, section) in [("servers", &SERVERS), ("clients", &CLIENTS)] {
        let Some(table) = tree.find(hosts).and_then(Node::table) else {
            continue;
        };
        let Some(Raw::List(groups)) = table.get("group").map(|it| &it.raw) else {
            continue;
        };
        let Some(kind) = section.kind_of(table) else {
            continue;
        };
        let own = section.fields(Some(&kind));
        let others = section.fields(None).into_iter().map(|it| it.name);
        let others = others.filter(|name| own.iter().all(|it| it.name != *name));
        let others: Vec<&str> = others.collect();
        for (number, group) in groups.iter().enumerate() {
            let given = |name: &&&str| group.find(name).is_some();
            let Some(field) = others.iter().find(given) else {
                continue;
            };
            let instead = match kind.as_str() {
                "machine" => format!("expected it in [{hosts}.group.machine]"),
                _ => format!("leave it out, or expected a [{hosts}.machine] of all {hosts}"),
            };
            let message =
                format!("all {hosts} are of one kind: {hosts}.kind = \"{kind}\"; {instead}");
            return Err(root
                .field(hosts)
                .entry("group", number)
                .error(field, message));
        }
    }
    Ok(())
}

fn of_server_group(group: &ServerGroup, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let Some(parallel) = all.parallel() else {
        return Ok(());
    };
    let servers = &parallel.servers;
    fits_into_a_path(&group.name, at)?;
    let same = servers.groups().iter();
    if same.filter(|other| other.name == group.name).count() > 1 {
        return Err(at.error("name", "expected a name that no other group has"));
    }
    let grouped: u64 = servers.groups().iter().map(|it| u64::from(it.count)).sum();
    if grouped > u64::from(servers.count) {
        let message = format!(
            "the groups have {grouped} servers, and servers.count = {}: expected fewer",
            servers.count
        );
        return Err(at.error("count", message));
    }
    if let Some(field) = group.bypassed_field()
        && servers.streaming
    {
        let message = "data streams past the devices of like servers only: expected \
                       servers.streaming = false";
        return Err(at.error(field, message));
    }
    ports_are_alike(group.card.as_ref(), &servers.card, at)?;
    not_modelled(parallel, at)
}

/// Cards that differ have equally many ports: links have numbers by host and port.
fn ports_are_alike(card: Option<&Card>, common: &Card, at: &Place<'_>) -> Result<(), Error> {
    match card {
        Some(card) if (card.ports, card.spread) != (common.ports, common.spread) => {
            let message = format!(
                "expected the ports of the others, {}, and their spread",
                common.ports
            );
            Err(at.field("card").error("ports", message))
        }
        _ => Ok(()),
    }
}

impl ServerGroup {
    /// A section about the place of data.
    fn bypassed_field(&self) -> Option<&'static str> {
        let given = [
            ("memory", self.memory.is_some()),
            ("io_scheduler", self.io_scheduler.is_some()),
            ("device", self.device.is_some()),
        ];
        given
            .iter()
            .find(|(_, given)| *given)
            .map(|(name, _)| *name)
    }
}

/// Refuses heterogeneous servers with models that need all servers on one page.
fn not_modelled(parallel: &Parallel, at: &Place<'_>) -> Result<(), Error> {
    let at_servers = parallel.scheduler_at(Position::Server).filter(|it| {
        matches!(
            it.kind,
            SchedulerKind::Dsfq(_) | SchedulerKind::PythonScheduler(_)
        )
    });
    let why = if let Some(scheduler) = at_servers {
        format!(
            "schedulers of kind \"{}\" on unlike servers do not reach each other: expected \
             scheduler.position = \"proxy\" or one [servers] for all",
            scheduler.kind.kind()
        )
    } else if matches!(parallel.servers.failover, Failover::ActiveActive(_)) {
        "partners among unlike servers are not modelled: expected servers.failover.kind = \
         \"active-passive\" or \"none\""
            .to_owned()
    } else if parallel.servers.alike().iter().any(has_own_policy) {
        "replacement policies in Python on unlike servers are not modelled: expected another \
         servers.memory.replacement"
            .to_owned()
    } else {
        return Ok(());
    };
    Err(at.error("name", why))
}

/// Returns true if servers have a page cache with a replacement policy in Python.
fn has_own_policy(alike: &UniformServers) -> bool {
    match &alike.servers.kind {
        ServerKind::SimpleServer(simple) => simple.memory.replacement == Replacement::Python,
        ServerKind::MachineServer(_) => false,
    }
}

fn of_client_group(group: &ClientGroup, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if all.local().is_some() {
        let message = "clients of a local file system are alike: kind = \"local\"; leave it out";
        return Err(at.error("name", message));
    }
    fits_into_a_path(&group.name, at)?;
    if let Some(parallel) = all.parallel()
        && matches!(parallel.network.topology, Topology::Pairs(_))
    {
        let message = "each pair of hosts has a link of its own: expected another network.topology";
        return Err(at.error("name", message));
    }
    let clients = &all.clients;
    let known: Vec<&str> = clients.groups.names().collect();
    if !known.contains(&group.name.as_str()) {
        let message = format!(
            "expected a group of clients.groups, {}{}",
            names::or(&known),
            names::hint(&group.name, &known)
        );
        return Err(at.error("name", message));
    }
    let same = clients.unlike().iter();
    if same.filter(|other| other.name == group.name).count() > 1 {
        let message = "expected a name that no other [[clients.group]] has";
        return Err(at.error("name", message));
    }
    ports_are_alike(group.card.as_ref(), &clients.card, at)?;
    let connections = clients.rpc.connections;
    if (group.rpc.as_ref()).is_some_and(|rpc| rpc.connections != connections) {
        let message = format!("expected the connections of the others, {connections}");
        return Err(at.field("rpc").error("connections", message));
    }
    if group.card.is_some() {
        for (number, workload) in all.workload.iter().enumerate() {
            if workload.collective.two_phase().is_some() {
                let message = format!(
                    "clients that read and write together have cards alike: \
                     workload.{number}.collective.kind = \"two-phase\"; expected \"none\""
                );
                return Err(at.error("card", message));
            }
        }
    }
    let Some(machine) = &group.machine else {
        return Ok(());
    };
    let Some(common) = clients.machine() else {
        return Ok(());
    };
    let place = at.field("machine");
    if machine.attributes != common.attributes {
        let message = "all clients keep attributes alike: expected what [clients.machine.attributes] \
                       says";
        return Err(place.error("attributes", message));
    }
    if machine.memory.page != common.memory.page {
        let message = "all clients have pages of one size: expected what \
                       clients.machine.memory.page says";
        return Err(place.field("memory").error("page", message));
    }
    Ok(())
}

/// The name of a group is a part of the paths of its stations.
fn fits_into_a_path(name: &str, at: &Place<'_>) -> Result<(), Error> {
    match name.contains('/') {
        true => Err(at.error("name", "expected a name without \"/\"")),
        false => Ok(()),
    }
}
