//! Firing rules: order and priorities, guards, bags, delays, folded pages.

use crate::log::{Log, log_of, net, watch};
use headrace_net::{
    Borrowed, Builder, Firing, Infinite, Limits, Node, Priority, Rule, Slot, Span, Stop, To,
};

#[test]
fn higher_priorities_fire_first_and_then_those_written_first() {
    let log = log_of(|page, log| {
        let tokens = page.place("tokens");
        page.tokens(tokens, |_| 0..3_u32);
        for (name, priority) in [("low", -1), ("first", 0), ("second", 0), ("high", 5)] {
            let credits = page.place::<()>(&format!("credits of {name}"));
            page.tokens(credits, |_| [()]);
            page.rest(credits);
            page.transition(name)
                .take(tokens)
                .take(credits)
                .with(log)
                .priority(priority)
                .fires(move |_, (token, ()), log| log.push(format!("{name} takes {token}")));
        }
    });
    assert_eq!(log, ["high takes 0", "first takes 1", "second takes 2"]);
}

#[test]
fn the_lower_copy_fires_first() {
    let log = log_of(|page, log| {
        let tokens = page.place("tokens");
        page.tokens(tokens, |_| 0..3_u32);
        page.fold("server", 3, |page| {
            let idle = page.place::<()>("idle");
            page.tokens(idle, |_| [()]);
            page.transition("serve")
                .take(tokens)
                .take(idle)
                .with(log)
                .fires(|firing, (token, ()), log| {
                    log.push(format!("{} takes {token}", firing.copy()));
                });
        });
    });
    assert_eq!(log, ["0 takes 0", "1 takes 1", "2 takes 2"]);
}

#[test]
fn a_place_is_first_in_first_out() {
    let log = log_of(|page, log| {
        let tokens = page.place("tokens");
        page.tokens(tokens, |_| [3, 1, 2]);
        watch(page, log, tokens);
    });
    assert_eq!(log, ["3 at 0 s", "1 at 0 s", "2 at 0 s"]);
}

#[test]
fn a_guard_sees_the_first_of_a_place_and_blocks_the_rest() {
    let (mut net, log) = net(|page, log| {
        let tokens = page.place("tokens");
        page.tokens(tokens, |_| [2, 4, 5, 6]);
        page.rest(tokens);
        page.transition("even")
            .take(tokens)
            .with(log)
            .when(|token: &u32, _| token.is_multiple_of(2))
            .fires(|_, token, log| log.push(token.to_string()));
    });
    assert_eq!(net.run(&Limits::default()), Ok(Stop::Quiet));
    assert_eq!(net.store(log, 0), &["2", "4"]);
}

#[test]
fn a_guard_finds_its_token_in_a_bag() {
    let (mut net, log) = net(|page, log| {
        let tokens = page.bag("tokens");
        page.tokens(tokens, |_| [1, 2, 3, 4]);
        page.rest(tokens);
        let late = page.station("late", Infinite(Span::from_millis(1)));
        page.tokens(late, |_| [5, 6]);
        page.connect(late, tokens);
        page.transition("even")
            .take(tokens)
            .with(log)
            .when(|token: &u32, _| token.is_multiple_of(2))
            .fires(|firing, token, log| log.push(format!("{token} at {}", firing.now())));
    });
    assert_eq!(net.run(&Limits::default()), Ok(Stop::Quiet));
    assert_eq!(net.store(log, 0), &["2 at 0 s", "4 at 0 s", "6 at 0.001 s"]);
}

