//! Transitions of a document.

use super::compiler::{Compiler, Frame, fault};
use super::{
    Change, Inhibitor, Input, Node, NodeKind, Output, Recorded, Timing, Transition, monitors,
};
use crate::colour::Kind;
use crate::document::{ArcText, PageText, PutText, RecordText, Text, TransitionText};
use crate::error::did_you_mean;
use crate::expression::{
    Allowed, Code, Expression, ExpressionError, Pure, Step, Syntax, parse, used_stores,
};

impl Compiler {
    /// Goes through pages in the order in which they were numbered.
    pub(super) fn transitions(&mut self, text: &PageText, page: &mut usize) {
        let own = *page;
        for transition in &text.transitions {
            let compiled = self.transition(own, transition);
            self.program.transitions.extend(compiled);
        }
        for inner in &text.pages {
            *page += 1;
            self.transitions(inner, page);
        }
    }

    fn transition(&mut self, page: usize, text: &TransitionText) -> Option<Transition> {
        let weight = text.weight.as_ref();
        let weight = weight.and_then(|it| self.real(it, f64::MIN_POSITIVE));
        let mut frame = Frame {
            stores: self.visible_stores(page),
            ..Frame::default()
        };
        let (inputs, guards) = self.inputs(page, text, &mut frame)?;
        let mut inhibitors = Vec::new();
        for arc in &text.inhibit {
            inhibitors.push(self.inhibitor(page, arc, &mut frame)?);
        }
        let mut resets = Vec::new();
        for arc in &text.reset {
            resets.push(self.reset(page, arc)?);
        }
        let timing = self.timing(text, &mut frame)?;
        let mut lets = Vec::new();
        for binding in &text.lets {
            lets.extend(self.binding(binding, &mut frame)?);
        }
        let mut outputs = Vec::new();
        for put in &text.put {
            outputs.extend(self.put(page, put, &mut frame, &mut lets)?);
        }
        let mut records = Vec::new();
        for record in &text.record {
            records.extend(self.record(page, record, &mut frame)?);
            lets.append(&mut frame.first);
        }
        let mut changes: Vec<Change> = Vec::new();
        for (number, set) in text.sets.iter().enumerate() {
            let target = |of: &Text| {
                of.text
                    .split('=')
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .to_owned()
            };
            if text.sets[..number]
                .iter()
                .any(|it| target(it) == target(set))
            {
                let message = format!("{} is set twice in one firing", target(set));
                fault(&mut self.faults, &set.path, message);
                return None;
            }
            changes.push(self.change(set, &mut frame)?);
        }
        Some(Transition {
            page,
            name: text.name.clone(),
            priority: text.priority,
            weight: weight.unwrap_or(1.0),
            inputs,
            inhibitors,
            resets,
            guards,
            timing,
            lets,
            outputs,
            records,
            stores: used_stores(&frame.stores),
            changes,
            words: frame.words,
            variables: frame
                .variables
                .into_iter()
                .filter(|it| !it.name.is_empty())
                .map(|it| (it.name, it.kind, it.word))
                .collect(),
            place: text.path.clone(),
        })
    }

    /// Inputs with their patterns and guards. A guard is tested as soon as all that it uses is
    /// bound; guards without any input are apart.
    fn inputs(
        &mut self,
        page: usize,
        text: &TransitionText,
        frame: &mut Frame,
    ) -> Option<(Vec<Input>, Vec<Code>)> {
        let mut inputs: Vec<Input> = Vec::new();
        let mut guards = Vec::new();
        let mut ends = Vec::new();
        let takes = text.take.iter().map(|arc| (arc, false));
        for (arc, is_read) in takes.chain(text.read.iter().map(|arc| (arc, true))) {
            for (node, steps) in self.take(page, arc, frame)? {
                let same = |input: &&Input| (input.node, input.is_read) == (node, is_read);
                let before = inputs.iter().filter(same).count();
                inputs.push(Input {
                    node,
                    steps,
                    before,
                    is_read,
                });
                ends.push(frame.words);
            }
        }
        if inputs.len() > 32 {
            let message = "expected at most 32 tokens taken in one firing";
            fault(&mut self.faults, &text.path, message);
            return None;
        }
        for when in &text.when {
            let expression = self.parse(when)?;
            for part in conjuncts(&expression) {
                let code =
                    self.in_frame(when, frame, Allowed::Nothing, |scope| scope.condition(part))?;
                let extent = code.extent();
                let input = ends.iter().position(|&end| extent <= end);
                match inputs.get_mut(input.unwrap_or(ends.len().saturating_sub(1))) {
                    Some(input) => input.steps.push(Step::Test(code)),
                    None => guards.push(code),
                }
            }
        }
        Some((inputs, guards))
    }

