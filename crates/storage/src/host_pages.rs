//! Hosts of one kind on several pages, one for each group of equal hosts (`servers.group`,
//! `clients.group`).
//!
//! Equal hosts are the copies of one page, numbered as these. Otherwise each page holds some of the
//! numbers, and its ports are joined with those of the others: from outside they look like one
//! page. Messages choose a server by its number; the kernel finds page and copy. A scenario without
//! groups has the same net as one without this module. A request that is striped over n servers
//! waits for its slowest part, so the throughput is n times the rate of the slowest server.
//! `tests/models/unlike_hosts.rs` compares this and other closed forms.
//!
//! Not modelled: servers of different kinds in one system, and clients of different kinds;
//! active-active partners among different servers; schedulers on different servers that send each
//! other messages, or are in Python, except at proxies; `servers.streaming` with different devices;
//! replacement policies in Python on different servers; clients that keep attributes, compute
//! between calls, or have pages differently from other clients; collective calls of clients whose
//! cards differ; client groups where each pair of hosts has a link.

use std::sync::Arc;

use headrace_net::{CopyPlaces, Page, Port, Token};

/// The numbers of the hosts on a page, in the order of its copies.
#[derive(Clone, Debug)]
pub enum HostNumbers {
    /// In a row from this one on.
    From(u32),
    /// One by one.
    Listed(Arc<[u32]>),
}

impl HostNumbers {
    /// Returns the numbers as they are on a page; those of all hosts need no list.
    pub fn new(numbers: &[u32]) -> HostNumbers {
        let first = numbers.first().copied().unwrap_or(0);
        match numbers.iter().zip(first..).all(|(it, row)| *it == row) {
            true => HostNumbers::From(first),
            false => HostNumbers::Listed(numbers.into()),
        }
    }

    /// The number of a copy.
    pub fn of(&self, copy: u32) -> u32 {
        match self {
            HostNumbers::From(first) => first + copy,
            HostNumbers::Listed(numbers) => numbers.get(copy as usize).copied().unwrap_or(copy),
        }
    }
}

/// Joins the ports of several pages of hosts.
pub struct JoinPages<'a, 'b> {
    page: &'a mut Page<'b>,
    /// Name of the pages.
    kind: &'a str,
    places: CopyPlaces,
}

impl<'a, 'b> JoinPages<'a, 'b> {
    /// For pages with hosts of these numbers; together they have each from 0 on.
    pub fn new(page: &'a mut Page<'b>, kind: &'a str, numbers: &[Vec<u32>]) -> JoinPages<'a, 'b> {
        let mut places = vec![(0, 0); numbers.iter().map(Vec::len).sum()];
        for (own, number) in numbers.iter().zip(0..) {
            for (host, copy) in own.iter().zip(0..) {
                if let Some(place) = places.get_mut(*host as usize) {
                    *place = (number, copy);
                }
            }
        }
        JoinPages {
            page,
            kind,
            places: places.into(),
        }
    }

    /// One input for those of all pages; tokens choose a host by its number.
    pub fn input<T: Token>(&mut self, name: &str, ports: impl Iterator<Item = Port<T>>) -> Port<T> {
        let (name, ports) = (format!("{} {name}", self.kind), Vec::from_iter(ports));
        self.page.union(&name, &ports, &self.places)
    }

    /// One output for those of all pages.
    pub fn output<T: Token>(
        &mut self,
        name: &str,
        ports: impl Iterator<Item = Port<T>>,
    ) -> Port<T> {
        let (name, ports) = (format!("{} {name}", self.kind), Vec::from_iter(ports));
        self.page.merge(&name, &ports)
    }
}

/// Returns what one of several alike pages has, if any has it.
pub fn each<H, P>(pages: &[H], part: impl Fn(&H) -> Option<P>) -> Option<Vec<P>> {
    let parts: Vec<P> = pages.iter().filter_map(part).collect();
    (!parts.is_empty()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_need_no_list() {
        assert!(matches!(HostNumbers::new(&[3, 4, 5]), HostNumbers::From(3)));
        let listed = HostNumbers::new(&[0, 2]);
        assert_eq!([listed.of(0), listed.of(1)], [0, 2]);
    }
}
