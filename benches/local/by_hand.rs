//! A million reads of 8 KiB anywhere in 64 GiB as a loop with nothing but what this
//! one question needs: the floor under any simulator of it. A least-recently-used
//! list of 1 GiB in a hash map, and a disk that takes a seek by distance, half a
//! revolution drawn at random, and the transfer. Prints one JSON object. Built and
//! run by `local.py`.
//!
//!     rustc -O by_hand.rs && ./by_hand

use std::collections::HashMap;
use std::time::Instant;

const REQUESTS: u32 = 1_000_000;
const BLOCKS: u64 = (64 << 30) / 8192;
const ROOM: usize = (1 << 30) / 8192;
const NONE: u32 = u32::MAX;

/// Seek of a 10k disk by the part of the stroke, in seconds.
fn seek(part: f64) -> f64 {
    if part == 0.0 { 0.0 } else { 0.2e-3 + 9.5e-3 * part.sqrt() }
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[derive(Clone, Copy)]
struct Links {
    block: u64,
    before: u32,
    after: u32,
}

fn main() {
    let began = Instant::now();
    let mut places: HashMap<u64, u32> = HashMap::with_capacity(ROOM);
    let mut list: Vec<Links> = Vec::with_capacity(ROOM);
    let (mut newest, mut oldest) = (NONE, NONE);
    let (mut state, mut seconds, mut head) = (88172645463325252, 0.0, 0.0_f64);
    for _ in 0..REQUESTS {
        let block = random(&mut state) % BLOCKS;
        seconds += 1.25e-6;
        let place = if let Some(&place) = places.get(&block) {
            // Out of its place in the list.
            let Links { before, after, .. } = list[place as usize];
            match before {
                NONE => newest = after,
                it => list[it as usize].after = after,
            }
            match after {
                NONE => oldest = before,
                it => list[it as usize].before = before,
            }
            place
        } else {
            let at = block as f64 / BLOCKS as f64 * 0.45;
            let turn = (random(&mut state) >> 11) as f64 / (1_u64 << 53) as f64 * 6e-3;
            seconds += seek((at - head).abs()) + turn + 8192.0 / 80e6 + 0.1e-3;
            head = at;
            let links = Links { block, before: NONE, after: NONE };
            if list.len() < ROOM {
                list.push(links);
                places.insert(block, list.len() as u32 - 1);
                list.len() as u32 - 1
            } else {
                let place = oldest;
                places.remove(&list[place as usize].block);
                oldest = list[place as usize].before;
                list[oldest as usize].after = NONE;
                list[place as usize] = links;
                places.insert(block, place);
                place
            }
        };
        list[place as usize].before = NONE;
        list[place as usize].after = newest;
        match newest {
            NONE => oldest = place,
            it => list[it as usize].before = place,
        }
        newest = place;
    }
    let wall = began.elapsed().as_secs_f64();
    println!("{{\"simulated_seconds\": {seconds}, \"wall_seconds\": {wall}}}");
}
