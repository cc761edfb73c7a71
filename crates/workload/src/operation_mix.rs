//! Operations drawn by weight, asked one after the other or at times of their own.
//!
//! The seed alone determines the n-th operation of a client and, in an open loop, its arrival time.
//! Every system gets the same operations.
//!
//! Files are numbered by size, so that those which hold a transfer are the last ones. Names that
//! are made, renamed and removed are others, as many as there are files. Behind them are the
//! directories and symbolic links that exist before the run. Names made in common directories
//! (`names.made_in`) take these in turn by number.
//!
//! Not modelled: which names exist (a name may be removed twice).

mod choice;
mod files;
mod rounds;
mod turn;

use std::collections::{HashMap, VecDeque};

use headrace_net::{Random, Span, Time};
use headrace_spec::{
    Amount, DIRECT_UNIT, MadeIn, MixedOperation, OperationMix, Seconds, Sharing, Taken,
    ThinkDistribution,
};
use headrace_trace::{Flags, Operation};

use super::{Application, Ask, ExistingFile, NameSets, Next, RoundCounts};
use super::{RoundMessage, RoundNews};
use choice::{Groups, Purpose, Recent};
use files::Sets;
use rounds::Rounds;
use turn::{Turn, Turns};

/// A workload of operations drawn by weight.
pub struct OperationMixApplication {
    spec: OperationMix,
    processes: u32,
    seed: u64,
    /// State of each client.
    clients: Vec<Client>,
    /// Current sizes of files that have grown.
    ends: HashMap<u32, u64>,
    /// Next read and write offsets of sequentially used files.
    places: HashMap<(u32, bool), u64>,
    sets: Sets,
    turns: Turns,
    rounds: Rounds,
    /// Directories and symbolic links, and how they are chosen.
    names: NameSets,
    directories: Groups,
    symbolic_links: Groups,
}

/// State shared by the processes of a client.
#[derive(Clone, Default)]
struct Client {
    /// Operations asked.
    asked: u64,
    /// Draws made.
    draws: u64,
    /// Draws of times made, and the time in seconds of the last arrival.
    arrivals: u64,
    last: f64,
    /// Draws made for rounds that others began.
    joined: u64,
    /// Processes that have nothing more to do.
    finished: u32,
    /// True if the client's processes run elsewhere.
    elsewhere: bool,
    /// Turns that are due before the next draw.
    coming: VecDeque<Turn>,
    /// The files of each set that were read last, and those overwritten last.
    read: Vec<Recent>,
    overwritten: Vec<Recent>,
}

impl OperationMixApplication {
    /// The workload for `processes` processes, of which every client has `per_client`.
    pub fn new(
        spec: &OperationMix,
        processes: u32,
        per_client: u32,
        seed: u64,
    ) -> OperationMixApplication {
        let clients = (processes / per_client.max(1)).max(1);
        let (directories, symbolic_links) = (
            spec.names.common_directories(spec.rate, clients),
            spec.names.symbolic_link_count(spec.rate),
        );
        let sets = Sets::new(spec);
        let spec = &OperationMix {
            files: spec.file_count(),
            bytes_per_rate: None,
            ..spec.clone()
        };
        let client = Client {
            read: vec![Recent::default(); sets.count()],
            overwritten: vec![Recent::default(); sets.count()],
            ..Client::default()
        };
        let shares = spec.names.made_in != MadeIn::Process;
        let made = match shares {
            true => spec.files.next_multiple_of(directories),
            false => spec.files,
        };
        // A client's directories are every n-th, if it has its own.
        let of_one = match spec.names.made_in {
            MadeIn::Client => directories / clients,
            _ => directories,
        };
        OperationMixApplication {
            spec: spec.clone(),
            processes,
            seed,
            clients: vec![client; clients as usize],
            ends: HashMap::new(),
            places: HashMap::new(),
            sets,
            turns: Turns::new(spec, clients, processes / clients),
            rounds: Rounds::default(),
            names: NameSets {
                first: spec.files + made,
                made: if shares { made } else { 0 },
                own: if shares { 0 } else { made },
                any: spec.names.taken == Taken::Any,
                directories,
                symbolic_links,
                sets: spec.names.sets,
            },
            directories: Groups::of_names(of_one, &spec.locality),
            symbolic_links: Groups::of_names(symbolic_links, &spec.locality),
        }
    }

