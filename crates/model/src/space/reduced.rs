//! Smaller place/transition nets that answer a question as the whole net does (Berthelot,
//! Transformations and Decompositions of Nets, 1987).
//!
//! Places go that never decide whether a transition is enabled, and transitions that never fire or
//! do as others do. A place that is only passed through is agglomerated: a transition that fills
//! it and one that drains it become one, which fires both.
//!
//! - Post-agglomeration: the place is all that those who drain it need, and they only put tokens
//!   where these inhibit nothing. They fire as soon as they can.
//! - Pre-agglomeration: those who fill it do nothing else, and take tokens that no other
//!   transition needs. They fire as late as they can, and are made up for at the end.
//!
//! The dead markings remain, and all values of the places that are asked for. Runs are those of the
//! whole net.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::layout::Owner;
use super::plain::{Condition, PlainNet, Rule};
use super::predicate::Predicate;
use super::step::Stepper;

/// Places alike with which one is compared, at most.
const MOST_COMPARED: usize = 8;

/// A net made smaller.
pub struct Reduced {
    /// Its places and rules have numbers of their own.
    pub net: PlainNet,
    /// By place: its number in the whole net.
    pub places: Vec<u32>,
    /// By rule: the rules of the whole net that it fires.
    pub firings: Vec<Vec<u32>>,
    /// By place of the whole net: tokens to assume there if it is gone.
    assumed: Vec<u32>,
}

/// The places whose tokens matter to a question, by number.
pub struct Concern {
    /// True if their number is asked for.
    pub asked: Vec<bool>,
    /// True if tokens may remain there in a dead marking; none if dead markings do not matter.
    pub may_remain: Option<Vec<bool>>,
}

impl Concern {
    /// The concern of a property of markings, or without one of deadlocks.
    pub fn of(stepper: &Stepper<'_>, property: Option<&Predicate>) -> Concern {
        let (program, layout) = (stepper.current.program, &stepper.current.layout);
        let mut asked = vec![false; layout.copies.len()];
        for helping in property.iter().flat_map(|it| it.helping()).flatten() {
            let (first, copies) = layout.of_node[helping.node];
            asked[first..first + copies].fill(true);
        }
        let may_remain = |owner| match owner {
            Owner::Node(node) => program.nodes[node].rest || program.nodes[node].sink,
            Owner::Store(_) => true,
        };
        let copies = layout.copies.iter();
        Concern {
            asked,
            may_remain: property
                .is_none()
                .then(|| copies.map(|copy| may_remain(copy.owner)).collect()),
        }
    }
}

/// A rule in the making: at most one condition of each kind on a place.
#[derive(Clone)]
struct Draft {
    conditions: Vec<Condition>,
    changes: Vec<(u32, i64)>,
    firings: Vec<u32>,
}

struct Reduction<'n> {
    initial: &'n [u32],
    concern: &'n Concern,
    /// None if it is gone.
    drafts: Vec<Option<Draft>>,
    /// By place: rules with a condition on it or a change of it, and some that are gone.
    users: Vec<Vec<u32>>,
    is_gone: Vec<bool>,
    assumed: Vec<u32>,
}

impl Reduced {
    /// Makes a net without resets smaller.
    pub fn of(net: &PlainNet, initial: &[u32], concern: &Concern) -> Reduced {
        let mut reduction = Reduction {
            initial,
            concern,
            drafts: Vec::new(),
            users: vec![Vec::new(); initial.len()],
            is_gone: vec![false; initial.len()],
            assumed: initial.to_vec(),
        };
        for (number, rule) in net.rules.iter().enumerate() {
            reduction.add(Draft {
                conditions: rule.conditions.clone(),
                changes: rule.changes.clone(),
                firings: vec![number as u32],
            });
        }
        while reduction.pass() {}
        reduction.finished()
    }

    /// The rules of the whole net on a way of this one. To a dead marking, they include those that
    /// were put off.
    pub fn whole(
        &self,
        net: &PlainNet,
        initial: &[u32],
        (way, is_dead): (&[u32], bool),
    ) -> Vec<u32> {
        let firings = way.iter().flat_map(|rule| &self.firings[*rule as usize]);
        let mut whole: Vec<u32> = firings.copied().collect();
        let mut marking = initial.to_vec();
        for rule in &whole {
            net.rules[*rule as usize].fire(&mut marking);
        }
        while let Some(number) = net
            .rules
            .iter()
            .position(|rule| is_dead && rule.is_enabled(&marking))
        {
            net.rules[number].fire(&mut marking);
            whole.push(number as u32);
        }
        whole
    }

