//! Converts a trace's records to steps: the actions of each process, the files that must exist
//! before, and the steps of others to wait for.
//!
//! Processes of a trace depend on each other through files: one writes what another reads. A replay
//! keeps that order for each name, as Weiss et al. do (ROOT: Replaying Multithreaded Traces with
//! Resource-Oriented Ordering, SOSP 2013). A step that uses a name waits for the step that changed
//! it. A step that changes a name waits for those that used it.

use std::collections::{HashMap, HashSet};

use headrace_trace::{Flags, Group, Names, Operation, Record};
use headrace_workload::LeftOut;

use super::tree::{Initial, Kind, NodeId, Object, Point, State, TOP, Tree};
use crate::operation;

/// Step of a process that executes a record.
#[derive(Clone, Debug)]
pub struct Step {
    pub record: Record,
    /// The operation's number in [`operation::ALL`].
    pub number: usize,
    /// Its path in the workload's directory, and the second path of operations with two.
    pub path: String,
    pub other: String,
    /// Object of the call; none for calls on names.
    pub object: Option<Object>,
    /// True if the file is a directory.
    pub directory: bool,
    /// True if the call concerns a symbolic link itself rather than its target.
    pub link: bool,
    /// True if the name is there at this point, so that the file can be opened by it.
    pub named: bool,
    /// Steps of other processes that come before it.
    pub waits: Vec<Point>,
    /// Files that the trace uses but never creates; they are created before the run.
    pub unseen: Vec<Initial>,
    /// The length that a file must have before it, where something unseen has written it.
    pub length: Option<u64>,
}

/// Why a record is left out.
const FAILED: &str = "it failed when it was recorded, for a reason that is not here";
const LOCAL: &str = "it changes the state of the process alone";
const MESSAGE: &str = "it passes between processes, of which only the order on files is kept";
const RANGE: &str = "sync_file_range, which waits for nothing";
const NO_CALL: &str = "a trace's records have no place for its mode";
const NO_NAME: &str = "its record does not have the other name";
const GONE: &str = "the file is gone, and nobody has it open";
const IMPOSSIBLE: &str = "no file system does that";
const THROUGH_LINK: &str = "it concerns a symbolic link itself";

/// A descriptor that is open at a point of the trace.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    process: u32,
    object: Object,
}

/// Turns records into steps, in the order of the trace.
#[derive(Debug)]
pub struct Planner {
    pub tree: Tree,
    open: HashMap<u32, Vec<Descriptor>>,
    /// Steps so far, by process.
    done: Vec<u64>,
    /// Processes that have had each object open by themselves.
    opened_by: HashMap<Object, u32>,
    /// Objects that a process uses which another has opened.
    pub shared: HashSet<Object>,
    companions: HashSet<String>,
    pub left_out: Vec<LeftOut>,
    pub steps: u64,
    pub largest: u64,
}

impl Planner {
    pub fn new() -> Planner {
        Planner {
            tree: Tree::new(),
            open: HashMap::new(),
            done: Vec::new(),
            opened_by: HashMap::new(),
            shared: HashSet::new(),
            companions: HashSet::new(),
            left_out: Vec::new(),
            steps: 0,
            largest: 0,
        }
    }

    fn node_of(&mut self, file: u32, names: &Names) -> NodeId {
        self.tree.find(names.get(file).unwrap_or_default())
    }