    /// The file of a transfer of `size` bytes: one of an earlier operation, one used
    /// recently, or another.
    fn transferred(
        &mut self,
        client: usize,
        turn: Turn,
        set: usize,
        size: u64,
        random: &mut Random<'_>,
    ) -> u32 {
        let locality = &self.spec.locality;
        let (purpose, share) = match turn.operation.writes() {
            true => (Purpose::Write, locality.overwrites),
            false => (Purpose::Read, locality.reads),
        };
        let recent = match purpose {
            Purpose::Write => &self.clients[client].overwritten[set],
            _ => &self.clients[client].read[set],
        };
        let files = self.sets.set(set);
        let again = turn.file.or_else(|| recent.again(share, random));
        let file = again.unwrap_or_else(|| files.holding(size, purpose, random));
        if share > 0.0 && files.has(file) {
            let most = self.spec.locality.recent_files;
            let client = &mut self.clients[client];
            match purpose {
                Purpose::Write => client.overwritten[set].used(file, most),
                _ => client.read[set].used(file, most),
            }
        }
        file
    }

    /// Chooses the part of a file for a transfer of `size` bytes: offset, bytes.
    fn part(&mut self, file: u32, size: u64, writes: bool, random: &mut Random<'_>) -> (u64, u64) {
        let held = self.sets.size_of(file);
        let in_order = self.spec.random_from.is_some_and(|from| held < from.0);
        if !in_order {
            let size = size.min(held);
            return (random.below(held / size) * size, size);
        }
        let place = self.places.entry((file, writes)).or_insert(0);
        let offset = *place;
        let size = size.min(held - offset);
        *place = (offset + size) % held;
        (offset, size)
    }

    fn think(&self, random: &mut Random<'_>) -> Span {
        let mean = Span::from_seconds(self.spec.think.0);
        match self.spec.think_distribution {
            _ if mean == Span::ZERO => Span::ZERO,
            ThinkDistribution::Constant => mean,
            ThinkDistribution::Exponential => random.exponential_span(mean),
        }
    }

    /// Number of operations that are to begin in an open loop from one time to before another; none
    /// in a closed one.
    ///
    /// # Errors
    /// If one comes too late.
    pub fn arrivals(mut self, from: Time, to: Time) -> Result<Option<u64>, String> {
        let Some(rate) = self.spec.rate else {
            return Ok(None);
        };
        let most = match self.spec.amount {
            Amount::Forever => u64::MAX,
            Amount::Count(most) => u64::from(most),
        };
        let mut between = 0;
        for client in 0..self.clients.len() {
            for _ in 0..most {
                let arrival = self.arrival(client, rate)?;
                if arrival >= to {
                    break;
                }
                between += u64::from(arrival >= from);
            }
        }
        Ok(Some(between))
    }

    /// Returns the time when a client's next operation comes in an open loop.
    fn arrival(&mut self, client: usize, rate: f64) -> Result<Time, String> {
        let mean = self.clients.len() as f64 / rate;
        let key = self.key(client);
        let client = &mut self.clients[client];
        let mut random = Random::named(key, "arrivals", &mut client.arrivals);
        client.last += random.exponential(mean);
        if client.last > Seconds::LONGEST.0 {
            return Err(format!(
                "an operation is to be asked at {} s, and simulated time ends after 213 days; \
                 look at workload.rate and workload.amount",
                client.last
            ));
        }
        Ok(Time::from_seconds(client.last))
    }

    /// Processes of each client.
    fn per_client(&self) -> u32 {
        self.processes / self.clients.len() as u32
    }

    /// Draws a client's next operation and records it.
    fn ask(
        &mut self,
        client: usize,
        call: MixedOperation,
        drawn: (Operation, u32, u64, u64),
        think: Span,
        now: Time,
    ) -> Result<Ask, String> {
        self.clients[client].asked += 1;
        let intended = match self.spec.rate {
            Some(rate) => Some(self.arrival(client, rate)?),
            None => None,
        };
        let (operation, file, offset, size) = drawn;
        Ok(Ask {
            operation,
            call: Some(call),
            file,
            offset,
            size,
            after: intended.map_or(think, |time| time.since(now)),
            compute: Span::ZERO,
            intended,
            phase: 0,
            flags: Flags::NONE,
        })
    }

    /// Draws what a client asks next.
    fn drawn_next(&mut self, client: usize, now: Time) -> Result<Ask, String> {
        let asked = self.clients[client].asked;
        let mut draws = self.clients[client].draws;
        let mut random = Random::named(self.key(client), "operations", &mut draws);
        let turn = self
            .turns
            .next(&mut self.clients[client].coming, &mut random);
        let drawn = self.draw(client, turn, &mut random);
        let known = (drawn.1 < self.spec.files).then_some(drawn.1);
        let coming = &mut self.clients[client].coming;
        self.turns
            .follow(turn.operation, known, coming, &mut random);
        // The first operation does not come after another.
        let think = match asked < u64::from(self.per_client()) {
            true => Span::ZERO,
            false => self.think(&mut random),
        };
        self.clients[client].draws = draws;
        self.ask(client, turn.operation, drawn, think, now)
    }

