//! Strongly connected components of a state space (Tarjan 1972, without recursion).

/// The components.
pub struct Components {
    /// Their number.
    pub number: usize,
    /// By state.
    of: Vec<u32>,
    /// By component: its states.
    sizes: Vec<usize>,
    /// By component: true if no arc leaves it.
    terminal: Vec<bool>,
}

const UNSEEN: u32 = u32::MAX;

impl Components {
    /// Finds them; the arcs of state n are `first[n]..first[n + 1]`.
    pub fn of(first: &[usize], target: &[u32]) -> Components {
        let states = first.len() - 1;
        let mut index = vec![UNSEEN; states];
        let mut low = vec![0_u32; states];
        let mut of = vec![UNSEEN; states];
        let (mut stack, mut calls) = (Vec::new(), Vec::new());
        let (mut next, mut number) = (0, 0_u32);
        for root in 0..states {
            if index[root] != UNSEEN {
                continue;
            }
            calls.push((root, first[root]));
            while let Some((state, arc)) = calls.pop() {
                if arc == first[state] && index[state] == UNSEEN {
                    index[state] = next;
                    low[state] = next;
                    next += 1;
                    stack.push(state);
                }
                let mut arc = arc;
                let mut into = None;
                while arc < first[state + 1] {
                    let to = target[arc] as usize;
                    arc += 1;
                    if index[to] == UNSEEN {
                        into = Some(to);
                        break;
                    }
                    if of[to] == UNSEEN {
                        low[state] = low[state].min(index[to]);
                    }
                }
                if let Some(to) = into {
                    // This arc again afterwards: then its target has been seen.
                    calls.push((state, arc));
                    calls.push((to, first[to]));
                    continue;
                }
                if low[state] == index[state] {
                    while let Some(member) = stack.pop() {
                        of[member] = number;
                        if member == state {
                            break;
                        }
                    }
                    number += 1;
                }
                if let Some((caller, _)) = calls.last() {
                    low[*caller] = low[*caller].min(low[state]);
                }
            }
        }
        let number = number as usize;
        let mut sizes = vec![0; number];
        let mut terminal = vec![true; number];
        for state in 0..states {
            let own = of[state] as usize;
            sizes[own] += 1;
            for arc in first[state]..first[state + 1] {
                terminal[own] &= of[target[arc] as usize] as usize == own;
            }
        }
        Components {
            number,
            of,
            sizes,
            terminal,
        }
    }

    /// The component of a state.
    pub fn at(&self, state: usize) -> usize {
        self.of[state] as usize
    }

    /// Components that nothing leaves.
    pub fn terminal(&self) -> usize {
        self.terminal.iter().filter(|terminal| **terminal).count()
    }

    /// States that can be reached from every state: those of the only terminal component.
    pub fn home(&self) -> usize {
        let mut terminal = self.terminal.iter().zip(&self.sizes);
        match self.terminal() {
            1 => terminal.find(|(it, _)| **it).map_or(0, |(_, size)| *size),
            _ => 0,
        }
    }

    /// Returns true if the first state can be reached from every state.
    pub fn initial_is_home(&self) -> bool {
        self.terminal() == 1 && self.terminal[self.of[0] as usize]
    }

    /// By label: the number of terminal components that have an arc with it.
    pub fn terminals_with(
        &self,
        (first, target, label): (&[usize], &[u32], &[u16]),
        labels: usize,
    ) -> Vec<usize> {
        let mut ends = vec![0; self.number + 1];
        self.of.iter().for_each(|own| ends[*own as usize + 1] += 1);
        for component in 0..self.number {
            ends[component + 1] += ends[component];
        }
        // The states by component.
        let mut states = vec![0_u32; self.of.len()];
        for (state, own) in self.of.iter().enumerate() {
            states[ends[*own as usize]] = state as u32;
            ends[*own as usize] += 1;
        }
        let mut terminals = vec![0; labels];
        let mut last = vec![UNSEEN; labels];
        for state in states {
            let (own, state) = (self.of[state as usize], state as usize);
            if !self.terminal[own as usize] {
                continue;
            }
            for arc in first[state]..first[state + 1] {
                let label = usize::from(label[arc]);
                if label < labels && last[label] != own && self.of[target[arc] as usize] == own {
                    last[label] = own;
                    terminals[label] += 1;
                }
            }
        }
        terminals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_cycles_and_an_end() {
        // 0 ⇄ 1 → 2 ⇄ 3, 1 → 4
        let first = [0, 1, 4, 5, 6, 6];
        let target = [1, 0, 2, 4, 3, 2];
        let found = Components::of(&first, &target);
        assert_eq!((found.number, found.terminal()), (3, 2));
        assert_eq!(found.of[0], found.of[1]);
        assert_eq!(found.of[2], found.of[3]);
        assert!(!found.initial_is_home() && found.home() == 0);
    }
}
