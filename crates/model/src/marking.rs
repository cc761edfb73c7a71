//! The marking of a net at work: its tokens, for people.

use std::collections::HashMap;

use headrace_net::{Net, Standing, Time};
use serde::Serialize;
use serde_json::Value;

use crate::build::token_width;
use crate::program::Program;
use crate::seen::value_of;

/// Tokens of one value in a copy of a place or station.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Tokens {
    /// Path of the place or station.
    pub place: String,
    /// The copy of its page; none if there is only one.
    pub copy: Option<u32>,
    /// Their value.
    pub token: Value,
    /// Their value in the notation of expressions.
    pub text: String,
    /// Their number.
    pub count: u64,
    /// True if transitions may take them.
    pub ready: bool,
    /// When they arrive, in seconds, if they are on their way.
    pub arrives: Option<f64>,
}

impl Tokens {
    /// A token of a node.
    pub(crate) fn of(
        program: &Program,
        node: usize,
        copy: u32,
        words: &[i64],
        ready: bool,
        arrives: Option<f64>,
    ) -> Tokens {
        let of = &program.nodes[node];
        let words = &words[..program.colours.words(of.colour)];
        Tokens {
            place: program.node_path(node),
            copy: copy_of(program, of.page, copy),
            token: value_of(&program.colours, of.colour, words),
            text: program.colours.show(of.colour, words),
            count: 1,
            ready,
            arrives,
        }
    }
}

/// The copy of a page for people; none if there is only one.
pub(crate) fn copy_of(program: &Program, page: usize, copy: u32) -> Option<u32> {
    (program.pages[page].total > 1).then_some(copy)
}

/// The tokens of each place and station, by copy; equal ones are counted together. `numbers` are
/// the kernel's numbers of the program's nodes.
pub(crate) fn marking(program: &Program, net: &Net, numbers: &[u32]) -> Vec<Tokens> {
    let mut marking: Vec<Tokens> = Vec::new();
    for (node, &number) in numbers.iter().enumerate() {
        let mut here: Vec<Tokens> = Vec::new();
        each_token(program, net, number, &mut |copy, words, ready| {
            here.push(Tokens::of(program, node, copy, words, ready, None));
        });
        each_coming(program, net, number, &mut |copy, words, time| {
            let arrives = Some(time.as_seconds());
            here.push(Tokens::of(program, node, copy, words, false, arrives));
        });
        here.sort_by_key(|it| it.copy);
        let mut known = HashMap::new();
        for tokens in here {
            let arrives = tokens.arrives.map(f64::to_bits);
            let key = (tokens.copy, tokens.text.clone(), tokens.ready, arrives);
            let at = *known.entry(key).or_insert(marking.len());
            match marking.get_mut(at) {
                Some(same) => same.count += 1,
                None => marking.push(tokens),
            }
        }
    }
    marking
}

/// Calls `visit` with each token inside a node of the kernel: its copy, words, and whether it is
/// ready.
pub(crate) fn each_token(
    program: &Program,
    net: &Net,
    number: u32,
    visit: &mut dyn FnMut(u32, &[i64], bool),
) {
    fn of<const W: usize>(net: &Net, number: u32, visit: &mut dyn FnMut(u32, &[i64], bool)) {
        net.each_token::<[i64; W]>(number, &mut |it: Standing<[i64; W]>| {
            visit(it.copy, &it.token, it.ready);
        });
    }
    match token_width(program) {
        1 => of::<1>(net, number, visit),
        2 => of::<2>(net, number, visit),
        4 => of::<4>(net, number, visit),
        _ => of::<8>(net, number, visit),
    }
}

/// Calls `visit` with each token on its way to a node of the kernel: its copy, words, and time of
/// arrival.
pub(crate) fn each_coming(
    program: &Program,
    net: &Net,
    number: u32,
    visit: &mut dyn FnMut(u32, &[i64], Time),
) {
    fn of<const W: usize>(net: &Net, number: u32, visit: &mut dyn FnMut(u32, &[i64], Time)) {
        net.each_coming::<[i64; W]>(number, &mut |copy, token, time| visit(copy, &token, time));
    }
    match token_width(program) {
        1 => of::<1>(net, number, visit),
        2 => of::<2>(net, number, visit),
        4 => of::<4>(net, number, visit),
        _ => of::<8>(net, number, visit),
    }
}