    /// Returns the participant that a process represents in a round: itself, or its client.
    fn seat(&self, rank: u32) -> u32 {
        match self.spec.sharing {
            Sharing::Clients => rank % self.clients.len() as u32,
            _ => rank,
        }
    }

    /// The processes that a round waits for here: all others of the client of the process that
    /// begins it, or the other unfinished clients.
    fn others(&self, primary: Option<u32>) -> Vec<u32> {
        let (clients, per_client) = (self.clients.len() as u32, self.per_client());
        let goes_on = |client: &u32| {
            let client = &self.clients[*client as usize];
            !client.elsewhere && client.finished < per_client
        };
        let seats: Vec<u32> = match (self.spec.sharing, primary) {
            (Sharing::Client, Some(rank)) => (0..per_client)
                .map(|it| rank % clients + it * clients)
                .collect(),
            (Sharing::Clients, _) => (0..clients).filter(goes_on).collect(),
            _ => Vec::new(),
        };
        let own = primary.map(|rank| self.seat(rank));
        let others = seats.into_iter().filter(|it| Some(*it) != own);
        others.collect()
    }

    /// A round begins, of a process here or of one elsewhere.
    fn begins(&mut self, own: bool, call: MixedOperation, after: Span) {
        // Whom it lacks depends on all of this, and so the rounds are not within it meanwhile.
        let mut rounds = std::mem::take(&mut self.rounds);
        rounds.begins(own, call, after, |primary| {
            self.others(primary.map(|it| it.rank))
        });
        self.rounds = rounds;
    }

    /// Returns true if no process here has anything more to do.
    fn all_finished(&self) -> bool {
        let mut here = self.clients.iter().filter(|it| !it.elsewhere);
        here.all(|it| it.finished >= self.per_client())
    }

    /// A process joins the round that lacks it.
    fn join(&mut self, rank: u32, call: MixedOperation, now: Time) -> Result<Next, String> {
        let client = rank as usize % self.clients.len();
        let mut draws = self.clients[client].joined;
        let mut random = Random::named(self.key(client), "joined", &mut draws);
        let turn = Turn {
            operation: call,
            file: None,
        };
        let drawn = self.draw(client, turn, &mut random);
        self.clients[client].joined = draws;
        let ask = self.ask(client, call, drawn, Span::ZERO, now)?;
        self.rounds.join(self.seat(rank), rank, ask);
        Ok(self.go_or_wait(rank, now))
    }

    fn go_or_wait(&mut self, rank: u32, now: Time) -> Next {
        self.rounds.take(rank, now).map_or(Next::Wait, Next::Ask)
    }

    fn key(&self, client: usize) -> u64 {
        self.seed ^ ((client as u64) << 32)
    }

    /// A read in a set of files: file, offset, bytes.
    fn read(
        &mut self,
        client: usize,
        turn: Turn,
        set: usize,
        random: &mut Random<'_>,
    ) -> (u32, u64, u64) {
        let size = self.spec.read_sizes.at(random.uniform()).0;
        self.placed(client, turn, set, size, random)
    }

    /// A write in a set of files: file, offset, bytes.
    fn write(
        &mut self,
        client: usize,
        turn: Turn,
        set: usize,
        random: &mut Random<'_>,
    ) -> (u32, u64, u64) {
        let size = self.spec.write_sizes.at(random.uniform()).0;
        let appends = random.uniform() < self.spec.append_share;
        if !appends || turn.operation == MixedOperation::SharedWrite {
            return self.placed(client, turn, set, size, random);
        }
        let file = match turn.file {
            Some(file) => file,
            None => self.sets.set(set).any(Purpose::Write, random),
        };
        let first = self.sets.size_of(file);
        let end = self.ends.entry(file).or_insert(first);
        let (mut offset, size) = match turn.operation.is_direct() {
            true => (in_units(*end), in_units(size)),
            false => (*end, size),
        };
        let limit = self.spec.append_limit;
        if limit.is_some_and(|limit| offset.saturating_add(size) > first.saturating_add(limit.0)) {
            offset = match turn.operation.is_direct() {
                true => in_units(first),
                false => first,
            };
        }
        *end = offset.saturating_add(size);
        (file, offset, size)
    }

