//! The names of a trace at one point of it: which exist, their kind and length, and their last
//! writer.

use std::collections::HashMap;

use headrace_trace::Flags;

/// A name's place in a [`Tree`].
pub type NodeId = u32;

/// The number of what a name stands for: it stays when the name changes.
pub type Object = u32;

/// A process, and how many of its steps have to be done.
pub type Point = (u32, u64);

/// The top directory.
pub const TOP: NodeId = 0;

/// State of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Nothing so far.
    Unknown,
    /// It is not there.
    Absent,
    /// It is a file.
    File(Object),
    /// It is a directory.
    Directory(Object),
    /// It is a symbolic link that the trace makes, to a name if that is known.
    Link(Object, Option<NodeId>),
}

impl State {
    /// Returns the object of a name, if it exists.
    pub fn object(self) -> Option<Object> {
        match self {
            State::Unknown | State::Absent => None,
            State::File(object) | State::Directory(object) | State::Link(object, _) => Some(object),
        }
    }
}

/// A name.
#[derive(Debug)]
pub struct Node {
    pub parent: NodeId,
    /// The number of its last component's text.
    pub component: u32,
    pub state: State,
    children: HashMap<u32, NodeId>,
    /// The step that last changed the object of the name, and those that used it since.
    pub changed: Option<Point>,
    pub used: Vec<Point>,
}

/// A file, directory or link.
#[derive(Clone, Copy, Debug)]
pub struct FileObject {
    /// Bytes of a file, as far as they are known.
    pub length: u64,
    /// Index in the list of initial files; the length may still grow.
    pub initial: Option<usize>,
    /// The step that wrote its last bytes.
    pub grown: Option<Point>,
}

/// A file that exists before the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initial {
    /// Its path in the workload's directory.
    pub path: String,
    pub kind: Kind,
    /// Bytes of a file, and how many of them are read: no others need have been written.
    pub length: u64,
    pub read: u64,
}

/// Kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Directory,
    /// A symbolic link to nothing.
    Link,
    /// Nothing is to be there.
    Absent,
}

/// All names of a trace.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    components: HashMap<Box<str>, u32>,
    things: Vec<FileObject>,
    pub initial: Vec<Initial>,
}

impl Tree {
    pub fn new() -> Tree {
        Tree {
            nodes: vec![Node {
                parent: TOP,
                component: 0,
                state: State::Directory(0),
                children: HashMap::new(),
                changed: None,
                used: Vec::new(),
            }],
            components: HashMap::new(),
            things: vec![FileObject {
                length: 0,
                initial: None,
                grown: None,
            }],
            initial: Vec::new(),
        }
    }

    /// The place of a name. `..` never leads above the top; a relative path lies in a directory
    /// of its own.
    pub fn find(&mut self, name: &str) -> NodeId {
        let mut at = TOP;
        if !name.starts_with('/') {
            at = self.child(at, "(unknown directory)");
        }
        for step in name.split('/') {
            at = match step {
                "" | "." => at,
                ".." => self.nodes[at as usize].parent,
                step => self.child(at, step),
            };
        }
        at
    }

