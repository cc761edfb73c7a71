//! One step of the search: from a marking to its successors.

use super::Path;
use super::marking::{Markings, read, write};
use crate::build::suits;
use crate::expression::{Code, Pure, World, evaluate};
use crate::outcome::Failure;
use crate::program::{NodeKind, Program, Station, Transition, initial_tokens};

/// A copy of a node.
struct Copy {
    node: usize,
    /// Words of a token, its remaining time included.
    stride: usize,
    /// Tokens leave in the order of their arrival.
    fifo: bool,
}

/// Remaining time of a token that waits for a server.
const WAITS: i64 = -1;

/// The current marking, and what is needed to compute its successors.
pub struct Stepper<'p> {
    program: &'p Program,
    timed: bool,
    /// First copy of each node.
    base: Vec<usize>,
    copies: Vec<Copy>,
    /// Transitions by falling priority.
    order: Vec<usize>,
    /// Copies of pages on the way of each output: ratio, and copies of the folded pages.
    ways: Vec<Vec<(u32, Vec<u32>)>>,
    /// Copies of a transition's page for each copy of an input's page.
    ratios: Vec<Vec<u32>>,
    /// Inputs that equal the one before them: they take later tokens only.
    repeated: Vec<Vec<bool>>,
    bytes: Vec<u8>,
    /// Start of each copy's part of the bytes.
    parts: Vec<usize>,
    /// Tokens of each copy, one after the other.
    tokens: Vec<Vec<i64>>,
}

/// A token that a firing takes: copy and position.
type Taken = (usize, usize);

/// A binding of a transition that is enabled.
struct Binding {
    taken: [Taken; 32],
    frame: [i64; 64],
}

/// Discrete chance, one outcome after the other.
struct Oracle {
    copy: i64,
    /// Outcome and number of outcomes of each draw.
    choices: Vec<(u64, u64)>,
    at: usize,
    failure: Option<&'static str>,
}

/// More outcomes of one draw than this are not enumerated.
const MOST_OUTCOMES: u64 = 10_000;

impl World for Oracle {
    fn now(&mut self) -> i64 {
        0
    }
    fn copy(&mut self) -> i64 {
        self.copy
    }
    fn uniform(&mut self) -> f64 {
        self.fail("a state space has no continuous chance: use bernoulli, discrete or below");
        0.0
    }
    fn below(&mut self, bound: u64) -> u64 {
        if bound > MOST_OUTCOMES {
            self.fail("a state space has at most 10000 outcomes of one draw");
            return 0;
        }
        if self.at == self.choices.len() {
            self.choices.push((0, bound));
        }
        self.at += 1;
        self.choices[self.at - 1].0
    }
    fn chance(&mut self, probability: f64) -> bool {
        match probability {
            p if p <= 0.0 => false,
            p if p >= 1.0 => true,
            _ => self.below(2) == 1,
        }
    }
    fn fail(&mut self, message: &'static str) {
        self.failure.get_or_insert(message);
    }
}

impl Oracle {
    fn new(copy: i64) -> Oracle {
        Oracle {
            copy,
            choices: Vec::new(),
            at: 0,
            failure: None,
        }
    }

    /// Goes to the next outcome; false if there is none.
    fn next(&mut self) -> bool {
        self.at = 0;
        while let Some((outcome, bound)) = self.choices.last_mut() {
            *outcome += 1;
            if *outcome < *bound {
                return true;
            }
            self.choices.pop();
        }
        false
    }
}

/// A token that a firing puts.
struct Added {
    copy: usize,
    words: [i64; 9],
    delay: i64,
}

/// A search's function for each successor: its bytes and transition.
type OnSuccessor<'f> = &'f mut dyn FnMut(&[u8], u32);