#[test]
fn a_guard_on_a_store_is_asked_again_when_it_changes() {
    let log = log_of(|page, log| {
        let level = page.store("level", |_| 0_u32);
        let waiting = page.place("waiting");
        page.tokens(waiting, |_| [2, 3]);
        page.transition("leave")
            .take(waiting)
            .with(level)
            .with(log)
            .when(|wanted: &u32, (level, _)| level >= wanted)
            .fires(|firing, wanted, (level, log)| {
                log.push(format!("{wanted} at {} with {level}", firing.now()));
            });
        let tick = page.station("tick", Priority::new(1, Span::from_seconds(1.0), |_| 0));
        page.tokens(tick, |_| [(); 4]);
        page.transition("raise")
            .take(tick)
            .with(level)
            .fires(|_, (), level| *level += 1);
    });
    assert_eq!(log, ["2 at 2 s with 2", "3 at 3 s with 3"]);
}

#[test]
fn a_guard_of_an_inner_page_sees_changes_from_outside() {
    let log = log_of(|page, log| {
        let open = page.store("open", |_| false);
        page.fold("server", 2, |page| {
            let waiting = page.place("waiting");
            page.tokens(waiting, |copy| [copy]);
            page.transition("leave")
                .take(waiting)
                .with(open)
                .with(log)
                .when(|_: &u32, (open, _)| *open)
                .fires(|firing, copy, (_, log)| log.push(format!("{copy} at {}", firing.now())));
        });
        let tick = page.station("tick", Infinite(Span::from_seconds(1.0)));
        page.tokens(tick, |_| [()]);
        page.transition("open up")
            .take(tick)
            .with(open)
            .fires(|_, (), open| *open = true);
    });
    assert_eq!(log, ["0 at 1 s", "1 at 1 s"]);
}

#[test]
fn a_guard_on_two_of_one_place_sees_two() {
    for bag in [false, true] {
        let (mut net, log) = net(|page, log| {
            let tokens = if bag {
                page.bag("tokens")
            } else {
                page.place("tokens")
            };
            page.tokens(tokens, |_| [1, 2, 3, 4, 5]);
            page.rest(tokens);
            page.transition("pair")
                .take(tokens)
                .take(tokens)
                .with(log)
                .when(|&(a, b): &(u32, u32), _| a + 1 == b)
                .fires(|_, (a, b), log| log.push(format!("{a} and {b}")));
            page.transition("three")
                .take(tokens)
                .take(tokens)
                .take(tokens)
                .with(log)
                .when(|&(a, b, c): &(u32, u32, u32), _| a == b || b == c)
                .fires(|_, _, log| log.push("never".to_owned()));
        });
        assert_eq!(net.run(&Limits::default()), Ok(Stop::Quiet));
        assert_eq!(net.store(log, 0), &["1 and 2", "3 and 4"], "bag: {bag}");
    }
}

#[test]
fn a_join_waits_for_all_and_takes_weights() {
    let log = log_of(|page, log| {
        let parts = page.station("parts", Priority::new(1, Span::from_seconds(1.0), |_| 0));
        let boxes = page.place::<char>("boxes");
        page.tokens(parts, |_| [1_u32, 2, 3, 4]);
        page.tokens(boxes, |_| ['a', 'b']);
        page.transition("pack")
            .take(boxes)
            .take(parts)
            .take(parts)
            .with(log)
            .fires(|firing, parts, log| log.push(format!("{parts:?} at {}", firing.now())));
    });
    assert_eq!(log, ["('a', 1, 2) at 2 s", "('b', 3, 4) at 4 s"]);
}

#[test]
fn tokens_leave_a_bag_by_their_slot() {
    let log = log_of(|page, log| {
        let start = page.place("start");
        page.tokens(start, |_| [10_u32, 20, 30]);
        let pending = page.bag::<u32>("pending");
        let work = page.station(
            "work",
            Infinite(
                |&(value, _): &(u32, Slot), _: &mut headrace_net::Random<'_>| {
                    Span::from_seconds(f64::from(40 - value))
                },
            ),
        );
        page.transition("begin")
            .take(start)
            .puts(pending)
            .puts(work)
            .fires(move |firing, value, ()| {
                let slot = firing.put(pending, value);
                firing.put(work, (value, slot));
            });
        page.transition("finish")
            .take(work)
            .may_take(pending)
            .with(log)
            .fires(move |firing, (value, slot), log| {
                *firing.token_mut(pending, slot) += 1;
                let taken = firing.take(pending, slot);
                log.push(format!("{value} was {taken:?} at {}", firing.now()));
            });
    });
    assert_eq!(
        log,
        [
            "30 was Some(31) at 10 s",
            "20 was Some(21) at 20 s",
            "10 was Some(11) at 30 s"
        ]
    );
}