    fn child(&mut self, parent: NodeId, name: &str) -> NodeId {
        let next = self.components.len() as u32;
        let component = match self.components.get(name) {
            Some(&component) => component,
            None => {
                self.components.insert(name.into(), next);
                next
            }
        };
        let new = self.nodes.len() as NodeId;
        let found = self.nodes[parent as usize].children.get(&component);
        if let Some(&found) = found {
            return found;
        }
        self.nodes[parent as usize].children.insert(component, new);
        self.nodes.push(Node {
            parent,
            component,
            state: State::Unknown,
            children: HashMap::new(),
            changed: None,
            used: Vec::new(),
        });
        new
    }

    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node as usize]
    }

    pub fn node_mut(&mut self, node: NodeId) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    pub fn thing(&mut self, object: Object) -> &mut FileObject {
        &mut self.things[object as usize]
    }

    /// Something new.
    pub fn make(&mut self) -> Object {
        self.things.push(FileObject {
            length: 0,
            initial: None,
            grown: None,
        });
        (self.things.len() - 1) as Object
    }

    /// A name's path in the workload's directory. Each component has a number, so that no name of a
    /// trace leads out of it or is too long.
    pub fn path(&self, node: NodeId) -> String {
        let mut components = Vec::new();
        let mut at = node;
        while at != TOP {
            components.push(self.node(at).component);
            at = self.node(at).parent;
        }
        let names: Vec<_> = components
            .iter()
            .rev()
            .map(|component| format!("/hr-n{component}"))
            .collect();
        names.concat()
    }

    /// Number of directories that lie above a name.
    pub fn depth(&self, node: NodeId) -> usize {
        let (mut depth, mut at) = (0, node);
        while at != TOP {
            depth += 1;
            at = self.node(at).parent;
        }
        depth
    }

    /// Records that a name and its directories exist: either since before the trace, or made by a
    /// call that the trace does not show. The latter are named in `unseen`, as they are to be made
    /// before the step that finds them.
    pub fn appears(
        &mut self,
        node: NodeId,
        flags: Flags,
        length: u64,
        unseen: &mut Vec<Initial>,
    ) -> Object {
        if let Some(object) = self.node(node).state.object() {
            return object;
        }
        let parent = self.node(node).parent;
        let above = match self.node(parent).state {
            State::Directory(object) => object,
            State::File(object) => {
                self.is_directory(parent);
                object
            }
            // Paths behind a link are not followed.
            State::Link(object, _) => object,
            State::Unknown | State::Absent => self.appears(parent, Flags::DIRECTORY, 0, unseen),
        };
        let is_directory = flags.has(Flags::DIRECTORY);
        let object = self.make();
        let known = self.node(node).state == State::Unknown;
        let component = self.node(node).component;
        self.node_mut(node).state = match is_directory {
            true => State::Directory(object),
            false => State::File(object),
        };
        let kind = match is_directory {
            true => Kind::Directory,
            false => Kind::File,
        };
        self.things[object as usize].length = length;
        let below = match (above, self.things[above as usize].initial) {
            (0, _) => Some(String::new()),
            (_, Some(initial)) => Some(self.initial[initial].path.clone()),
            _ => None,
        };
        if let (true, Some(below)) = (known, below) {
            self.things[object as usize].initial = Some(self.initial.len());
            let path = format!("{below}/hr-n{component}");
            let read = 0;
            self.initial.push(Initial {
                path,
                kind,
                length,
                read,
            });
        } else {
            let path = self.path(node);
            unseen.push(Initial {
                path,
                kind,
                length,
                read: 0,
            });
        }
        object
    }

    /// A file that may have been there before the trace: it is made only if more is read of it
    /// than was written.
    pub fn may_appear(&mut self, node: NodeId, unseen: &mut Vec<Initial>) -> Object {
        let object = self.appears(node, Flags::NONE, 0, unseen);
        match self.thing(object).initial {
            Some(initial) => self.initial[initial].kind = Kind::Absent,
            // Its directory is the trace's own: nothing was in it.
            None => drop(unseen.pop()),
        }
        object
    }

    /// Corrects a node that was assumed to be a file into a directory.
    pub fn is_directory(&mut self, node: NodeId) {
        if let State::File(object) = self.node(node).state {
            self.node_mut(node).state = State::Directory(object);
            if let Some(initial) = self.thing(object).initial {
                self.initial[initial].kind = Kind::Directory;
                self.initial[initial].length = 0;
            }
        }
    }

    /// Something is at least so long, as reading it or looking at it shows; whether that is known
    /// or can be arranged before the run.
    pub fn reaches(&mut self, object: Object, length: u64, is_read: bool) -> bool {
        let thing = &mut self.things[object as usize];
        let known = thing.length >= length;
        thing.length = thing.length.max(length);
        let Some(initial) = thing.initial else {
            return known;
        };
        let initial = &mut self.initial[initial];
        if !known {
            initial.length = length;
            if initial.kind == Kind::Absent {
                initial.kind = Kind::File;
            }
        }
        if is_read {
            initial.read = initial.read.max(length.min(initial.length));
        }
        true
    }

    /// Its length from now on: its length before the trace is settled.
    pub fn is_long(&mut self, object: Object, length: u64) {
        let thing = &mut self.things[object as usize];
        thing.length = length;
        thing.initial = None;
    }

    /// A name takes the place of another, with all below it.
    pub fn rename(&mut self, old: NodeId, new: NodeId) {
        let state = std::mem::replace(&mut self.node_mut(old).state, State::Absent);
        self.node_mut(new).state = state;
        let children = std::mem::take(&mut self.node_mut(old).children);
        for &child in children.values() {
            self.node_mut(child).parent = new;
        }
        self.node_mut(new).children = children;
    }

    /// Further names of the directories above, from the top.
    pub fn ancestors(&self, node: NodeId) -> Vec<NodeId> {
        let mut all = Vec::new();
        let mut at = node;
        while at != TOP {
            at = self.node(at).parent;
            all.push(at);
        }
        all
    }
}
