//! Every way in which a net can be wrong before it runs, with the whole message.

use headrace_net::{BuildErrors, Builder, Infinite, Page, Span};

/// Returns the compile error of a page named "main".
fn complaint(write: impl FnOnce(&mut Page<'_>)) -> String {
    let mut builder = Builder::new("main", 1);
    write(&mut builder.root());
    let error: Option<BuildErrors> = builder.compile().err();
    error.map_or_else(String::new, |error| error.to_string())
}

/// A ring of one place, so that the rest of the net is sound.
fn ring(page: &mut Page<'_>) -> headrace_net::Node<u32> {
    let place = page.place::<u32>("place");
    page.transition("turn")
        .take(place)
        .put(place, |_, token, ()| token);
    page.tokens(place, |_| [0]);
    place
}

#[test]
fn a_sound_net_compiles() {
    assert_eq!(complaint(|page| _ = ring(page)), "");
}

#[test]
fn two_of_one_name() {
    let message = complaint(|page| {
        ring(page);
        page.page("disk", |page| {
            page.store("cache", |_| 0);
            page.input::<u32>("cache");
        });
    });
    assert_eq!(
        message,
        "main/disk/cache: the page has two elements of this name; rename one"
    );
}

#[test]
fn nodes_transitions_pages_and_tallies_share_one_name_space() {
    for write in [
        (|page| _ = page.place::<u32>("place")) as fn(&mut Page<'_>),
        |page| _ = page.bag::<u32>("place"),
        |page| _ = page.station::<u32, _>("place", Infinite(Span::ZERO)),
        |page| _ = page.output::<u32>("place"),
        |page| _ = page.tally("place"),
        |page| page.page("place", |_| ()),
        |page| page.fold("place", 2, |_| ()),
        |page| page.transition("place").fires(|_, (), ()| ()),
    ] {
        let message = complaint(|page| {
            ring(page);
            write(page);
        });
        assert_eq!(
            message,
            "main/place: the page has two elements of this name; rename one"
        );
    }
}

#[test]
fn no_copies() {
    let message = complaint(|page| {
        ring(page);
        page.fold("server", 0, |_| ());
    });
    assert_eq!(
        message,
        "main/server: 0 copies: expected 1 to 2^32 copies in total"
    );
}

#[test]
fn more_copies_than_can_be_counted() {
    let message = complaint(|page| {
        ring(page);
        page.fold("rack", 1 << 16, |page| page.fold("server", 1 << 16, |_| ()));
    });
    assert_eq!(
        message,
        "main/rack/server: 65536 copies: expected 1 to 2^32 copies in total"
    );
}

#[test]
fn ports_that_lead_nowhere() {
    let message = complaint(|page| {
        ring(page);
        page.page("server", |page| {
            page.input::<u32>("rx");
            page.output::<u32>("tx");
        });
    });
    assert_eq!(
        message,
        "main/server/rx: this input port is not connected; connect it to a node\n\
         main/server/tx: this output port is not connected; connect it to a node"
    );
}

#[test]
fn an_unbound_port_is_reported_once() {
    let message = complaint(|page| {
        let place = ring(page);
        let tx = page.page("server", |page| page.output::<u32>("tx"));
        page.transition("send")
            .take(place)
            .put(tx, |_, token, ()| token);
    });
    assert_eq!(
        message,
        "main/server/tx: this output port is not connected; connect it to a node"
    );
}

#[test]
fn a_port_with_two_targets() {
    let message = complaint(|page| {
        let place = ring(page);
        let tx = page.page("server", |page| page.output::<u32>("tx"));
        page.connect(tx, place);
        page.connect(tx, place);
    });
    assert_eq!(
        message,
        "main/server/tx: this port is connected twice; a port has one target"
    );
}

#[test]
fn ports_in_a_circle() {
    let message = complaint(|page| {
        ring(page);
        let one = page.output::<u32>("one");
        let two = page.output::<u32>("two");
        page.connect(one, two);
        page.connect(two, one);
    });
    assert_eq!(
        message,
        "main/one: this port is connected to itself; connect it to a node\n\
         main/two: this port is connected to itself; connect it to a node"
    );
}

#[test]
fn nothing_drains() {
    let message = complaint(|page| {
        let place = ring(page);
        page.page("server", |page| {
            let full = page.place::<u32>("full");
            let disk = page.station("disk", Infinite(Span::ZERO));
            page.transition("in")
                .take(place)
                .puts(full)
                .puts(disk)
                .fires(move |firing, token, ()| {
                    firing.put(full, token);
                    firing.put(disk, token);
                });
        });
    });
    assert_eq!(
        message,
        "main/server/full: nothing drains this place; let a transition take from it or declare \
         it a sink\n\
         main/server/disk: nothing drains this station; let a transition take from it or declare \
         it a sink"
    );
}

#[test]
fn a_sink_needs_no_drain() {
    let message = complaint(|page| {
        let place = ring(page);
        let sink = page.place("sink");
        page.connect(place, sink);
        page.sink(sink);
    });
    assert_eq!(message, "");
}

#[test]
fn nothing_fills() {
    let message = complaint(|page| {
        let place = ring(page);
        let empty = page.place("empty");
        let idle = page.station("idle", Infinite(Span::ZERO));
        page.connect(empty, place);
        page.connect(idle, place);
        page.transition("report")
            .take(place)
            .signals(idle)
            .puts(place)
            .fires(move |firing, token, ()| {
                firing.signal(idle, &token);
                firing.put(place, token);
            });
    });
    assert_eq!(
        message,
        "main/empty: nothing fills this place: no transition puts into it and it starts empty\n\
         main/idle: nothing fills this station: no transition puts into it and it starts empty"
    );
}

#[test]
fn not_conserved() {
    let message = complaint(|page| {
        let place = ring(page);
        let credits = page.place("credits");
        page.tokens(credits, |_| [(); 4]);
        page.conserve(credits);
        page.page("server", |page| {
            page.transition("start")
                .take(place)
                .take(credits)
                .put(place, |_, (token, ()), ()| token);
            page.transition("finish")
                .take(place)
                .may_put(credits)
                .put(place, |_, token, ()| token);
        });
    });
    assert_eq!(
        message,
        "main/credits: tokens can be lost or created here: no weighted sum over places that \
         includes this one is invariant under all firings; check main/server/start, \
         main/server/finish"
    );
}

#[test]
fn conserved() {
    let message = complaint(|page| {
        let place = ring(page);
        let credits = page.place("credits");
        let used = page.place("used");
        page.tokens(credits, |_| [(); 4]);
        page.conserve(credits);
        page.conserve(place);
        page.connect(credits, used);
        page.connect(used, credits);
    });
    assert_eq!(message, "");
}

#[test]
fn no_input() {
    let message = complaint(|page| {
        let place = ring(page);
        page.page("client", |page| {
            page.transition("make").put(place, |_, (), ()| 1);
        });
    });
    assert_eq!(
        message,
        "main/client/make: this transition has no input and would fire forever; add an input"
    );
}

#[test]
fn out_of_reach() {
    let message = complaint(|page| {
        let place = ring(page);
        let (inner, table, bag) = page.page("server", |page| {
            let inner = page.place::<u32>("inner");
            page.tokens(inner, |_| [1]);
            (inner, page.store("table", |_| 0), page.bag::<u32>("bag"))
        });
        page.transition("steal")
            .take(inner)
            .put(place, |_, token, ()| token);
        page.transition("peek")
            .take(place)
            .with(table)
            .may_take(bag)
            .puts(bag)
            .fires(|_, _, _| ());
    });
    let steals = "which is neither in its page nor in an enclosing one";
    assert_eq!(
        message,
        format!(
            "main/steal: takes from or borrows main/server/inner, {steals}\n\
             main/peek: takes from or borrows main/server/bag, {steals}\n\
             main/peek: takes from or borrows main/server/table, {steals}"
        )
    );
}

#[test]
fn a_folded_page_needs_a_selector() {
    let message = complaint(|page| {
        let place = ring(page);
        let inner = page.fold("rack", 3, |page| {
            page.fold("server", 4, |page| {
                let inner = page.place::<u32>("inner");
                page.connect(inner, place);
                inner
            })
        });
        page.transition("none")
            .take(place)
            .put(inner, |_, token, ()| token);
        let one = inner.by(|&token| token);
        page.transition("one")
            .take(place)
            .put(one, |_, token, ()| token);
    });
    let choose =
        "puts into main/rack/server/inner, which has 12 copies there; choose one with `by`";
    assert_eq!(message, format!("main/none: {choose}\nmain/one: {choose}"));
}

#[test]
fn a_page_with_one_copy_is_still_folded() {
    let message = complaint(|page| {
        let place = ring(page);
        let inner = page.fold("server", 1, |page| {
            let inner = page.place::<u32>("inner");
            page.connect(inner, place);
            inner
        });
        page.transition("send")
            .take(place)
            .put(inner, |_, token, ()| token);
    });
    assert_eq!(
        message,
        "main/send: puts into main/server/inner, which has 1 copies there; choose one with `by`"
    );
}

#[test]
fn a_selector_where_nothing_is_folded() {
    let message = complaint(|page| {
        let place = ring(page);
        page.transition("choose")
            .take(place)
            .put(place.by(|&token| token), |_, token, ()| token);
    });
    assert_eq!(
        message,
        "main/choose: chooses a copy of main/place with `by`, but no folded page lies between them"
    );
}

#[test]
fn selectors_of_ports_count() {
    let message = complaint(|page| {
        let place = ring(page);
        let rx = page.fold("rack", 2, |page| {
            let rx = page.input::<u32>("rx");
            let inner = page.fold("server", 2, |page| {
                let inner = page.place::<u32>("inner");
                page.connect(inner, place);
                inner
            });
            page.connect(rx, inner.by(|&token| token % 2));
            rx
        });
        let choose = rx.by(|&token| token / 2);
        page.transition("send")
            .take(place)
            .put(choose, |_, token, ()| token);
    });
    assert_eq!(message, "");
}

#[test]
fn many_choices_in_one_transition_are_no_burden() {
    let message = complaint(|page| {
        let place = ring(page);
        page.conserve(place);
        let sinks: Vec<_> = (0..40)
            .map(|index| page.place::<u32>(&format!("sink {index}")))
            .collect();
        for &sink in &sinks {
            page.sink(sink);
        }
        let tell = page.transition("tell").take(place).puts(place);
        let tell = sinks.iter().fold(tell, |tell, &sink| tell.may_put(sink));
        tell.fires(move |firing, token, ()| _ = firing.put(place, token));
    });
    assert_eq!(message, "");
}