impl<'p> Stepper<'p> {
    /// For a net; fails if it has parts that are not modelled.
    pub fn new(program: &'p Program, timed: bool) -> Result<Stepper<'p>, Failure> {
        let nodes = program.nodes.iter();
        let all = nodes.map(|node| u64::from(program.pages[node.page].total));
        if all.sum::<u64>() > 1_000_000 {
            let message = "a state space has at most a million copies of places".to_owned();
            return Err(Failure::Run(message));
        }
        let mut base = Vec::new();
        let mut copies: Vec<Copy> = Vec::new();
        for (index, node) in program.nodes.iter().enumerate() {
            let refuse = |what: &str| {
                let path = program.node_path(index);
                Err(Failure::Run(format!(
                    "{path}: a state space does not model {what}"
                )))
            };
            let fifo = match &node.kind {
                NodeKind::Place(fifo) => *fifo,
                NodeKind::Station(station) => match station {
                    Station::Barrier(_) => return refuse("barriers"),
                    Station::Sharing(..) | Station::Priority(..) if timed => {
                        return refuse("this discipline with time");
                    }
                    Station::Fcfs(_, service) | Station::Infinite(service)
                        if timed && service.is_random() =>
                    {
                        return refuse("random service with time: let time be ignored");
                    }
                    Station::Fcfs(servers, _) => timed || *servers == 1,
                    Station::Delay(_) => true,
                    _ => false,
                },
            };
            base.push(copies.len());
            let stride = program.colours.words(node.colour) + usize::from(timed);
            copies.extend((0..program.pages[node.page].total).map(|_| Copy {
                node: index,
                stride,
                fifo,
            }));
        }
        if program.transitions.len() > usize::from(u16::MAX) - 1 {
            let message = "a state space has at most 65534 transitions".to_owned();
            return Err(Failure::Run(message));
        }
        for (index, transition) in program.transitions.iter().enumerate() {
            let late = transition.outputs.iter().find(|output| {
                let kind = &program.nodes[output.node].kind;
                output.delay.is_some() && matches!(kind, NodeKind::Station(Station::Fcfs(..)))
            });
            if timed && late.is_some() {
                let path = program.transition_path(index);
                let message = "a state space with time has no delays on the way to a queue; put \
                               a station with discipline infinite before it";
                return Err(Failure::Run(format!("{path}: {message}")));
            }
            let mut delays = transition.outputs.iter().filter_map(|it| it.delay.as_ref());
            if timed && delays.any(Code::is_continuous) {
                let path = program.transition_path(index);
                let message = "a state space with time has no continuous chance in delays";
                return Err(Failure::Run(format!("{path}: {message}")));
            }
        }
        let mut order: Vec<usize> = (0..program.transitions.len()).collect();
        order.sort_by_key(|&it| -program.transitions[it].priority);
        let ways = program.transitions.iter().map(|transition| {
            let ways = transition.outputs.iter().map(|output| {
                let to = program.nodes[output.node].page;
                let (folded, ratio) = program.way(transition.page, to);
                let copies = folded.iter().map(|&page| program.pages[page].copies);
                (ratio, copies.collect())
            });
            ways.collect()
        });
        let ratios = program.transitions.iter().map(|transition| {
            let total = program.pages[transition.page].total;
            let inputs = transition.inputs.iter();
            let ratios = inputs.map(|it| total / program.pages[program.nodes[it.node].page].total);
            ratios.collect()
        });
        let repeated = program.transitions.iter().map(|transition| {
            let inputs = transition.inputs.iter().enumerate();
            let repeated = inputs.map(|(index, input)| {
                index > 0 && {
                    let last = &transition.inputs[index - 1];
                    last.node == input.node && last.steps == input.steps
                }
            });
            repeated.collect()
        });
        Ok(Stepper {
            ways: ways.collect(),
            ratios: ratios.collect(),
            repeated: repeated.collect(),
            program,
            timed,
            base,
            tokens: vec![Vec::new(); copies.len()],
            copies,
            order,
            bytes: Vec::new(),
            parts: Vec::new(),
        })
    }

    /// The bytes of the first marking.
    pub fn initial(&mut self) -> Result<Vec<u8>, Failure> {
        let mut added = Vec::new();
        for (index, node) in self.program.nodes.iter().enumerate() {
            for copy in 0..self.program.pages[node.page].total {
                let tokens = initial_tokens(node, copy).map_err(|message| {
                    Failure::Run(format!("{}: {message}", self.program.node_path(index)))
                })?;
                added.extend(tokens.into_iter().map(|token| {
                    let mut words = [0; 9];
                    words[..token.len()].copy_from_slice(&token);
                    Added {
                        copy: self.base[index] + copy as usize,
                        words,
                        delay: 0,
                    }
                }));
            }
        }
        let mut empty = Vec::new();
        (0..self.copies.len()).for_each(|_| write(&mut empty, 0));
        self.load(&empty);
        let mut bytes = Vec::new();
        // Tokens of one copy come together.
        self.compose(&[], &added, &mut Vec::new(), &mut bytes);
        Ok(bytes)
    }

    /// Makes a marking the current one.
    pub fn load(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.parts.clear();
        let mut at = 0;
        for (copy, tokens) in self.copies.iter().zip(&mut self.tokens) {
            self.parts.push(at);
            let count = read(bytes, &mut at) as usize;
            tokens.clear();
            if copy.stride == 0 {
                // Tokens without words are only counted.
                tokens.resize(count, 0);
                continue;
            }
            tokens.extend((0..count * copy.stride).map(|_| read(bytes, &mut at)));
        }
        self.parts.push(at);
    }

    /// Tokens of a copy.
    fn len(&self, copy: usize) -> usize {
        self.tokens[copy].len() / self.copies[copy].stride.max(1)
    }

    fn token(&self, copy: usize, position: usize) -> &[i64] {
        let stride = self.copies[copy].stride;
        match stride {
            0 => &[],
            _ => &self.tokens[copy][position * stride..(position + 1) * stride],
        }
    }

    /// Returns true if a token can be taken.
    fn is_ready(&self, copy: usize, position: usize) -> bool {
        !self.timed || self.token(copy, position).last() == Some(&0)
    }

    /// Widens bounds by the current marking.
    pub fn bound(&self, bounds: &mut [(u32, u32)]) {
        for (index, copy) in self.copies.iter().enumerate() {
            let tokens = self.len(index) as u32;
            let (least, most) = &mut bounds[copy.node];
            *least = tokens.min(*least);
            *most = tokens.max(*most);
        }
    }

    /// Counts tokens of a node that pass a test, in all its copies.
    pub fn count(&self, node: usize, test: &mut dyn FnMut(&[i64]) -> bool) -> i64 {
        let mut count = 0;
        for (index, copy) in self.copies.iter().enumerate() {
            if copy.node == node {
                let tokens = (0..self.len(index)).filter(|&it| test(self.token(index, it)));
                count += tokens.count() as i64;
            }
        }
        count
    }

    /// Returns true if tokens are where they may not remain.
    pub fn stands(&self) -> bool {
        let mut copies = self.copies.iter().enumerate();
        copies.any(|(index, copy)| {
            let node = &self.program.nodes[copy.node];
            !node.rest && !node.sink && self.len(index) > 0
        })
    }

    /// Computes all successors of the current marking.
    pub fn successors(&mut self, found: OnSuccessor<'_>) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        let mut added = Vec::new();
        let mut scratch = Vec::new();
        let mut binding = Binding {
            taken: [(0, 0); 32],
            frame: [0; 64],
        };
        let mut priority = None;
        for &index in &self.order {
            let transition = &self.program.transitions[index];
            if priority.is_some_and(|priority| priority > transition.priority) {
                return Ok(());
            }
            for copy in 0..self.program.pages[transition.page].total {
                let mut fired = |binding: &Binding| -> Result<(), Failure> {
                    priority = Some(transition.priority);
                    let mut oracle = Oracle::new(i64::from(copy));
                    loop {
                        added.clear();
                        bytes.clear();
                        let mut frame = binding.frame;
                        self.act(index, &mut frame, copy, &mut oracle, &mut added)?;
                        let taken = &binding.taken[..transition.inputs.len()];
                        self.compose(taken, &added, &mut scratch, &mut bytes);
                        found(&bytes, index as u32);
                        if !oracle.next() {
                            return Ok(());
                        }
                    }
                };
                self.bind(index, copy, 0, &mut binding, &mut fired)?;
            }
        }
        if self.timed && priority.is_none() && self.wait(&mut bytes) {
            found(&bytes, u32::from(u16::MAX));
        }
        Ok(())
    }

    /// Finds the bindings of an input and those after it.
    fn bind(
        &self,
        index: usize,
        copy: u32,
        input: usize,
        binding: &mut Binding,
        fired: &mut dyn FnMut(&Binding) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let transition = &self.program.transitions[index];
        let Some(arc) = transition.inputs.get(input) else {
            return fired(binding);
        };
        let from = self.base[arc.node] + (copy / self.ratios[index][input]) as usize;
        let len = self.len(from);
        let mut pure = Pure::default();
        let mut last: Option<usize> = None;
        let start = match self.repeated[index][input] {
            true => binding.taken[input - 1].1 + 1,
            false => 0,
        };
        let mut skipped = 0;
        for position in start..len {
            let taken = &binding.taken[..input];
            if !self.is_ready(from, position) {
                continue;
            }
            if taken.contains(&(from, position)) {
                continue;
            }
            if self.copies[from].fifo {
                // Earlier inputs have taken the tokens before this one.
                skipped += 1;
                if skipped > 1 {
                    break;
                }
            } else if last.is_some_and(|last| self.token(from, last) == self.token(from, position))
            {
                // An equal token gives an equal binding.
                continue;
            }
            last = Some(position);
            let suits = suits(
                &arc.steps,
                self.token(from, position),
                &mut binding.frame,
                &mut pure,
            );
            if let Some(failure) = pure.failure {
                return Err(self.failed(index, failure));
            }
            if suits {
                binding.taken[input] = (from, position);
                self.bind(index, copy, input + 1, binding, fired)?;
            }
        }
        Ok(())
    }

    fn failed(&self, index: usize, message: &str) -> Failure {
        let path = self.program.transition_path(index);
        Failure::Run(format!("{path}: {message}"))
    }

    /// Computes the tokens that a firing puts.
    fn act(
        &self,
        index: usize,
        frame: &mut [i64; 64],
        copy: u32,
        oracle: &mut Oracle,
        added: &mut Vec<Added>,
    ) -> Result<(), Failure> {
        let transition = &self.program.transitions[index];
        for (word, code) in &transition.lets {
            frame[*word] = evaluate(code, frame, oracle);
        }
        for (output, (ratio, levels)) in transition.outputs.iter().zip(&self.ways[index]) {
            for (word, code) in &output.first {
                frame[*word] = evaluate(code, frame, oracle);
            }
            if let Some(when) = &output.when
                && evaluate(when, frame, oracle) == 0
            {
                continue;
            }
            let count = output.count.as_ref();
            let count = count.map_or(1, |count| evaluate(count, frame, oracle));
            if !(0..=10_000).contains(&count) {
                let message = format!("puts {count} tokens: expected from 0 to 10000");
                return Err(self.failed(index, &message));
            }
            for _ in 0..count {
                let mut words = [0; 9];
                for (word, code) in words.iter_mut().zip(&output.words) {
                    *word = evaluate(code, frame, oracle);
                }
                let delay = match &output.delay {
                    Some(delay) if self.timed => evaluate(delay, frame, oracle),
                    _ => 0,
                };
                let mut to = copy / ratio;
                for (copies, code) in levels.iter().zip(&output.copies) {
                    let chosen = evaluate(code, frame, oracle);
                    if !(0..i64::from(*copies)).contains(&chosen) {
                        let path = self.program.node_path(output.node);
                        let message = format!("chose copy {chosen} of {path}, which has {copies}");
                        return Err(self.failed(index, &message));
                    }
                    to = to * copies + chosen as u32;
                }
                added.push(Added {
                    copy: self.base[output.node] + to as usize,
                    words,
                    delay: delay.max(0),
                });
            }
        }
        match oracle.failure {
            Some(failure) => Err(self.failed(index, failure)),
            None => Ok(()),
        }
    }

    /// Writes the marking after a firing: parts that it does not touch are copied. `scratch` is
    /// memory to use.
    fn compose(
        &self,
        taken: &[Taken],
        added: &[Added],
        scratch: &mut Vec<i64>,
        bytes: &mut Vec<u8>,
    ) {
        let mut copied = 0;
        loop {
            // The next copy that changes.
            let of_taken = taken.iter().map(|(copy, _)| *copy);
            let changed = of_taken.chain(added.iter().map(|it| it.copy));
            let Some(next) = changed.filter(|&copy| copy >= copied).min() else {
                break;
            };
            bytes.extend_from_slice(&self.bytes[self.parts[copied]..self.parts[next]]);
            copied = next + 1;
            self.change(next, taken, added, scratch);
            self.encode(next, scratch, bytes);
        }
        bytes.extend_from_slice(&self.bytes[self.parts[copied]..]);
    }

    fn encode(&self, copy: usize, tokens: &[i64], bytes: &mut Vec<u8>) {
        let stride = self.copies[copy].stride;
        write(bytes, (tokens.len() / stride.max(1)) as i64);
        if stride > 0 {
            tokens.iter().for_each(|&word| write(bytes, word));
        }
    }

    /// The tokens of one copy after a firing.
    fn change(&self, copy: usize, taken: &[Taken], added: &[Added], tokens: &mut Vec<i64>) {
        let of = &self.copies[copy];
        let stride = of.stride.max(1);
        tokens.clear();
        for (position, token) in self.tokens[copy].chunks_exact(stride).enumerate() {
            if !taken.contains(&(copy, position)) {
                tokens.extend_from_slice(token);
            }
        }
        for token in added.iter().filter(|token| token.copy == copy) {
            let mut words = token.words;
            if self.timed {
                words[stride - 1] = self.due(of.node, token, tokens, stride);
            }
            let new = &words[..stride];
            let mut at = tokens.len();
            if !of.fifo {
                // Bags are sorted, so that equal ones have equal bytes.
                while at > 0 && new < &tokens[at - stride..at] {
                    at -= stride;
                }
            }
            tokens.splice(at..at, new.iter().copied());
        }
    }

    /// Remaining time of a token that arrives at a node.
    fn due(&self, node: usize, token: &Added, tokens: &[i64], stride: usize) -> i64 {
        let service = match &self.program.nodes[node].kind {
            NodeKind::Station(Station::Fcfs(servers, service)) => {
                let busy = tokens.chunks_exact(stride);
                let busy = busy.filter(|token| token[stride - 1] > 0).count();
                match busy < *servers as usize {
                    true => service,
                    false => return WAITS,
                }
            }
            NodeKind::Station(Station::Infinite(service) | Station::Delay(service)) => service,
            _ => return token.delay,
        };
        token.delay + evaluate(service, &token.words, &mut Pure::default()).max(0)
    }

    /// Lets time pass until the next token gets ready; false if none will.
    fn wait(&self, bytes: &mut Vec<u8>) -> bool {
        let dues = self.copies.iter().zip(&self.tokens);
        let dues = dues.flat_map(|(copy, tokens)| {
            let tokens = tokens.chunks_exact(copy.stride);
            tokens.map(|token| token[token.len() - 1])
        });
        let Some(step) = dues.filter(|&due| due > 0).min() else {
            return false;
        };
        bytes.clear();
        for (index, copy) in self.copies.iter().enumerate() {
            let stride = copy.stride;
            let mut tokens = self.tokens[index].clone();
            let mut freed = 0;
            for token in tokens.chunks_exact_mut(stride) {
                if token[stride - 1] > 0 {
                    token[stride - 1] -= step;
                    freed += usize::from(token[stride - 1] == 0);
                }
            }
            if let NodeKind::Station(Station::Fcfs(_, service)) =
                &self.program.nodes[copy.node].kind
            {
                for token in tokens.chunks_exact_mut(stride) {
                    if freed > 0 && token[stride - 1] == WAITS {
                        let service = evaluate(service, token, &mut Pure::default());
                        token[stride - 1] = service.max(0);
                        freed -= 1;
                    }
                }
            }
            if !copy.fifo {
                let mut sorted: Vec<&[i64]> = tokens.chunks_exact(stride).collect();
                sorted.sort_unstable();
                tokens = sorted.concat();
            }
            self.encode(index, &tokens, bytes);
        }
        true
    }

    /// The firings from the first marking to another, in words.
    pub fn path(
        &mut self,
        markings: &Markings,
        origins: &[(u32, u32)],
        state: usize,
    ) -> Result<Path, Failure> {
        let mut firings = Vec::new();
        let mut at = state;
        while origins[at].0 != u32::MAX {
            let (before, transition) = origins[at];
            let goal = markings.get(at).to_vec();
            self.load(markings.get(before as usize));
            firings.push(self.in_words(transition, &goal)?);
            at = before as usize;
        }
        firings.reverse();
        self.load(markings.get(state));
        let mut marking = Vec::new();
        for (index, copy) in self.copies.iter().enumerate() {
            if self.len(index) == 0 {
                continue;
            }
            let node = &self.program.nodes[copy.node];
            let words = self.program.colours.words(node.colour);
            let tokens = (0..self.len(index)).map(|position| {
                let token = self.token(index, position);
                let text = self.program.colours.show(node.colour, &token[..words]);
                match token.last() {
                    Some(due) if self.timed && *due > 0 => {
                        format!("{text} in {} s", *due as f64 / 1e12)
                    }
                    _ => text,
                }
            });
            let tokens = tokens.collect();
            marking.push((self.copy_path(index), tokens));
        }
        Ok(Path { firings, marking })
    }

    fn copy_path(&self, index: usize) -> String {
        let node = self.copies[index].node;
        let path = self.program.node_path(node);
        match self.program.pages[self.program.nodes[node].page].total {
            1 => path,
            _ => format!("{path} [{}]", index - self.base[node]),
        }
    }

    /// A firing of a transition that leads from the current marking to a goal.
    fn in_words(&self, transition: u32, goal: &[u8]) -> Result<String, Failure> {
        let index = transition as usize;
        let Some(of) = self.program.transitions.get(index) else {
            return Ok("time passes".to_owned());
        };
        let mut binding = Binding {
            taken: [(0, 0); 32],
            frame: [0; 64],
        };
        let mut words = self.program.transition_path(index);
        let copies = self.program.pages[of.page].total;
        for copy in 0..copies {
            let mut found = None;
            let mut fired = |binding: &Binding| -> Result<(), Failure> {
                let mut oracle = Oracle::new(i64::from(copy));
                while found.is_none() {
                    let (mut added, mut bytes) = (Vec::new(), Vec::new());
                    let mut frame = binding.frame;
                    self.act(index, &mut frame, copy, &mut oracle, &mut added)?;
                    self.compose(
                        &binding.taken[..of.inputs.len()],
                        &added,
                        &mut Vec::new(),
                        &mut bytes,
                    );
                    if bytes == goal {
                        found = Some(self.variables(of, &frame));
                    }
                    if !oracle.next() {
                        break;
                    }
                }
                Ok(())
            };
            self.bind(index, copy, 0, &mut binding, &mut fired)?;
            if let Some(variables) = found {
                if copies > 1 {
                    words += &format!(" [{copy}]");
                }
                if !variables.is_empty() {
                    words += &format!(" ({variables})");
                }
                break;
            }
        }
        Ok(words)
    }

    fn variables(&self, of: &Transition, frame: &[i64]) -> String {
        let colours = &self.program.colours;
        let variables = of.variables.iter().map(|(name, kind, word)| {
            let words = &frame[*word..word + colours.words(*kind)];
            format!("{name} = {}", colours.show(*kind, words))
        });
        variables.collect::<Vec<_>>().join(", ")
    }
}