    /// Tokens that inhibit a transition. Variables of their pattern are unknown elsewhere.
    fn inhibitor(&mut self, page: usize, text: &ArcText, frame: &mut Frame) -> Option<Inhibitor> {
        let node = self.reachable(page, text)?;
        let count = match &text.count {
            None => 1,
            Some(count) => self.whole(count, 1, i64::from(u32::MAX) - 1)?,
        };
        let mut steps = Vec::new();
        if let Some(token) = &text.token {
            let Node { colour, kind, .. } = &self.program.nodes[node];
            if let NodeKind::Station(_) = kind {
                let message = "all tokens of a station inhibit: expected no token";
                fault(&mut self.faults, &token.path, message);
                return None;
            }
            let colour = *colour;
            let pattern = self.parse(token)?;
            let variables = frame.variables.clone();
            steps = self.in_frame(token, frame, Allowed::Nothing, |scope| {
                scope.pattern(&pattern, colour)
            })?;
            frame.variables = variables;
        }
        // Without conditions all tokens count.
        if steps.iter().all(|step| matches!(step, Step::Bind { .. })) {
            steps.clear();
        }
        Some(Inhibitor {
            node,
            count: count as u32,
            steps,
        })
    }

    /// A place that a transition empties.
    fn reset(&mut self, page: usize, text: &ArcText) -> Option<usize> {
        let node = self.reachable(page, text)?;
        let is_station = matches!(self.program.nodes[node].kind, NodeKind::Station(_));
        if is_station || text.token.is_some() || text.count.is_some() {
            let message = "a reset takes all tokens of a place: expected the name of a place only";
            fault(&mut self.faults, &text.path, message);
            return None;
        }
        Some(node)
    }

    /// The time of a transition: none if it fires at once.
    fn timing(&mut self, text: &TransitionText, frame: &mut Frame) -> Option<Option<Timing>> {
        let (value, is_mean, given) = match (&text.rate, &text.delay) {
            (None, None) => {
                if let Some(servers) = &text.servers {
                    let message = "servers are of transitions with a rate or a delay";
                    fault(&mut self.faults, &servers.path, message);
                }
                return Some(None);
            }
            (Some(rate), None) => {
                let expression = self.parse(rate)?;
                let typed = self.in_frame(rate, frame, Allowed::Nothing, |scope| {
                    scope.compile(&expression, Kind::Real)
                });
                (typed?.words.remove(0), false, rate)
            }
            (None, Some(delay)) => {
                let expression = self.parse(delay)?;
                let typed = self.in_frame(delay, frame, Allowed::TimeAndChance, |scope| {
                    scope.compile(&expression, Kind::Time)
                });
                match typed?.words.remove(0).mean_of_exponential() {
                    Some(mean) if !mean.is_random() => (mean, true, delay),
                    _ => {
                        let message = "expected exponential(mean): other times are those of \
                                       stations, and of delays of put";
                        fault(&mut self.faults, &delay.path, message);
                        return None;
                    }
                }
            }
            (Some(_), Some(delay)) => {
                let message = "expected a rate or a delay, not both";
                fault(&mut self.faults, &delay.path, message);
                return None;
            }
        };
        if text.priority != 0 || text.weight.is_some() {
            let message = "a transition with a rate or a delay has no priority and no weight: it \
                           fires when no other may";
            fault(&mut self.faults, &text.path, message);
        }
        let servers = match &text.servers {
            None => 1,
            Some(servers) if servers.text == "infinite" => u32::MAX,
            Some(servers) => self.whole(servers, 1, i64::from(u32::MAX) - 1)? as u32,
        };
        if servers == u32::MAX && text.take.is_empty() {
            let message = "a transition that takes nothing has no infinite servers: expected a \
                           number";
            fault(&mut self.faults, &text.path, message);
        }
        let timing = Timing {
            value,
            is_mean,
            servers,
        };
        if let Code::Constant(_) = timing.value
            && let Err(reason) = timing.rate(&[], &mut Pure::default())
        {
            fault(&mut self.faults, &given.path, reason);
        }
        Some(Some(timing))
    }

