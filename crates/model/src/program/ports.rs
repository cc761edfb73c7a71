//! Names of nodes and ports, and their targets.

use super::compiler::{Compiler, Item, fault};
use crate::document::Text;
use crate::error::did_you_mean;

/// The names of a path: `/` stands between them, and `//` for a `/` in a name.
fn names_of(path: &str) -> Vec<String> {
    let escaped = path.replace("//", "\0");
    let names = escaped.split('/');
    names.map(|name| name.replace('\0', "/")).collect()
}

impl Compiler {
    /// Every output port leads somewhere, and every input port to a node.
    pub(super) fn bind_ports(&mut self) {
        for page in 0..self.names.len() {
            for (name, target) in self.connect[page].clone() {
                let port = self.names[page].get(&name);
                if !matches!(port, Some(Item::Port(None))) {
                    let path = &self.program.pages[page].path;
                    let ports = self.names[page].iter();
                    let ports = ports.filter(|(_, item)| matches!(item, Item::Port(None)));
                    let near = did_you_mean(&name, ports.map(|(name, _)| &**name));
                    let message = format!("{path} has no output port {name}{near}");
                    fault(&mut self.faults, &target.path, message);
                }
            }
            let names: Vec<String> = self.names[page].keys().cloned().collect();
            for name in names {
                if !matches!(self.names[page][&name], Item::Port(_)) {
                    continue;
                }
                let place = self.program.pages[page].place.clone();
                let path = [place, vec!["ports".to_owned(), name.clone()]].concat();
                let text = name.replace('/', "//");
                let text = Text { text, path };
                self.follow(page, &text, 0);
            }
        }
    }

    /// The node behind a name in a page or one around it, such as `server/waiting`.
    pub(super) fn resolve(&mut self, page: usize, text: &Text, depth: usize) -> Option<usize> {
        let first = &*names_of(&text.text)[0];
        let scope = self
            .program
            .around(page)
            .find(|&page| self.names[page].contains_key(first));
        let Some(scope) = scope else {
            let names = self.program.around(page);
            let names = names.flat_map(|page| self.names[page].keys());
            let near = did_you_mean(first, names.map(String::as_str));
            let path = &self.program.pages[page].path;
            let message = format!("nothing in {path} or around it is called {first:?}{near}");
            fault(&mut self.faults, &text.path, message);
            return None;
        };
        self.follow(scope, text, depth)
    }

    /// The node behind a path that starts in a page.
    fn follow(&mut self, mut page: usize, text: &Text, depth: usize) -> Option<usize> {
        let parts = names_of(&text.text);
        let mut parts = parts.iter().map(String::as_str).peekable();
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            match self.names[page].get(part).cloned() {
                Some(Item::Page(inner)) if !last => page = inner,
                Some(Item::Node(node)) if last => return Some(node),
                Some(Item::Port(inner)) if last => {
                    return self.port(page, part, inner, text, depth);
                }
                found => {
                    let what = match found {
                        Some(Item::Page(_)) => "is a page: expected a place, station or port",
                        Some(_) => "is no place, station or port",
                        None => "is not there",
                    };
                    let names = self.names[page].keys().map(String::as_str);
                    let near = match found {
                        None => did_you_mean(part, names),
                        Some(_) => String::new(),
                    };
                    let path = &self.program.pages[page].path;
                    let message = format!("{path}/{part} {what}{near}");
                    fault(&mut self.faults, &text.path, message);
                    return None;
                }
            }
        }
        None
    }

    fn port(
        &mut self,
        page: usize,
        name: &str,
        inner: Option<Text>,
        text: &Text,
        depth: usize,
    ) -> Option<usize> {
        let path = format!("{}/{name}", self.program.pages[page].path);
        if depth > 64 {
            let message = format!("the port {path} leads to itself: connect it to a place");
            fault(&mut self.faults, &text.path, message);
            return None;
        }
        if let Some(inner) = inner {
            return self.follow(page, &inner, depth + 1);
        }
        let target = self.connect[page].iter().find(|(port, _)| port == name);
        let (Some((_, target)), Some(parent)) = (target.cloned(), self.program.pages[page].parent)
        else {
            let message = format!(
                "the output port {path} is not connected: name its target in the page's connect"
            );
            fault(&mut self.faults, &text.path, message);
            return None;
        };
        self.resolve(parent, &target, depth + 1)
    }
}
