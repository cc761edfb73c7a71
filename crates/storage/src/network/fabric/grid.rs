//! Grids of switches: tori and meshes.
//!
//! ```text
//!   (0,1) ═ (1,1) ═ (2,1)      ═ : a link each way, x up and x down
//!     ║       ║       ║        ║ : y up and y down
//!   (0,0) ═ (1,0) ═ (2,0)      hosts hang on every switch
//! ```
//!
//! Messages take the dimensions in their order. In a torus, packets change to the second set of
//! virtual lanes at the link between the last switch of a ring and the first. Therefore no packets
//! wait for each other in a circle. Source: Dally and Seitz, "Deadlock-free message routing in
//! multiprocessor interconnection networks", IEEE Transactions on Computers 1987, on k-ary n-cubes.
//!
//! OpenSM's routing `torus-2QoS` chooses one of two lanes for a whole dimension instead, by whether
//! the path crosses that link (torus-2QoS(8)).
//!
//! | of N hosts, one on each of k × k … switches | torus | mesh |
//! | --- | --- | --- |
//! | mean distance in a dimension, k even | k/4 | (k − 1/k)/3 |
//! | paths on the fullest link, uniform traffic | N (k − 1/k)/8, k odd | N k/4, k even |
//!
//! Tests check these figures (Dally and Towles, Principles and Practices of Interconnection
//! Networks, 2004, sections 3.3 and 5.2).

use headrace_spec::{Grid, Rate, ServerSwitches};
use smallvec::SmallVec;

use super::{LinkGroup, Links, Path, Routes};
use crate::network::Hosts;

/// The place of a switch, or the switches in each dimension.
type Place = SmallVec<[u32; 3]>;

/// Names of the dimensions.
const DIMENSIONS: [&str; 3] = ["x", "y", "z"];

struct Switches {
    size: Place,
    wraps: bool,
    /// By host.
    switches: Vec<u32>,
    dimensions: SmallVec<[Dimension; 3]>,
}

/// Links along a dimension.
struct Dimension {
    /// The first link up, and the first down.
    up: u32,
    down: u32,
    /// Links in each dimension: without wraps there is one fewer along its own.
    shape: Place,
}

/// Adds the links between the switches.
pub(super) fn routes(
    grid: Grid<'_>,
    hosts: Hosts,
    bandwidth: Rate,
    links: &mut Links,
) -> Box<dyn Routes> {
    let rate = grid.bandwidth.unwrap_or(bandwidth);
    let size: Place = grid.size.into();
    let dimensions = DIMENSIONS.iter().take(size.len()).enumerate();
    let dimensions = dimensions.map(|(dimension, axis)| {
        let mut shape = size.clone();
        shape[dimension] -= u32::from(!grid.wraps);
        let mut add = |way: &str, each, behind: u32| {
            let first = links.add_grid(&format!("{axis} {way}"), &shape, rate, each);
            let (shape, size) = (shape.clone(), size.clone());
            links.leave(grid.latency, move |number| {
                let mut place = place(number, &shape);
                place[dimension] += behind;
                number_of(&place, &size)
            });
            first
        };
        Dimension {
            up: add("up", name, 0),
            down: match grid.wraps {
                true => add("down", name, 0),
                false => add("down", mesh_down_name, 1),
            },
            shape: shape.clone(),
        }
    });
    Box::new(Switches {
        dimensions: dimensions.collect(),
        wraps: grid.wraps,
        switches: switches(grid, hosts),
        size,
    })
}

/// The switch of each host.
fn switches(grid: Grid<'_>, hosts: Hosts) -> Vec<u32> {
    let (clients, servers) = (hosts.clients, hosts.servers + hosts.metadata);
    if grid.servers == ServerSwitches::Last {
        return (0..clients + servers).map(|it| it / grid.hosts).collect();
    }
    let count = grid.switches();
    let spread = |server: u32| (u64::from(server) * count / u64::from(servers)) as u32;
    let mut room = vec![grid.hosts; count as usize];
    for switch in (0..servers).map(spread) {
        room[switch as usize] -= 1;
    }
    let free = (0..).zip(room);
    let free = free.flat_map(|(switch, room)| std::iter::repeat_n(switch, room as usize));
    let clients = free.take(clients as usize);
    clients.chain((0..servers).map(spread)).collect()
}

/// The place of a number in a grid of this size; the first dimension counts fastest.
fn place(number: u32, size: &[u32]) -> Place {
    let mut rest = number;
    let along = |&it: &u32| {
        let along = rest % it;
        rest /= it;
        along
    };
    size.iter().map(along).collect()
}

/// The number of a place.
fn number_of(place: &[u32], size: &[u32]) -> u32 {
    let along = place.iter().zip(size).rev();
    along.fold(0, |number, (&along, &size)| number * size + along)
}

/// "switch (1, 2) x up".
fn name(group: &LinkGroup, number: u32) -> String {
    name_of(group, place(number, &group.shape))
}

/// In a mesh, a link down leaves the switch behind the one that its number is the place of.
fn mesh_down_name(group: &LinkGroup, number: u32) -> String {
    let mut place = place(number, &group.shape);
    let own = DIMENSIONS.iter().position(|it| group.name.starts_with(it));
    if let Some(along) = own.and_then(|own| place.get_mut(own)) {
        *along += 1;
    }
    name_of(group, place)
}

fn name_of(group: &LinkGroup, place: Place) -> String {
    let place: Vec<String> = place.into_iter().map(|it| it.to_string()).collect();
    format!("switch ({}) {}", place.join(", "), group.name)
}

impl Switches {
    /// Returns true if the way up a dimension is the one to take, and its links.
    fn way(&self, dimension: usize, from: u32, to: u32, key: u64) -> (bool, u32) {
        if !self.wraps {
            return (to > from, to.abs_diff(from));
        }
        let size = self.size[dimension];
        let up = (to + size - from) % size;
        let down = size - up;
        match up.cmp(&down) {
            std::cmp::Ordering::Less => (true, up),
            std::cmp::Ordering::Greater => (false, down),
            std::cmp::Ordering::Equal => (key >> dimension & 1 == 0, up),
        }
    }
}

impl Routes for Switches {
    fn between(&self, from: u32, to: u32, key: u64, path: &mut Path) {
        let [mut at, to] = [from, to].map(|host| place(self.switch_of(host), &self.size));
        for (dimension, links) in self.dimensions.iter().enumerate() {
            let (size, mut crossed) = (self.size[dimension], false);
            let (up, count) = self.way(dimension, at[dimension], to[dimension], key);
            for _ in 0..count {
                let here = at[dimension];
                let next = if up {
                    (here + 1) % size
                } else {
                    (here + size - 1) % size
                };
                crossed |= self.wraps && here == if up { size - 1 } else { 0 };
                if !up && !self.wraps {
                    // Both links between two switches of a mesh have the lower one's number.
                    at[dimension] = next;
                }
                let number = number_of(&at, &links.shape);
                at[dimension] = next;
                let link = number + if up { links.up } else { links.down };
                if crossed {
                    path.push_second(link);
                } else {
                    path.push(link);
                }
            }
        }
    }

    fn switches(&self) -> u32 {
        self.size.iter().product()
    }

    fn switch_of(&self, host: u32) -> u32 {
        self.switches[host as usize]
    }

    fn longest(&self) -> usize {
        let size = self.size.iter();
        let each = size.map(|&it| if self.wraps { it / 2 } else { it - 1 });
        each.sum::<u32>() as usize
    }
}