    /// Words of the frame for `name = expression`.
    fn binding(&mut self, text: &Text, frame: &mut Frame) -> Option<Vec<(usize, Code)>> {
        let Some((name, value)) = text.text.split_once('=') else {
            let message = "expected a name, = and an expression";
            fault(&mut self.faults, &text.path, message);
            return None;
        };
        let before = name.chars().count() + 1;
        let name = name.trim().to_owned();
        self.check_name(&text.path, &name);
        let taken = frame.variables.iter().any(|it| it.name == name)
            || frame.stores.iter().any(|it| it.name == name);
        if taken || self.constants.contains_key(&name) {
            let message = format!("{name} has a value already");
            fault(&mut self.faults, &text.path, message);
            return None;
        }
        let shifted = |mut error: ExpressionError| {
            error.column += before;
            error
        };
        let expression = parse(value).map_err(shifted);
        let expression = self.accept(text, expression)?;
        let typed = self.in_frame(text, frame, Allowed::TimeAndChance, |scope| {
            let typed = scope.infer(&expression, None).map_err(shifted)?;
            let word = scope.bind(&expression, &name, typed.kind)?;
            Ok((word, typed))
        });
        let (word, typed) = typed?;
        let mut words = std::mem::take(&mut frame.first);
        words.extend((word..).zip(typed.words));
        Some(words)
    }

    /// A figure to record; none if no probe has its name.
    fn record(
        &mut self,
        page: usize,
        text: &RecordText,
        frame: &mut Frame,
    ) -> Option<Option<Recorded>> {
        let probes = &self.program.probes;
        let probe = self.program.around(page).find_map(|page| {
            let mut probes = probes.iter();
            probes.position(|(of, name)| *of == page && *name == text.probe.text)
        });
        let Some(probe) = probe else {
            let near = did_you_mean(&text.probe.text, probes.iter().map(|(_, it)| &**it));
            let message = format!("no probe is called {:?}{near}", text.probe.text);
            fault(&mut self.faults, &text.probe.path, message);
            return Some(None);
        };
        let anything = Allowed::TimeAndChance;
        let value = self.parse(&text.value)?;
        let value = self.in_frame(&text.value, frame, anything, |scope| {
            monitors::figure(scope, &value)
        })?;
        let when = match &text.when {
            None => None,
            Some(when) => {
                let condition = self.parse(when)?;
                Some(self.in_frame(when, frame, anything, |scope| scope.condition(&condition))?)
            }
        };
        Some(Some(Recorded { probe, when, value }))
    }

    /// The node of an arc that takes, reads, inhibits or resets.
    fn reachable(&mut self, page: usize, text: &ArcText) -> Option<usize> {
        let node = self.resolve(page, &text.place, 0)?;
        let of = self.program.nodes[node].page;
        if !self.program.around(page).any(|page| page == of) {
            let message = format!(
                "takes from {}, which is neither in its page nor in one around it",
                self.program.node_path(node)
            );
            fault(&mut self.faults, &text.path, message);
            return None;
        }
        Some(node)
    }

    fn take(
        &mut self,
        page: usize,
        text: &ArcText,
        frame: &mut Frame,
    ) -> Option<Vec<(usize, Vec<Step>)>> {
        let node = self.reachable(page, text)?;
        let count = match &text.count {
            None => 1,
            Some(count) => self.whole(count, 1, 32)?,
        };
        let colour = self.program.nodes[node].colour;
        let pattern = match &text.token {
            None => None,
            Some(token) => Some((token, self.parse(token)?)),
        };
        let mut taken = Vec::new();
        for _ in 0..count {
            let steps = match &pattern {
                None => Vec::new(),
                Some((token, pattern)) => {
                    self.in_frame(token, frame, Allowed::Nothing, |scope| {
                        scope.pattern(pattern, colour)
                    })?
                }
            };
            taken.push((node, steps));
        }
        Some(taken)
    }

