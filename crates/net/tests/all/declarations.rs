//! Checks of a firing's tokens against its transition's declaration.

use headrace_net::{Builder, Limits, Net, Page, Slot, Span, Stop};

fn net(write: impl FnOnce(&mut Page<'_>)) -> Net {
    let mut builder = Builder::new("main", 1);
    write(&mut builder.root());
    builder.compile().expect("a sound net")
}

fn complaint(write: impl FnOnce(&mut Page<'_>)) -> String {
    let error = net(write).run(&Limits::default()).err();
    error.map_or_else(String::new, |error| error.to_string())
}

/// Returns the error of a transition that violates its declaration. Debug builds check this.
#[cfg(debug_assertions)]
mod declared {
    use super::*;
    use headrace_net::{Firing, Node};

    type Act = fn(&mut Firing<'_>, [Node<u32>; 3]);

    fn puts(act: Act) -> String {
        complaint(|page| {
            let start = page.place::<()>("start");
            page.tokens(start, |_| [()]);
            let places = ["one", "either", "or"].map(|name| page.place::<u32>(name));
            for place in places {
                page.sink(place);
            }
            page.transition("act")
                .take(start)
                .puts(places[0])
                .puts_one_of([places[1].into(), places[2].into()])
                .fires(move |firing, (), ()| act(firing, places));
        })
    }

    #[test]
    fn a_firing_that_puts_what_it_declared() {
        let message = puts(|firing, [one, either, _]| {
            firing.put(one, 1);
            firing.put(either, 1);
        });
        assert_eq!(message, "");
    }

    #[test]
    fn a_firing_that_puts_other_than_declared() {
        let nothing = puts(|firing, [_, either, _]| _ = firing.put(either, 1));
        assert_eq!(
            nothing,
            "main/act: put 0 tokens into main/one where it declared exactly one"
        );
        let twice = puts(|firing, [one, either, _]| {
            firing.put(one, 1);
            firing.put(one, 1);
            firing.put(either, 1);
        });
        assert_eq!(
            twice,
            "main/act: put 2 tokens into main/one where it declared exactly one"
        );
        let neither = puts(|firing, [one, _, _]| _ = firing.put(one, 1));
        assert_eq!(
            neither,
            "main/act: put 0 tokens into main/either and its alternatives where it declared \
             exactly one"
        );
        let both = puts(|firing, [one, either, or]| {
            firing.put(one, 1);
            firing.put(either, 1);
            firing.put_after(or, 1, Span::from_millis(1));
        });
        assert_eq!(
            both,
            "main/act: put 2 tokens into main/either and its alternatives where it declared \
             exactly one"
        );
    }

    #[test]
    fn a_firing_that_puts_two_where_one_may_be() {
        let message = complaint(|page| {
            let start = page.place::<()>("start");
            page.tokens(start, |_| [()]);
            let sink = page.place::<u32>("sink");
            page.sink(sink);
            page.transition("act")
                .take(start)
                .may_put(sink)
                .fires(move |firing, (), ()| {
                    firing.put(sink, 1);
                    firing.put(sink, 2);
                });
        });
        assert_eq!(
            message,
            "main/act: put 2 tokens into main/sink where it declared one at most"
        );
    }
}

#[test]
fn puts_and_takes_that_were_not_declared() {
    let undeclared = "main/act: takes from or puts into a node that it did not declare with \
                      may_take, puts, may_put, puts_many, puts_one_of or signals";
    let message = complaint(|page| {
        let start = page.place::<()>("start");
        page.tokens(start, |_| [()]);
        let sink = page.place::<u32>("sink");
        page.tokens(sink, |_| [1]);
        page.sink(sink);
        page.transition("act")
            .take(start)
            .fires(move |firing, (), ()| {
                firing.put(sink, 1);
            });
    });
    assert_eq!(message, undeclared);
    let message = complaint(|page| {
        let start = page.place::<()>("start");
        page.tokens(start, |_| [()]);
        let bag = page.bag::<u32>("bag");
        page.tokens(bag, |_| [1]);
        page.sink(bag);
        page.transition("act")
            .take(start)
            .fires(move |firing, (), ()| {
                assert_eq!(firing.take(bag, Slot(0)), None);
            });
    });
    assert_eq!(message, undeclared);
}

#[test]
fn an_invariant_that_breaks() {
    let mut net = net(|page| {
        let start = page.place::<()>("start");
        page.tokens(start, |_| [(); 2]);
        let bag = page.bag::<u32>("bag");
        let sink = page.place::<u32>("sink");
        page.tokens(bag, |_| [1]);
        page.sink(bag);
        page.sink(sink);
        // Says that it passes a token on, and drops it.
        page.transition("drop")
            .take(start)
            .may_pass(bag, sink)
            .puts(start)
            .fires(move |firing, (), ()| {
                _ = firing.take(bag, Slot(0));
                firing.put_after(start, (), Span::from_millis(1));
                firing.stop();
            });
    });
    assert_eq!(net.run(&Limits::default()), Ok(Stop::Asked));
    assert_eq!(
        net.check_invariants().map_err(|error| error.to_string()),
        Err("tokens lost or created: main/bag + main/sink was 1 and is 0".to_owned())
    );
}
