//! Stores: state that transitions read and change, in runs and state spaces.

use crate::nets::{program, runs, space};

/// A cache of four lines in front of a disk: requests for blocks 0 to 7 in turn.
const CACHE: &str = "
    values.lines = 4
    [colours]
    State = ['cold', 'warm']
    Line = { tag = 'int', hits = 'int' }
    [stores.cache]
    hits = 0
    misses = 0
    state = 'State.cold'
    lines = { length = 'lines', initial = 'Line(-1 - index, 0)' }
    sizes = [1, 2, 3]
    [places.requests]
    colour = 'int'
    order = 'fifo'
    initial = [0, 1, 0, 4, 0, 1, 5]
    [places.answers]
    colour = 'int'
    sink = true
    [transitions.hit]
    take = [{ place = 'requests', token = 'b' }]
    when = 'cache.lines[b % lines].tag == b'
    set = ['cache.hits = cache.hits + 1',
           'cache.lines[b % lines].hits = cache.lines[b % lines].hits + cache.sizes[0]']
    put = [{ place = 'answers', token = 'cache.hits' }]
    [transitions.miss]
    take = [{ place = 'requests', token = 'b' }]
    when = 'cache.lines[b % lines].tag != b'
    set = ['cache.lines[b % lines] = Line(b, 0)', 'cache.misses = cache.misses + 1',
           'cache.state = warm']
    put = [{ place = 'answers', token = '-cache.misses' }]";

#[test]
fn a_cache() {
    let result = &runs(CACHE, 1.0, 1)[0];
    let firings: Vec<u64> = result.transitions.iter().map(|it| it.firings).collect();
    // 0, 1 miss, 0 hits, 4 evicts 0, 0 evicts 4, 1 hits, 5 evicts 1.
    assert_eq!(firings, [2, 5]);
    let cache = &result.stores[0];
    assert_eq!((&*cache.path, cache.copy), ("net/cache", 0));
    assert_eq!(cache.fields["hits"], "2");
    assert_eq!(cache.fields["misses"], "5");
    assert_eq!(cache.fields["state"], "warm");
    assert_eq!(
        cache.fields["lines"],
        "[Line(0, 0), Line(5, 0), Line(-3, 0), Line(-4, 0)]"
    );
    assert_eq!(cache.fields["sizes"], "[1, 2, 3]");
    // In the state space, the same, and every firing changes the marking.
    let answer = space(CACHE, Some("cache.hits == 1 and cache.lines[0].tag == 4"));
    assert_eq!((answer.states, answer.arcs, answer.dead), (8, 7, 1));
    let path = answer.reached.unwrap();
    assert_eq!(path.firings.len(), 4);
    let (store, fields) = path.marking.last().unwrap();
    assert_eq!(store, "net/cache");
    assert_eq!(fields[1], "misses = 3");
}

#[test]
fn expressions_see_the_values_before_the_firing() {
    let text = "
        stores.pair = { a = 1, b = 2 }
        [places.start]
        initial = 3
        [places.end]
        colour = 'int'
        sink = true
        [transitions.swap]
        take = 'start'
        let = ['sum = pair.a + 10 * pair.b']
        set = ['pair.a = pair.b', 'pair.b = pair.a']
        put = [{ place = 'end', token = 'sum' }]";
    let result = &runs(text, 1.0, 1)[0];
    assert_eq!(result.stores[0].fields["a"], "2");
    let answer = space(text, None);
    let sums = &answer.deadlock.unwrap().marking;
    assert_eq!(sums[0].1, ["12", "21", "21"]);
}

#[test]
fn a_change_of_a_store_lets_a_guard_be_tried_again() {
    let text = "
        [stores.gate]
        open = false
        [places.car]
        initial = 1
        [places.guard]
        initial = 1
        [stations.walk]
        service = '3 s'
        [places.gone]
        sink = true
        [transitions.go]
        take = 'guard'
        put = 'walk'
        [transitions.unlock]
        take = 'walk'
        put = 'gone'
        set = 'gate.open = true'
        [transitions.pass]
        take = 'car'
        when = 'gate.open'
        put = 'gone'";
    let result = &runs(text, 10.0, 1)[0];
    assert_eq!(result.nodes.last().unwrap().inside, 0);
    assert_eq!(result.transitions[2].firings, 1);
    assert_eq!(space(text, None).states, 4);
}

#[test]
fn each_copy_of_a_page_has_its_own() {
    let text = "
        [places.jobs]
        colour = 'int'
        initial = [0, 1, 1, 2, 2, 2]
        [transitions.send]
        take = [{ place = 'jobs', token = 'j' }]
        put = [{ place = 'server/in', token = 'j', copy = 'j' }]
        [stores.all]
        done = 0
        [pages.server]
        copies = 3
        [pages.server.stores.own]
        done = 'copy() * 100'
        [pages.server.places.in]
        colour = 'int'
        [pages.server.places.out]
        sink = true
        [pages.server.transitions.work]
        take = 'in'
        put = 'out'
        set = ['own.done = own.done + 1', 'all.done = all.done + 1']";
    let text = text.replace("take = 'in'", "take = [{ place = 'in' }]");
    let result = &runs(&text, 1.0, 1)[0];
    let done: Vec<&str> = result.stores.iter().map(|it| &*it.fields["done"]).collect();
    assert_eq!(done, ["6", "1", "102", "203"]);
    // Jobs are sent and done in any order: sent and done of each server.
    let answer = space(&text, Some("all.done == 6"));
    assert_eq!(answer.states, 3 * 6 * 10);
    assert!(answer.reached.is_some());
}

#[test]
fn errors_have_their_place() {
    let net = |lines: &str| {
        let text = format!(
            "[stores.s]\na = 0\nl = [1, 2]\n[places.p]\ninitial = 1\n[places.q]\nsink = true\n\
             [transitions.t]\ntake = 'p'\nput = 'q'\n{lines}\n"
        );
        program(&text).map(|_| ()).unwrap_err()
    };
    let cases = [
        ("set = 's.b = 1'", "11:7: ", "the store s has no field b"),
        ("set = 's.a = 1 s'", "11:14: ", "expected int, not time"),
        ("set = 's.a == 1'", "11:12: ", "expected \"=\", not \"==\""),
        (
            "set = ['s.a = 1', 's.a  = 2']",
            "11:19: ",
            "s.a is set twice in one firing",
        ),
        ("set = 's = 1'", "11:7: ", "expected a field of a store"),
        ("set = 'x.a = 1'", "11:7: ", "expected a field of a store"),
        ("set = 's.l = 1'", "11:7: ", "s.l is an array"),
        (
            "set = 's.l[2] = 1'",
            "11:12: ",
            "expected an index from 0 to 1",
        ),
        ("set = 's.a[0] = 1'", "11:7: ", "s.a is no array"),
        ("when = 's == 1'", "11:8: ", "s is a store"),
        ("when = 's.l[0].x == 1'", "11:8: ", "int has no fields"),
        ("[stores.r]", "11:9: ", "a store needs fields"),
        ("[stores.r]\na = []", "12:5: ", "one or more elements"),
        ("[stores.p]\na = 0", "11:9: ", "two elements called p"),
        (
            "[stores.r]\na = 'bernoulli(0.5)'",
            "12:5: ",
            "not allowed here",
        ),
    ];
    for (lines, place, part) in cases {
        let found = net(lines);
        let mut lines_of = found.lines();
        assert!(
            lines_of.any(|it| it.starts_with(place) && it.contains(part)),
            "{lines}\n-> {found}"
        );
    }
}