#[test]
fn tokens_put_with_a_delay_come_later() {
    let (mut net, log) = net(|page, log| {
        let start = page.place("start");
        page.tokens(start, |_| [3_u32, 1, 2]);
        let arrived = page.place("arrived");
        page.transition("send")
            .take(start)
            .puts(arrived)
            .later()
            .fires(move |firing, seconds, ()| {
                firing.put_after(arrived, seconds, Span::from_seconds(f64::from(seconds)));
            });
        watch(page, log, arrived);
    });
    // On its way a token counts as there, but it is not inside and not ready.
    net.run(&Limits::until_seconds(0.5))
        .expect("they arrive later");
    net.check_invariants()
        .expect("a token on its way is not lost");
    assert_eq!(net.store(log, 0), &Log::new());
    net.run(&Limits::default()).expect("they arrive");
    assert_eq!(net.store(log, 0), &["1 at 1 s", "2 at 2 s", "3 at 3 s"]);
}

#[test]
fn tokens_find_their_way_through_nested_folded_pages() {
    let log = log_of(|page, log| {
        let start = page.place("start");
        page.tokens(start, |_| 0..6_u32);
        let rx = page.fold("rack", 2, |page| {
            let rx = page.input::<u32>("rx");
            let shelf = page.fold("server", 3, |page| {
                let shelf = page.place::<u32>("shelf");
                page.transition("show")
                    .take(shelf)
                    .with(log)
                    .fires(|firing, token, log| {
                        log.push(format!("{token} in {}", firing.copy()));
                    });
                shelf
            });
            page.connect(rx, shelf.by(|&token| token % 3));
            rx
        });
        page.transition("send")
            .take(start)
            .priority(1)
            .put(rx.by(|&token| token / 3), |_, token, ()| token);
    });
    let expected: Vec<String> = (0..6).map(|token| format!("{token} in {token}")).collect();
    assert_eq!(log, expected);
}

#[test]
fn a_route_leads_to_one_of_its_targets() {
    let log = log_of(|page, log| {
        let start = page.place("start");
        page.tokens(start, |_| 0..4_u32);
        let even = page.station("even", Infinite(Span::from_seconds(2.0)));
        let odd = page.place("odd");
        page.transition("choose").take(start).route(
            [even.into(), odd.into()],
            move |_, token, ()| {
                *token += 100;
                if *token % 2 == 0 {
                    even.into()
                } else {
                    odd.into()
                }
            },
        );
        watch(page, log, odd);
        page.transition("watch even")
            .take(even)
            .with(log)
            .fires(|firing, token, log| {
                log.push(format!("even {token} at {}", firing.now()));
            });
    });
    assert_eq!(
        log,
        [
            "101 at 0 s",
            "103 at 0 s",
            "even 100 at 2 s",
            "even 102 at 2 s"
        ]
    );
}

#[test]
fn a_transition_borrows_eight_stores() {
    let log = log_of(|page, log| {
        let tokens = page.place("tokens");
        page.tokens(tokens, |_| [1_u32, 2]);
        let [a, b, c, d, e, f, g] =
            ["a", "b", "c", "d", "e", "f", "g"].map(|name| page.store(name, |_| 0_u32));
        page.transition("add")
            .take(tokens)
            .with(a)
            .with(b)
            .with(c)
            .with(d)
            .with(e)
            .with(f)
            .with(g)
            .with(log)
            .when(|_, (a, .., g, _)| a <= g)
            .fires(|_, token, (a, b, c, d, e, f, g, log)| {
                for (number, store) in [a, b, c, d, e, f, g].into_iter().enumerate() {
                    *store += token * 10_u32.pow(number as u32);
                    log.push(store.to_string());
                }
            });
    });
    let once = ["1", "10", "100", "1000", "10000", "100000", "1000000"];
    let twice = ["3", "30", "300", "3000", "30000", "300000", "3000000"];
    assert_eq!(log, [once, twice].concat());
}