    /// A transfer of `size` bytes within a file.
    fn placed(
        &mut self,
        client: usize,
        turn: Turn,
        set: usize,
        size: u64,
        random: &mut Random<'_>,
    ) -> (u32, u64, u64) {
        use MixedOperation::{SharedRead, SharedWrite};
        if matches!(turn.operation, SharedRead | SharedWrite) {
            let file = self.sets.set(set).largest();
            let held = self.sets.size_of(file);
            let size = size.min(held);
            return (file, random.below(held / size) * size, size);
        }
        let writes = turn.operation.writes();
        if !turn.operation.is_direct() {
            let file = self.transferred(client, turn, set, size, random);
            let (offset, size) = self.part(file, size, writes, random);
            return (file, offset, size);
        }
        let size = in_units(size);
        // Following another operation, it might be on a file of less than a unit.
        let turn = Turn { file: None, ..turn };
        let file = self.transferred(client, turn, set, size, random);
        let held = self.sets.size_of(file);
        let size = size.min(held);
        let offset = random.below(held / size) * size;
        // In a file that holds less than was drawn: the whole units of it.
        (file, offset, size / DIRECT_UNIT * DIRECT_UNIT)
    }

    /// Chooses a directory, of the client's if it has its own.
    fn directory(&self, client: usize, random: &mut Random<'_>) -> u32 {
        let number = self.directories.file(0, Purpose::Other, random);
        match self.spec.names.made_in {
            MadeIn::Client => number * self.clients.len() as u32 + client as u32,
            _ => number,
        }
    }

    /// Draws an operation: operation, file, offset, bytes.
    fn draw(
        &mut self,
        client: usize,
        turn: Turn,
        random: &mut Random<'_>,
    ) -> (Operation, u32, u64, u64) {
        let set = self.sets.number_of(turn.operation);
        self.drawn(client, turn, set, random)
    }

    /// Draws an operation on a set of files.
    fn drawn(
        &mut self,
        client: usize,
        turn: Turn,
        set: usize,
        random: &mut Random<'_>,
    ) -> (Operation, u32, u64, u64) {
        use MixedOperation::{Read, ReadWrite, SharedRead, SharedReadWrite, SharedWrite, Write};
        let drawn = turn.operation;
        let operation = drawn.simulated_as();
        match drawn {
            ReadWrite | SharedReadWrite => {
                let single = match (drawn, random.uniform() < 0.5) {
                    (ReadWrite, true) => Read,
                    (ReadWrite, false) => Write,
                    (_, true) => SharedRead,
                    (_, false) => SharedWrite,
                };
                let turn = Turn {
                    operation: single,
                    ..turn
                };
                self.drawn(client, turn, set, random)
            }
            it if it.reads() => {
                let (file, offset, size) = self.read(client, turn, set, random);
                (operation, file, offset, size)
            }
            it if it.writes() => {
                let (file, offset, size) = self.write(client, turn, set, random);
                (operation, file, offset, size)
            }
            MixedOperation::Truncate => {
                let file = self.sets.set(set).any(Purpose::Write, random);
                self.ends.remove(&file);
                (operation, file, self.sets.size_of(file), 0)
            }
            it if self.names.directories > 0 && it.goes_to_a_directory() => {
                let number = self.directory(client, random);
                (operation, self.names.directory(number), 0, 0)
            }
            MixedOperation::Readlink if self.names.symbolic_links > 0 => {
                let number = self.symbolic_links.file(0, Purpose::Other, random);
                (operation, self.names.symbolic_link(number), 0, 0)
            }
            it if self.names.made > 0
                && (it.makes_or_removes() || it == MixedOperation::Stat && turn.file.is_none()) =>
            {
                let directory = self.directory(client, random);
                let number = random.below(u64::from(self.names.made_in_each())) as u32;
                (operation, self.names.made_in(directory, number), 0, 0)
            }
            it if it.makes_or_removes() => {
                let name = random.below(u64::from(self.spec.files)) as u32;
                (operation, self.spec.files + name, 0, 0)
            }
            it => {
                let purpose = match it {
                    MixedOperation::Sync => Purpose::Write,
                    _ => Purpose::Other,
                };
                let file = match turn.file {
                    Some(file) => file,
                    None => self.sets.set(set).any(purpose, random),
                };
                (operation, file, 0, 0)
            }
        }
    }
}