    /// A marking of the whole net for one of this net. Places that are asked for have the same
    /// tokens, and tokens stand where they may not remain if they do in this net.
    pub fn widened(&self, marking: &[u32]) -> Vec<u32> {
        let mut whole = self.assumed.clone();
        for (place, tokens) in self.places.iter().zip(marking) {
            whole[*place as usize] = *tokens;
        }
        whole
    }
}

impl Draft {
    fn change_of(&self, place: usize) -> i64 {
        let own = self
            .changes
            .iter()
            .find(|(other, _)| *other as usize == place);
        own.map_or(0, |(_, change)| *change)
    }

    fn conditions_on(&self, place: usize) -> impl Iterator<Item = Condition> {
        let own = move |it: &&Condition| it.place as usize == place;
        self.conditions.iter().filter(own).copied()
    }

    /// The rule that fires this one and then another; none if it can never fire.
    fn then(&self, next: &Draft) -> Option<Draft> {
        let mut joined = self.clone();
        for condition in &next.conditions {
            let count = i64::from(condition.count) - self.change_of(condition.place as usize);
            match (condition.at_least, u32::try_from(count)) {
                (true, Ok(count @ 1..)) => joined.require(Condition {
                    count,
                    ..*condition
                }),
                (true, _) => {}
                (false, Ok(count @ 1..)) => joined.require(Condition {
                    count,
                    ..*condition
                }),
                (false, _) => return None,
            }
        }
        for (place, change) in &next.changes {
            match joined.changes.iter_mut().find(|(other, _)| other == place) {
                Some((_, sum)) => *sum += change,
                None => joined.changes.push((*place, *change)),
            }
        }
        joined.changes.retain(|(_, change)| *change != 0);
        joined.firings.extend(&next.firings);
        Some(joined)
    }

    fn require(&mut self, wanted: Condition) {
        let is_like =
            |it: &&mut Condition| it.place == wanted.place && it.at_least == wanted.at_least;
        match self.conditions.iter_mut().find(is_like) {
            Some(known) if wanted.at_least => known.count = known.count.max(wanted.count),
            Some(known) => known.count = known.count.min(wanted.count),
            None => self.conditions.push(wanted),
        }
    }
}

