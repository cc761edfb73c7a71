//! Markings with time. The last word of a token is the time until it can be taken, and time passes
//! until the next token gets ready. Barriers mark their waiting tokens so, with time or without.

use super::contents::Contents;
use super::firing::{Put, Puts};
use super::layout::Owner;
use super::marking::hash_of;
use super::step::{Current, Next};
use crate::build::{class_of, negative};
use crate::expression::{Code, Pure, evaluate};
use crate::outcome::Failure;
use crate::program::{NodeKind, Station};

/// Remaining time of a token that waits for a server, or at a barrier.
const WAITS: i64 = -1;

impl Current<'_> {
    fn station(&self, copy: usize) -> Option<&Station> {
        let Owner::Node(node) = self.layout.copies[copy].owner else {
            return None;
        };
        match &self.program.nodes[node].kind {
            NodeKind::Station(station) => Some(station),
            NodeKind::Place(_) => None,
        }
    }

    /// Returns true for a copy of a place.
    pub fn is_place(&self, copy: usize) -> bool {
        self.station(copy).is_none()
    }

    /// The content of a copy with one more token.
    pub fn put_timed(
        &self,
        copy: usize,
        content: u32,
        put: &Put,
        puts: &Puts,
        contents: &mut Contents,
    ) -> Result<u32, Failure> {
        let of = &self.layout.copies[copy];
        let words = puts.words_of(put, of.stride - 1);
        let mut tokens = contents.tokens(content).into_owned();
        let due = self.due(copy, put, words, &tokens)?;
        let new = tokens.len() / of.stride;
        tokens.extend_from_slice(words);
        tokens.push(due);
        if of.fifo {
            self.settle(copy, new, &mut tokens);
        }
        Ok(contents.number_of_tokens(&tokens))
    }

    /// The service time of a token.
    fn service(&self, copy: usize, service: &Code, token: &[i64]) -> Result<i64, Failure> {
        let mut pure = Pure::default();
        let time = evaluate(service, token, &mut pure);
        let class = match self.station(copy) {
            Some(Station::Priority(.., class)) => class_of(class, token).err(),
            _ => None,
        };
        let reason = match class.or(pure.failure) {
            Some(failure) => failure,
            None if time < 0 => negative("service time", time).into(),
            None => return Ok(time),
        };
        let Owner::Node(node) = self.layout.copies[copy].owner else {
            return Ok(time);
        };
        let path = self.program.node_path(node);
        Err(Failure::Run(format!("{path}: {reason}")))
    }

    /// Remaining time of a token that arrives.
    fn due(&self, copy: usize, put: &Put, words: &[i64], tokens: &[i64]) -> Result<i64, Failure> {
        let stride = self.layout.copies[copy].stride;
        let free = |servers: u32| {
            let tokens = tokens.chunks_exact(stride);
            let busy = tokens.filter(|token| token[stride - 1] > 0).count();
            busy < servers as usize
        };
        match self.station(copy) {
            Some(Station::Fcfs(servers, of) | Station::Priority(false, servers, of, _)) => {
                match free(*servers) {
                    true => self.service(copy, of, words),
                    false => Ok(WAITS),
                }
            }
            Some(Station::Priority(true, _, of, _)) => self.service(copy, of, words),
            Some(Station::Infinite(of) | Station::Delay(of)) => {
                Ok(put.delay + self.service(copy, of, words)?)
            }
            Some(Station::Barrier(_)) => Ok(WAITS),
            Some(Station::Sharing(..) | Station::LoadSharing(..) | Station::Flows(..)) | None => {
                Ok(put.delay)
            }
        }
    }

    /// Orders the tokens of a copy after the arrival of the token at `new`. Ready tokens are first,
    /// in the order in which they got ready, then the others in the order of their arrival.
    fn settle(&self, copy: usize, new: usize, tokens: &mut [i64]) {
        let stride = self.layout.copies[copy].stride;
        if let Some(Station::Barrier(number)) = self.station(copy) {
            let waiting = tokens.chunks_exact(stride);
            let waiting = waiting.filter(|token| token[stride - 1] == WAITS).count();
            if waiting >= *number as usize {
                let tokens = tokens.chunks_exact_mut(stride);
                tokens.for_each(|token| token[stride - 1] = 0);
            }
        }
        if tokens[(new + 1) * stride - 1] == 0 {
            let mut ready = tokens.chunks_exact(stride);
            let place = ready.position(|token| token[stride - 1] != 0);
            if let Some(place) = place {
                tokens[place * stride..(new + 1) * stride].rotate_right(stride);
            }
        }
    }

    /// Returns true for each token of a copy whose remaining time passes.
    fn running(&self, copy: usize, tokens: &[i64]) -> Vec<bool> {
        let stride = self.layout.copies[copy].stride;
        let all = tokens.chunks_exact(stride);
        let mut running: Vec<bool> = all.map(|token| token[stride - 1] > 0).collect();
        if let Some(Station::Priority(true, servers, _, class)) = self.station(copy) {
            // The most urgent are served, in the order of their arrival within a class.
            let class = |position: &usize| {
                let token = &tokens[position * stride..];
                evaluate(class, token, &mut Pure::default())
            };
            let mut served: Vec<usize> = (0..running.len()).filter(|&it| running[it]).collect();
            served.sort_by_key(class);
            let waiting = served.iter().skip(*servers as usize);
            waiting.for_each(|&it| running[it] = false);
        }
        running
    }

    /// Lets time pass until the next token gets ready; false if none will.
    pub fn wait(&self, contents: &mut [Contents], next: &mut Next) -> Result<bool, Failure> {
        let copies = 0..self.layout.copies.len();
        let running = |copy: usize| match self.layout.copies[copy].due {
            true => self.running(copy, &self.tokens(contents, copy)),
            false => Vec::new(),
        };
        let running: Vec<Vec<bool>> = copies.map(running).collect();
        let mut step = i64::MAX;
        for (copy, running) in running.iter().enumerate() {
            let stride = self.layout.copies[copy].stride.max(1);
            let tokens = self.tokens(contents, copy);
            let tokens = tokens.chunks_exact(stride);
            for (token, _) in tokens.zip(running).filter(|(_, running)| **running) {
                step = step.min(token[stride - 1]);
            }
        }
        if step == i64::MAX {
            return Ok(false);
        }
        next.marking.clone_from(&self.marking);
        for (copy, running) in running.iter().enumerate() {
            let of = &self.layout.copies[copy];
            let stride = of.stride;
            if !running.contains(&true) {
                continue;
            }
            let mut tokens = self.tokens(contents, copy).into_owned();
            let mut freed = 0;
            let words = tokens.chunks_exact_mut(stride).zip(running);
            for (token, _) in words.filter(|(_, running)| **running) {
                token[stride - 1] -= step;
                freed += usize::from(token[stride - 1] == 0);
            }
            if freed > 0 {
                self.serve_next(copy, freed, &mut tokens)?;
                if of.fifo {
                    ready_first(&mut tokens, stride);
                }
            }
            next.marking[copy] = contents[of.shape].number_of_tokens(&tokens);
        }
        next.hash = hash_of(&next.marking);
        Ok(true)
    }

    /// Lets waiting tokens begin their service at servers that have got free.
    fn serve_next(&self, copy: usize, freed: usize, tokens: &mut [i64]) -> Result<(), Failure> {
        let stride = self.layout.copies[copy].stride;
        let (service, class) = match self.station(copy) {
            Some(Station::Fcfs(_, service)) => (service, None),
            Some(Station::Priority(false, _, service, class)) => (service, Some(class)),
            _ => return Ok(()),
        };
        for _ in 0..freed {
            let waiting = tokens.chunks_exact(stride).enumerate();
            let waiting = waiting.filter(|(_, token)| token[stride - 1] == WAITS);
            // The first of the least.
            let next = waiting.min_by_key(|(_, token)| {
                class.map_or(0, |class| evaluate(class, token, &mut Pure::default()))
            });
            let Some((position, _)) = next else { break };
            let token = &mut tokens[position * stride..(position + 1) * stride];
            token[stride - 1] = self.service(copy, service, token)?;
        }
        Ok(())
    }
}

/// Those that have got ready come after those that were.
fn ready_first(tokens: &mut Vec<i64>, stride: usize) {
    let mut sorted: Vec<&[i64]> = tokens.chunks_exact(stride).collect();
    sorted.sort_by_key(|token| token[stride - 1] != 0);
    *tokens = sorted.concat();
}
