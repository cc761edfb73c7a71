//! The parts of a structure beside names: ports, first tokens, services that are constants.

use headrace_net::{Builder, Exponential, Fcfs, Infinite, Span};

#[test]
fn ports_first_tokens_and_constant_services() {
    let mut builder = Builder::new("office", 1);
    let mut page = builder.root();
    let letters = page.place::<u32>("letters");
    page.rest(letters);
    page.tokens(letters, |_| 0..5);
    let (enter, leave) = page.fold("desk", 3, |page| {
        let (enter, leave) = (page.input("enter"), page.output("leave"));
        let desk = page.station("desk", Fcfs::new(2, Span(7_000_000)));
        let thinking = page.station("thinking", Infinite(Exponential(Span(5))));
        page.connect(enter, desk);
        page.connect(desk, thinking);
        page.connect(thinking, leave);
        (enter, leave)
    });
    page.connect(leave, letters);
    page.transition("send")
        .take(letters)
        .put(enter.by(|letter: &u32| letter % 3), |_, letter, ()| letter);
    let net = builder.compile().expect("it is a net");
    let top = &net.structure().page;
    assert_eq!((top.nodes[0].initial, top.nodes[0].rest), (5, true));
    assert!(!top.folded);
    let desk = &top.pages[0];
    assert!(desk.folded);
    let ports: Vec<_> = desk
        .ports
        .iter()
        .map(|port| (&*port.name, port.direction, &*port.nodes))
        .collect();
    let (own, outer) = (desk.nodes[0].id, top.nodes[0].id);
    assert_eq!(
        ports,
        [("enter", "in", &[own][..]), ("leave", "out", &[outer][..])]
    );
    let services: Vec<_> = desk.nodes.iter().map(|node| node.service).collect();
    assert_eq!(services, [Some(7e-6), None]);
}