impl Reduction<'_> {
    /// Tries each reduction once; true if one was made.
    fn pass(&mut self) -> bool {
        let mut is_smaller = self.drop_equal_rules() | self.drop_equal_places();
        for place in 0..self.initial.len() {
            if !self.is_gone[place] {
                is_smaller |= self.drop_rules_at(place)
                    || !self.concern.asked[place]
                        && (self.drop_unneeded(place) || self.agglomerate(place));
            }
        }
        is_smaller
    }

    fn add(&mut self, draft: Draft) {
        let number = self.drafts.len() as u32;
        let conditions = draft.conditions.iter().map(|it| it.place);
        for place in conditions.chain(draft.changes.iter().map(|it| it.0)) {
            let users = &mut self.users[place as usize];
            if users.last() != Some(&number) {
                users.push(number);
            }
        }
        self.drafts.push(Some(draft));
    }

    /// The rules with a condition on a place or a change of it.
    fn users_of(&mut self, place: usize) -> Vec<u32> {
        let drafts = &self.drafts;
        let users = &mut self.users[place];
        users.retain(|number| {
            let draft = drafts[*number as usize].as_ref();
            draft.is_some_and(|it| {
                it.change_of(place) != 0 || it.conditions_on(place).next().is_some()
            })
        });
        users.sort_unstable();
        users.dedup();
        users.clone()
    }

    fn draft(&self, number: u32) -> &Draft {
        self.drafts[number as usize]
            .as_ref()
            .expect("users are rules that are there")
    }

    /// Drops rules that never fire for the tokens of a place, and conditions that are always met.
    fn drop_rules_at(&mut self, place: usize) -> bool {
        let users = self.users_of(place);
        let changes = users.iter().map(|it| self.draft(*it).change_of(place));
        let (mut grows, mut shrinks) = (false, false);
        for change in changes {
            grows |= change > 0;
            shrinks |= change < 0;
        }
        let initial = self.initial[place];
        let mut is_smaller = false;
        for number in users {
            let never =
                |it: Condition| !it.is_met(initial) && !(if it.at_least { grows } else { shrinks });
            if self.draft(number).conditions_on(place).any(never) {
                self.drafts[number as usize] = None;
                is_smaller = true;
            } else if let Some(draft) = &mut self.drafts[number as usize] {
                let before = draft.conditions.len();
                draft.conditions.retain(|it| {
                    let always = it.is_met(initial) && !(if it.at_least { shrinks } else { grows });
                    it.place as usize != place || !always
                });
                is_smaller |= draft.conditions.len() < before;
            }
        }
        is_smaller
    }

    /// Drops a place that no rule has a condition on.
    fn drop_unneeded(&mut self, place: usize) -> bool {
        let may_remain = self.concern.may_remain.as_ref();
        let users = self.users_of(place);
        let is_needed = |it: &u32| self.draft(*it).conditions_on(place).next().is_some();
        if users.iter().any(is_needed) {
            return false;
        }
        // Tokens of a place that nothing changes are those at first.
        if !users.is_empty() && may_remain.is_some_and(|it| !it[place]) {
            return false;
        }
        self.drop_place(place);
        true
    }

    fn drop_place(&mut self, place: usize) {
        self.is_gone[place] = true;
        for number in self.users_of(place) {
            if let Some(draft) = &mut self.drafts[number as usize] {
                draft.conditions.retain(|it| it.place as usize != place);
                draft.changes.retain(|it| it.0 as usize != place);
            }
        }
    }

    /// Drops rules that do as others do, and those without effect where dead markings do not
    /// matter.
    fn drop_equal_rules(&mut self) -> bool {
        let is_idle = |it: &Draft| it.changes.is_empty() && self.concern.may_remain.is_none();
        let mut known = HashMap::new();
        let mut is_smaller = false;
        for number in 0..self.drafts.len() {
            let Some(draft) = &mut self.drafts[number] else {
                continue;
            };
            draft.changes.sort_unstable();
            draft
                .conditions
                .sort_unstable_by_key(|it| (it.place, it.at_least));
            let conditions = draft.conditions.iter();
            let conditions: Vec<_> = conditions
                .map(|it| (it.place, it.count, it.at_least))
                .collect();
            let is_known = known
                .insert((conditions, draft.changes.clone()), number)
                .is_some();
            if is_known || is_idle(draft) {
                self.drafts[number] = None;
                is_smaller = true;
            }
        }
        is_smaller
    }

    /// Drops places that change as another one does, whose conditions are at least as strict.
    fn drop_equal_places(&mut self) -> bool {
        let mut alike: HashMap<Vec<(u32, i64)>, Vec<usize>> = HashMap::new();
        let mut is_smaller = false;
        for place in 0..self.initial.len() {
            if self.is_gone[place] {
                continue;
            }
            let users = self.users_of(place);
            let changes = users
                .iter()
                .map(|it| (*it, self.draft(*it).change_of(place)));
            let changes: Vec<_> = changes.filter(|(_, change)| *change != 0).collect();
            if changes.is_empty() {
                continue;
            }
            match alike.entry(changes) {
                Entry::Vacant(entry) => {
                    entry.insert(vec![place]);
                }
                Entry::Occupied(mut entry) => {
                    let others = entry.get_mut();
                    let implied = if others.iter().any(|it| self.is_implied(place, *it)) {
                        place
                    } else if let Some(at) =
                        others.iter().position(|it| self.is_implied(*it, place))
                    {
                        std::mem::replace(&mut others[at], place)
                    } else {
                        if others.len() < MOST_COMPARED {
                            others.push(place);
                        }
                        continue;
                    };
                    self.drop_place(implied);
                    self.assumed[implied] = 0;
                    is_smaller = true;
                }
            }
        }
        is_smaller
    }

    /// Returns true if a place can go beside another one that changes alike. Its conditions are met
    /// where those of the other one are, and so do its tokens remain.
    fn is_implied(&mut self, place: usize, other: usize) -> bool {
        if self.concern.asked[place] {
            return false;
        }
        let more = i64::from(self.initial[place]) - i64::from(self.initial[other]);
        let remains = self
            .concern
            .may_remain
            .as_ref()
            .is_none_or(|may_remain| may_remain[place] || more == 0 && !may_remain[other]);
        let users = self.users_of(place);
        let is_met = |number: &u32| {
            let draft = self.draft(*number);
            let needed = draft.conditions_on(other).filter(|it| it.at_least);
            let needed = needed.map(|it| i64::from(it.count)).max().unwrap_or(0);
            let mut conditions = draft.conditions_on(place);
            conditions.all(|it| it.at_least && i64::from(it.count) <= needed + more)
        };
        remains && users.iter().all(is_met)
    }

    /// Makes one rule of each that fills a place and each that drains it, if the place is only
    /// passed through.
    fn agglomerate(&mut self, place: usize) -> bool {
        if self.initial[place] > 0 {
            return false;
        }
        let users = self.users_of(place);
        let is_filling = |it: &u32| self.draft(*it).change_of(place) > 0;
        let (fills, drains): (Vec<u32>, Vec<u32>) = users.into_iter().partition(is_filling);
        let (Some(first), false) = (fills.first(), drains.is_empty()) else {
            return false;
        };
        // More rules than before cost more than a place.
        if fills.len() * drains.len() > fills.len() + drains.len() {
            return false;
        }
        let weight = self.draft(*first).change_of(place);
        let is_plain_fill = |draft: &Draft| {
            draft.change_of(place) == weight && draft.conditions_on(place).next().is_none()
        };
        let is_plain_drain = |draft: &Draft| {
            let mut conditions = draft.conditions_on(place);
            let is_exact = |it: Condition| it.at_least && i64::from(it.count) == weight;
            draft.change_of(place) == -weight
                && conditions.next().is_some_and(is_exact)
                && conditions.next().is_none()
        };
        if !fills.iter().all(|it| is_plain_fill(self.draft(*it)))
            || !drains.iter().all(|it| is_plain_drain(self.draft(*it)))
        {
            return false;
        }
        if !self.may_drain_at_once(&drains, place) && !self.may_fill_late(&fills, place) {
            return false;
        }
        let pairs = fills
            .iter()
            .flat_map(|fill| drains.iter().map(move |drain| (fill, drain)));
        let joined: Vec<Draft> = pairs
            .filter_map(|(fill, drain)| self.draft(*fill).then(self.draft(*drain)))
            .collect();
        for number in fills.iter().chain(&drains) {
            self.drafts[*number as usize] = None;
        }
        self.is_gone[place] = true;
        joined.into_iter().for_each(|draft| self.add(draft));
        true
    }

    /// Returns true if rules need a place only, and put tokens only where they inhibit nothing and
    /// are not asked for.
    fn may_drain_at_once(&mut self, drains: &[u32], place: usize) -> bool {
        drains.iter().all(|number| {
            let draft = self.draft(*number).clone();
            let mut changes = draft.changes.iter().filter(|it| it.0 as usize != place);
            draft.conditions.len() == 1
                && changes.all(|(target, change)| {
                    let target = *target as usize;
                    *change > 0
                        && !self.concern.asked[target]
                        && self
                            .users_of(target)
                            .iter()
                            .all(|it| self.draft(*it).conditions_on(target).all(|it| it.at_least))
                })
        })
    }

    /// Returns true if rules only move tokens to a place, from places that no other rule needs.
    /// These are not asked for, and tokens may remain in all of them or in none.
    fn may_fill_late(&mut self, fills: &[u32], place: usize) -> bool {
        fills.iter().all(|number| {
            let draft = self.draft(*number).clone();
            let takes = |it: &Condition| {
                it.at_least && draft.change_of(it.place as usize) == -i64::from(it.count)
            };
            let mut sources = draft.changes.iter().filter(|it| it.0 as usize != place);
            !draft.conditions.is_empty()
                && draft.conditions.iter().all(takes)
                && sources.all(|(source, change)| {
                    let source = *source as usize;
                    let may_remain = self.concern.may_remain.as_ref();
                    *change < 0
                        && !self.concern.asked[source]
                        && may_remain.is_none_or(|it| it[source] == it[place])
                        && self.users_of(source).iter().all(|it| {
                            fills.contains(it)
                                || self.draft(*it).conditions_on(source).next().is_none()
                        })
                })
        })
    }

    fn finished(self) -> Reduced {
        let places = (0..self.initial.len() as u32).filter(|it| !self.is_gone[*it as usize]);
        let places: Vec<u32> = places.collect();
        let mut number_of = vec![u32::MAX; self.initial.len()];
        for (number, place) in places.iter().enumerate() {
            number_of[*place as usize] = number as u32;
        }
        let (mut rules, mut firings) = (Vec::new(), Vec::new());
        for draft in self.drafts.into_iter().flatten() {
            let conditions = draft.conditions.into_iter().map(|it| Condition {
                place: number_of[it.place as usize],
                ..it
            });
            let changes = draft.changes.into_iter();
            rules.push(Rule {
                transition: draft.firings[0],
                conditions: conditions.collect(),
                changes: changes
                    .map(|(place, change)| (number_of[place as usize], change))
                    .collect(),
                resets: Vec::new(),
            });
            firings.push(draft.firings);
        }
        Reduced {
            net: PlainNet::new(rules, places.len()),
            places,
            firings,
            assumed: self.assumed,
        }
    }
}