    /// Returns the step for the next record; none if the record is skipped, which is counted.
    pub fn step(&mut self, record: &Record, names: &Names) -> Option<Step> {
        let operation = record.operation;
        if let Some(reason) = not_carried_out(record) {
            return self.leave_out(operation, reason);
        }
        let Some(number) = operation::number(operation.name()) else {
            return self.leave_out(operation, NO_CALL);
        };
        let node = self.node_of(record.file, names);
        let other = (record.other != Record::NO_FILE).then(|| self.node_of(record.other, names));
        let mut step = Step {
            record: *record,
            number,
            path: self.tree.path(node),
            other: other.map_or_else(String::new, |it| self.tree.path(it)),
            object: None,
            directory: false,
            link: false,
            named: true,
            waits: Vec::new(),
            unseen: Vec::new(),
            length: None,
        };
        let planned = match record.failed() {
            true => self.failing(&mut step, node, other),
            false => self.succeeding(&mut step, node, other),
        };
        if let Err(reason) = planned {
            return self.leave_out(operation, reason);
        }
        if let Some(object) = step.object
            && let State::Directory(_) = self.tree.node(node).state
        {
            step.directory = self.tree.node(node).state.object() == Some(object);
        }
        self.order(&mut step, node, other);
        self.steps += 1;
        if operation.carries_bytes() {
            self.largest = self.largest.max(record.size);
        }
        let process = record.process as usize;
        self.done[process] += 1;
        Some(step)
    }

    fn leave_out(&mut self, operation: Operation, reason: &str) -> Option<Step> {
        LeftOut::new("replay", operation.name(), reason, 1).add(&mut self.left_out);
        None
    }