/// `bytes`, rounded up to a multiple of the unit of direct transfers.
fn in_units(bytes: u64) -> u64 {
    bytes.div_ceil(DIRECT_UNIT).saturating_mul(DIRECT_UNIT)
}

/// The first of `files` files that satisfies a condition which all later ones satisfy too.
fn first_with(files: u32, satisfies: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, files);
    while low < high {
        let middle = low + (high - low) / 2;
        match satisfies(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

impl Application for OperationMixApplication {
    fn processes(&self) -> u32 {
        self.processes
    }

    fn files(&self) -> u32 {
        self.names.first + self.names.directories + self.names.symbolic_links
    }

    fn name_sets(&self) -> NameSets {
        self.names
    }

    fn existing(&self) -> Vec<ExistingFile> {
        let files = 0..self.spec.files;
        files
            .map(|file| ExistingFile {
                file,
                rank: None,
                size: self.sets.size_of(file),
            })
            .collect()
    }

    fn next(&mut self, rank: u32, now: Time, _: &mut Random<'_>) -> Result<Next, String> {
        if let Some(ask) = self.rounds.take(rank, now) {
            return Ok(Next::Ask(ask));
        }
        // Processes are on the clients in turn.
        let client = rank as usize % self.clients.len();
        if self.rounds.holds(rank) {
            return Ok(Next::Wait);
        }
        if let Some(call) = self.rounds.wants(rank, self.seat(rank)) {
            return self.join(rank, call, now);
        }
        if self.rounds.comes_back(rank) {
            return Ok(self.go_or_wait(rank, now));
        }
        let asked = self.clients[client].asked;
        if matches!(self.spec.amount, Amount::Count(most) if asked >= u64::from(most)) {
            self.clients[client].finished += 1;
            if self.rounds.are_among_several() && self.all_finished() {
                self.rounds.say(RoundMessage::Finished);
            }
            return Ok(Next::Finished);
        }
        let ask = self.drawn_next(client, now)?;
        let Some(call) = ask.call.filter(|it| it.is_shared()) else {
            return Ok(Next::Ask(ask));
        };
        if self.spec.sharing == Sharing::None {
            return Ok(Next::Ask(ask));
        }
        self.rounds.begin(rank, self.seat(rank), ask, call);
        if !self.rounds.are_among_several() {
            self.begins(true, call, ask.after);
        }
        Ok(self.go_or_wait(rank, now))
    }

    fn not_issued(
        &mut self,
        rank: u32,
        until: Time,
        each: &mut dyn FnMut(&Ask),
    ) -> Result<(), String> {
        let before = |ask: &Ask| ask.intended.is_some_and(|time| time < until);
        for ask in self.rounds.held(rank).iter().filter(|ask| before(ask)) {
            each(ask);
        }
        let client = rank as usize % self.clients.len();
        let most = match self.spec.amount {
            Amount::Forever => u64::MAX,
            Amount::Count(most) => u64::from(most),
        };
        while self.clients[client].asked < most {
            let ask = self.drawn_next(client, until)?;
            if !before(&ask) {
                break;
            }
            each(&ask);
        }
        Ok(())
    }

    fn threads(&self) -> bool {
        self.spec.sharing != Sharing::None
    }

    fn woken(&mut self) -> Option<u32> {
        self.rounds.woken()
    }

    fn is_carried_out_by(&mut self, here: &[u32]) -> bool {
        if self.spec.sharing != Sharing::Clients {
            return false;
        }
        let count = self.clients.len();
        for (number, client) in (0..).zip(&mut self.clients) {
            client.elsewhere = !here.iter().any(|rank| *rank as usize % count == number);
        }
        let several = self.clients.iter().any(|it| it.elsewhere);
        if several {
            self.rounds.among_several();
        }
        several
    }

    fn message(&mut self) -> Option<RoundMessage> {
        self.rounds.message()
    }

    fn hear(&mut self, news: RoundNews) {
        match news {
            RoundNews::Begins { own, call, after } => self.begins(own, call, after),
            RoundNews::GoAhead { round, intended } => {
                self.rounds.go_ahead(round, intended, None);
            }
        }
    }

    fn rounds(&self) -> Option<RoundCounts> {
        (self.spec.sharing != Sharing::None).then(|| self.rounds.counts())
    }

    fn total_requests(&self) -> Option<u64> {
        match self.spec.amount {
            // The last round may be of more than are left.
            _ if self.spec.sharing != Sharing::None => None,
            Amount::Forever => None,
            Amount::Count(each) => Some(u64::from(each) * self.clients.len() as u64),
        }
    }
}

#[cfg(test)]
mod tests;