    fn put(
        &mut self,
        page: usize,
        text: &PutText,
        frame: &mut Frame,
        lets: &mut Vec<(usize, Code)>,
    ) -> Option<Vec<Output>> {
        let node = self.resolve(page, &text.arc.place, 0)?;
        let (folded, _) = self.program.way(page, self.program.nodes[node].page);
        if folded.len() != text.copy.len() {
            let path = self.program.node_path(node);
            let message = match (folded.len(), text.copy.len()) {
                (0, _) => format!("copy has no meaning: no folded page lies on the way to {path}"),
                (1, 0) => format!(
                    "copy is missing: {path} has {} copies; choose one, such as copy = \"0\"",
                    self.program.pages[folded[0]].copies
                ),
                (pages, _) => format!(
                    "expected copy with {pages} expressions, one for each folded page on the way to \
                     {path}"
                ),
            };
            fault(&mut self.faults, &text.arc.path, message);
            return None;
        }
        let colour = self.program.nodes[node].colour;
        let anything = Allowed::TimeAndChance;
        let mut of_text = |this: &mut Compiler, text: &Text, kind: Kind| -> Option<Code> {
            let expression = this.parse(text)?;
            this.in_frame(text, frame, anything, |scope| {
                Ok(scope.compile(&expression, kind)?.words.remove(0))
            })
        };
        let mut copies = Vec::new();
        for copy in &text.copy {
            copies.push(of_text(self, copy, Kind::Int)?);
        }
        let count = match &text.arc.count {
            None => None,
            Some(count) => Some(of_text(self, count, Kind::Int)?),
        };
        let delay = match &text.delay {
            None => None,
            Some(delay) => Some(of_text(self, delay, Kind::Time)?.truncated()),
        };
        if matches!(delay, Some(Code::Constant(value)) if value < 0) {
            let path = text.delay.as_ref().map(|it| it.path.clone());
            let message = "expected a time of zero or more";
            fault(&mut self.faults, &path.unwrap_or_default(), message);
        }
        let mut when = match &text.when {
            None => None,
            Some(when) => Some(of_text(self, when, Kind::Bool)?),
        };
        let Some(token) = &text.arc.token else {
            if colour != Kind::Unit {
                let colour = self.program.colours.name(colour).to_owned();
                fault(
                    &mut self.faults,
                    &text.arc.path,
                    format!("token is missing: a {colour}"),
                );
                return None;
            }
            lets.append(&mut frame.first);
            return Some(vec![Output {
                node,
                first: Vec::new(),
                when,
                words: Vec::new(),
                count,
                delay,
                copies,
            }]);
        };
        let expression = self.parse(token)?;
        let mut alternatives = Vec::new();
        self.alternatives(token, &expression, None, frame, lets, &mut alternatives)?;
        let several = alternatives.len() > 1;
        if several && let Some(code) = when.take_if(|code| code.is_random()) {
            // Drawn once for all alternatives.
            let word = self.in_frame(token, frame, anything, |scope| {
                scope.bind(&expression, "", Kind::Bool)
            })?;
            lets.push((word, code));
            when = Some(Code::Word(word));
        }
        let mut outputs = Vec::new();
        for (condition, value) in alternatives {
            let words = self.in_frame(token, frame, anything, |scope| {
                Ok(scope.compile(value, colour)?.words)
            })?;
            let when = match (when.clone(), condition) {
                (Some(a), Some(b)) => Some(Code::And(Box::new([a, b]))),
                (a, b) => a.or(b),
            };
            outputs.push(Output {
                node,
                first: std::mem::take(&mut frame.first),
                when,
                words,
                count: count.clone(),
                delay: delay.clone(),
                copies: copies.clone(),
            });
        }
        Some(outputs)
    }

    /// The tokens of `if … then … else empty`, each with its condition.
    fn alternatives<'e>(
        &mut self,
        text: &Text,
        of: &'e Expression,
        condition: Option<Code>,
        frame: &mut Frame,
        lets: &mut Vec<(usize, Code)>,
        found: &mut Vec<(Option<Code>, &'e Expression)>,
    ) -> Option<()> {
        match &of.node {
            Syntax::Name(name) if name == "empty" => {}
            Syntax::If(parts) if has_empty(&parts[1]) || has_empty(&parts[2]) => {
                let mut test = self.in_frame(text, frame, Allowed::TimeAndChance, |scope| {
                    scope.condition(&parts[0])
                })?;
                if test.is_random() {
                    let word = self.in_frame(text, frame, Allowed::TimeAndChance, |scope| {
                        scope.bind(of, "", Kind::Bool)
                    })?;
                    lets.push((word, test));
                    test = Code::Word(word);
                }
                let not = Code::Not(Box::new(test.clone()));
                for (test, part) in [(test, &parts[1]), (not, &parts[2])] {
                    let both = match condition.clone() {
                        Some(condition) => Code::And(Box::new([condition, test])),
                        None => test,
                    };
                    self.alternatives(text, part, Some(both), frame, lets, found)?;
                }
            }
            _ => found.push((condition, of)),
        }
        Some(())
    }
}

fn has_empty(of: &Expression) -> bool {
    let mut found = false;
    of.walk(&mut |it| found |= matches!(&it.node, Syntax::Name(name) if name == "empty"));
    found
}

/// The parts of `a and b and c`.
fn conjuncts(of: &Expression) -> Vec<&Expression> {
    match &of.node {
        Syntax::Binary("and", a, b) => [conjuncts(a), conjuncts(b)].concat(),
        _ => vec![of],
    }
}