    /// A call that failed is made where it fails here for the same reason.
    fn failing(
        &mut self,
        step: &mut Step,
        node: NodeId,
        other: Option<NodeId>,
    ) -> Result<(), &'static str> {
        use Operation::{
            Create, Link, Mkdir, Open, Readlink, Rename, Rmdir, Setattr, Stat, Symlink, Unlink,
        };
        let Record {
            operation, flags, ..
        } = step.record;
        let there = self.tree.node(node).state.object().is_some();
        if flags.has(Flags::MISSING) {
            let can = match operation {
                Open | Stat | Unlink | Rmdir | Readlink | Setattr => !there,
                Rename => !there && other.is_some(),
                // They fail only if the directory is missing.
                Create | Mkdir | Symlink => {
                    let parent = self.tree.node(node).parent;
                    !there && self.tree.node(parent).state == State::Absent
                }
                _ => false,
            };
            if !can {
                return Err(FAILED);
            }
            if self.tree.node(node).state == State::Unknown {
                self.tree.node_mut(node).state = State::Absent;
            }
            return Ok(());
        }
        if flags.has(Flags::EXISTS) && matches!(operation, Create | Mkdir | Symlink | Link) {
            let old = match (operation, other) {
                (Link, None) => return Err(NO_NAME),
                (Link, Some(old)) => self.tree.node(old).state.object(),
                _ => Some(0),
            };
            if old.is_none() {
                return Err(FAILED);
            }
            let kind = Flags::DIRECTORY.when(operation == Mkdir);
            self.tree.appears(node, kind, 0, &mut step.unseen);
            return Ok(());
        }
        Err(FAILED)
    }

    fn succeeding(
        &mut self,
        step: &mut Step,
        node: NodeId,
        other: Option<NodeId>,
    ) -> Result<(), &'static str> {
        let record = step.record;
        if is_impossible(&self.tree, record.operation, node, other) {
            return Err(IMPOSSIBLE);
        }
        match record.operation {
            Operation::Open | Operation::Create => self.opens(step, node),
            Operation::Close => self.closes(step, node),
            Operation::Read
            | Operation::Write
            | Operation::Sync
            | Operation::Truncate
            | Operation::Lock
            | Operation::Unlock
            | Operation::Getxattr
            | Operation::Setxattr
            | Operation::Readdir => self.works_on(step, node),
            Operation::Stat | Operation::Statfs | Operation::Setattr => self.looks(step, node),
            Operation::Unlink | Operation::Rmdir => {
                let kind = Flags::DIRECTORY.when(record.operation == Operation::Rmdir);
                self.there(step, node, kind, 0);
                self.tree.node_mut(node).state = State::Absent;
                Ok(())
            }
            Operation::Rename => {
                self.there(step, node, Flags::NONE, 0);
                match other {
                    Some(new) if new != node => {
                        self.parent_is_there(step, new);
                        self.tree.rename(node, new);
                        if let Some(moved) = self.open.remove(&record.file) {
                            self.open.entry(record.other).or_default().extend(moved);
                        }
                    }
                    Some(_) => {}
                    None => {
                        step.other = format!("{}.renamed", step.path);
                        self.tree.node_mut(node).state = State::Absent;
                    }
                }
                Ok(())
            }
            Operation::Link => {
                let old = other.ok_or(NO_NAME)?;
                let object = self.there(step, old, Flags::NONE, 0);
                self.is_new(step, node);
                self.tree.node_mut(node).state = State::File(object);
                Ok(())
            }
            Operation::Symlink => {
                self.is_new(step, node);
                let object = self.tree.make();
                self.tree.node_mut(node).state = State::Link(object, other);
                // From the link's directory up to the workload's, and down to the target.
                let up = "../".repeat(self.tree.depth(node).saturating_sub(1));
                step.other = match other {
                    Some(to) => {
                        let path = self.tree.path(to);
                        format!("{up}{}", path.strip_prefix('/').unwrap_or("."))
                    }
                    None => "hr-f0".to_owned(),
                };
                Ok(())
            }
            Operation::Readlink => {
                if !matches!(self.tree.node(node).state, State::Link(..)) {
                    // A link that existed before is placed beside its target.
                    self.parent_is_there(step, node);
                    step.path = format!("{}.link", step.path);
                    if self.companions.insert(step.path.clone()) {
                        step.unseen.push(Initial {
                            path: step.path.clone(),
                            kind: Kind::Link,
                            length: 0,
                            read: 0,
                        });
                    }
                }
                Ok(())
            }
            Operation::Mkdir => {
                self.is_new(step, node);
                let object = self.tree.make();
                self.tree.node_mut(node).state = State::Directory(object);
                Ok(())
            }
            Operation::Seek | Operation::Allocate => Err(NO_CALL),
            Operation::Send | Operation::Receive | Operation::Pause => Err(MESSAGE),
        }
    }

    /// The name is there, whatever has made it.
    fn there(&mut self, step: &mut Step, node: NodeId, flags: Flags, length: u64) -> Object {
        if flags.has(Flags::DIRECTORY) {
            self.tree.is_directory(node);
        }
        self.tree.appears(node, flags, length, &mut step.unseen)
    }

    fn parent_is_there(&mut self, step: &mut Step, node: NodeId) {
        let parent = self.tree.node(node).parent;
        self.there(step, parent, Flags::DIRECTORY, 0);
    }

    /// A name is made: nothing is there, and its directory is.
    fn is_new(&mut self, step: &mut Step, node: NodeId) {
        self.parent_is_there(step, node);
        if self.tree.node(node).state.object().is_some() {
            // Something unseen has removed it.
            step.unseen.push(Initial {
                path: step.path.clone(),
                kind: Kind::Absent,
                length: 0,
                read: 0,
            });
        }
    }

    fn opens(&mut self, step: &mut Step, node: NodeId) -> Result<(), &'static str> {
        let Record {
            process,
            file,
            operation,
            flags,
            ..
        } = step.record;
        let known = self.tree.node(node).state;
        let makes = operation == Operation::Create;
        let object = match known {
            // A link to nothing was opened itself.
            State::Link(_, to) => self.follow(step, to)?,
            _ if makes && flags.has(Flags::EXCLUSIVE) => {
                self.is_new(step, node);
                let object = self.tree.make();
                self.tree.node_mut(node).state = State::File(object);
                object
            }
            _ if makes && known.object().is_none() => {
                self.parent_is_there(step, node);
                let emptied = flags.has(Flags::TRUNCATE);
                if known == State::Unknown && !emptied {
                    // Bytes that are read but were not written existed before.
                    self.tree.may_appear(node, &mut step.unseen)
                } else {
                    let object = self.tree.make();
                    self.tree.node_mut(node).state = State::File(object);
                    object
                }
            }
            _ => self.there(step, node, flags, 0),
        };
        if flags.has(Flags::TRUNCATE) {
            self.tree.is_long(object, 0);
        }
        self.open
            .entry(file)
            .or_default()
            .push(Descriptor { process, object });
        self.opened_by.entry(object).or_insert(process);
        step.object = Some(object);
        Ok(())
    }

    /// Resolves a link. The engine opens the target by its own name, never through a link.
    fn follow(&self, step: &mut Step, to: Option<NodeId>) -> Result<Object, &'static str> {
        let to = to.ok_or(THROUGH_LINK)?;
        let object = self.tree.node(to).state.object().ok_or(THROUGH_LINK)?;
        step.path = self.tree.path(to);
        Ok(object)
    }

    /// Finds the object of a descriptor: the process's own, another process's, or the one of the
    /// name.
    fn descriptor(&self, step: &Step, node: NodeId) -> Option<Object> {
        let open = self.open.get(&step.record.file);
        let own = open.and_then(|all| {
            let mut own = all.iter().rev();
            own.find(|it| it.process == step.record.process)
        });
        let any = || open.and_then(|all| all.last());
        let there = || self.tree.node(node).state.object();
        own.map(|it| it.object)
            .or_else(there)
            .or_else(|| any().map(|it| it.object))
    }

    fn uses(&mut self, step: &mut Step, node: NodeId, object: Object) {
        step.named = self.tree.node(node).state.object() == Some(object);
        step.object = Some(object);
        let process = step.record.process;
        if *self.opened_by.entry(object).or_insert(process) != process {
            self.shared.insert(object);
        }
    }

    fn closes(&mut self, step: &mut Step, node: NodeId) -> Result<(), &'static str> {
        let is_link = matches!(self.tree.node(node).state, State::Link(..));
        let object = match self.descriptor(step, node) {
            Some(object) if is_link && self.tree.node(node).state.object() == Some(object) => {
                return Err(THROUGH_LINK);
            }
            Some(object) => object,
            None if self.tree.node(node).state == State::Unknown => {
                self.there(step, node, Flags::NONE, 0)
            }
            None => return Err(GONE),
        };
        if let Some(open) = self.open.get_mut(&step.record.file)
            && let Some(at) = open
                .iter()
                .rposition(|it| it.process == step.record.process)
        {
            open.remove(at);
        }
        self.uses(step, node, object);
        Ok(())
    }

    fn works_on(&mut self, step: &mut Step, node: NodeId) -> Result<(), &'static str> {
        let record = step.record;
        let kind = Flags::DIRECTORY.when(record.operation == Operation::Readdir);
        if kind != Flags::NONE {
            self.tree.is_directory(node);
        }
        let object = match (self.descriptor(step, node), self.tree.node(node).state) {
            (_, State::Link(_, to)) => self.follow(step, to)?,
            (Some(object), _) => object,
            (None, _) => self.there(step, node, kind, 0),
        };
        let point = self.next_point(record.process);
        match record.operation {
            Operation::Read if record.size > 0 => {
                if let Some(grown) = self.tree.thing(object).grown {
                    wait(step, grown);
                }
                if !self.tree.reaches(object, record.end(), true) {
                    step.length = Some(record.end());
                }
            }
            Operation::Write if record.size > 0 => {
                let thing = self.tree.thing(object);
                if record.end() > thing.length {
                    thing.length = record.end();
                    thing.grown = Some(point);
                }
            }
            Operation::Truncate => {
                self.tree.is_long(object, record.offset);
                self.tree.thing(object).grown = Some(point);
            }
            _ => {}
        }
        let followed = matches!(self.tree.node(node).state, State::Link(..));
        self.uses(step, node, object);
        step.named |= followed;
        Ok(())
    }

    fn looks(&mut self, step: &mut Step, node: NodeId) -> Result<(), &'static str> {
        let Record {
            operation,
            flags,
            size,
            ..
        } = step.record;
        if let State::Link(_, to) = self.tree.node(node).state {
            let leads = to.is_some_and(|to| self.tree.node(to).state.object().is_some());
            step.link = !leads;
            return match (leads, operation) {
                (false, Operation::Setattr | Operation::Statfs) => Err(THROUGH_LINK),
                _ => Ok(()),
            };
        }
        if self.tree.node(node).state == State::Absent
            && let Some(object) = self.descriptor(step, node)
        {
            // It has lost its name and is open.
            if operation == Operation::Setattr {
                return Err(GONE);
            }
            self.uses(step, node, object);
            return Ok(());
        }
        let length = if flags.has(Flags::REGULAR) { size } else { 0 };
        let object = self.there(step, node, flags, length);
        if flags.has(Flags::REGULAR) && !self.tree.reaches(object, length, false) {
            step.length = Some(length);
        }
        step.directory = matches!(self.tree.node(node).state, State::Directory(_));
        Ok(())
    }

    /// The step that is being planned.
    fn next_point(&mut self, process: u32) -> Point {
        let process_number = process as usize;
        if self.done.len() <= process_number {
            self.done.resize(process_number + 1, 0);
        }
        (process, self.done[process_number] + 1)
    }

    /// Adds the dependencies of a step and of later steps on it.
    fn order(&mut self, step: &mut Step, node: NodeId, other: Option<NodeId>) {
        use Operation::{Create, Link, Mkdir, Open, Rename, Rmdir, Symlink, Unlink};
        let record = step.record;
        let point = self.next_point(record.process);
        let changes = !record.failed()
            && match record.operation {
                Create | Mkdir | Symlink | Link | Unlink | Rmdir | Rename => true,
                Open => record.flags.has(Flags::TRUNCATE),
                Operation::Truncate => true,
                _ => !step.unseen.is_empty() || step.length.is_some(),
            };
        // Any process may have made the entries below.
        let whole = matches!(record.operation, Rmdir)
            || record.operation == Rename && step_has_children(&self.tree, other);
        if whole && changes {
            for (process, &done) in self.done.iter().enumerate() {
                wait(step, (process as u32, done));
            }
        }
        let mut concerned = vec![node];
        if let State::Link(_, Some(to)) = self.tree.node(node).state {
            concerned.push(to);
        }
        if matches!(record.operation, Rename | Link) {
            concerned.extend(other);
        }
        for at in concerned {
            for above in self.tree.ancestors(at) {
                if let Some(changed) = self.tree.node(above).changed {
                    wait(step, changed);
                }
            }
            let node = self.tree.node_mut(at);
            if let Some(changed) = node.changed {
                wait(step, changed);
            }
            if changes {
                for used in std::mem::take(&mut node.used) {
                    wait(step, used);
                }
                node.changed = Some(point);
            } else {
                match node.used.iter_mut().find(|it| it.0 == point.0) {
                    Some(used) => *used = point,
                    None => node.used.push(point),
                }
            }
        }
        step.waits.retain(|it| it.0 != point.0);
    }
}