#[test]
fn a_transition_borrows_stores_that_are_named_together() {
    let log = log_of(|page, log| {
        let tokens = page.place("tokens");
        page.tokens(tokens, |_| [1_u32, 2]);
        let sum = page.store("sum", |_| 0_u32);
        page.transition("add")
            .take(tokens)
            .with_all((sum, log))
            .fires(|_, token, (sum, log)| {
                *sum += token;
                log.push(sum.to_string());
            });
    });
    assert_eq!(log, ["1", "3"]);
}

/// Takes one token of the same value from each of its inputs.
struct Alike {
    inputs: usize,
    to: Node<u32>,
}

impl Rule for Alike {
    fn fire(&self, firing: &mut Firing<'_>, stores: &mut Borrowed<'_>) -> bool {
        *stores.get_mut::<u32>(0) += 1;
        let first: Vec<u32> = firing.ready::<u32>(0).map(|(_, token)| *token).collect();
        for wanted in first {
            let slots = (0..self.inputs).map(|input| {
                let mut ready = firing.ready::<u32>(input);
                ready
                    .find(|(_, token)| **token == wanted)
                    .map(|(slot, _)| slot)
            });
            if let Some(slots) = slots.collect::<Option<Vec<Slot>>>() {
                for (input, slot) in slots.into_iter().enumerate() {
                    firing.take_ready::<u32>(input, Some(slot));
                }
                let copies = [wanted % 2];
                for _ in 0..3 {
                    firing.put_in_copies(self.to, &copies, wanted, Span::from_millis(1));
                }
                return true;
            }
        }
        false
    }
}

#[test]
fn a_rule_takes_from_any_number_of_inputs_and_gives_copies() {
    let mut builder = Builder::new("net", 1);
    let mut page = builder.root();
    let inputs: Vec<Node<u32>> = (0..5)
        .map(|number| page.bag::<u32>(&format!("part {number}")))
        .collect();
    for (number, &input) in (0..).zip(&inputs) {
        // All have 7 and 8, in different orders.
        page.tokens(input, move |_| [7, 8, number, 8]);
        page.rest(input);
    }
    let (done, inner) = page.fold("assembly", 2, |page| {
        let done = page.place::<u32>("done");
        page.sink(done);
        page.name_colour(done, "Part");
        (done, page.id())
    });
    let asked = page.store("asked", |_| 0_u32);
    page.transition("join")
        .puts_exactly(To::from(done).in_given_copies(), 3)
        .rule(
            &inputs,
            &[asked],
            true,
            Alike {
                inputs: 5,
                to: done,
            },
        );
    // A page can be opened again.
    let mut inner = builder.reopen(inner);
    assert_eq!(inner.copies(), 2);
    let later = inner.place::<u32>("later");
    inner.sink(later);
    inner.tokens(later, |copy| [copy]);
    let mut net = builder.compile().unwrap();
    assert_eq!(net.run(&Limits::until_seconds(1.0)), Ok(Stop::Time));
    let firings: Vec<u64> = net
        .transition_firings()
        .map(|(_, firings)| firings)
        .collect();
    // 7 once, 8 twice.
    assert_eq!(firings, [3]);
    assert_eq!(net.node_report(done).inside, 9);
    assert!(*net.store(asked, 0) >= 4);
    let page = &net.structure().page.pages[0];
    assert_eq!((&*page.nodes[0].colour, page.nodes[1].copies), ("Part", 2));
}