/// Returns true if an operation changes the top directory, or moves a directory below itself.
fn is_impossible(tree: &Tree, operation: Operation, node: NodeId, other: Option<NodeId>) -> bool {
    use Operation::{Create, Link, Mkdir, Rename, Rmdir, Symlink, Truncate, Unlink, Write};
    let changes = matches!(
        operation,
        Create | Link | Mkdir | Rename | Rmdir | Symlink | Truncate | Unlink | Write
    );
    let top = changes && (node == TOP || operation == Rename && other == Some(TOP));
    let below = |to| tree.ancestors(to).contains(&node);
    top || operation == Rename && other.is_some_and(below)
}

fn step_has_children(tree: &Tree, node: Option<NodeId>) -> bool {
    node.is_some_and(|node| matches!(tree.node(node).state, State::Directory(_)))
}

/// Adds a dependency; only the latest point of each process counts.
fn wait(step: &mut Step, point: Point) {
    match step.waits.iter_mut().find(|it| it.0 == point.0) {
        Some(known) => known.1 = known.1.max(point.1),
        None => step.waits.push(point),
    }
}

/// Why the engine does not carry a record out at all.
fn not_carried_out(record: &Record) -> Option<&'static str> {
    match record.operation {
        operation if operation.group() == Group::Local => Some(LOCAL),
        operation if operation.group() == Group::Process => Some(MESSAGE),
        Operation::Sync if record.flags.has(Flags::RANGE) => Some(RANGE),
        Operation::Allocate => Some(NO_CALL),
        _ => None,
    }
}
