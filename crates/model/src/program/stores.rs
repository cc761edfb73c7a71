//! Stores of a document: fields, and their first values.

use std::rc::Rc;

use super::compiler::{Compiler, Frame, Item, fault, in_text};
use super::{Change, Program, Store};
use crate::colour::{Colours, Kind};
use crate::document::{FieldText, StoreText, Text};
use crate::expression::{
    Allowed, Array, Pure, StoreField, StoreName, Typed, evaluate, parse_assignment,
};

/// Elements of an array.
const MOST_ELEMENTS: i64 = 1_000_000;

impl Compiler {
    pub(super) fn store(&mut self, page: usize, text: &StoreText) -> Store {
        let mut store = Store {
            page,
            name: text.name.clone(),
            fields: Vec::new(),
            initial: Vec::new(),
            words: 0,
            place: text.path.clone(),
        };
        self.check_name(&text.path, &text.name);
        if text.fields.is_empty() {
            let message = "a store needs fields with their first values, such as hits = 0";
            fault(&mut self.faults, &text.path, message);
        }
        for field in &text.fields {
            self.check_name(&field.path, &field.name);
            let Some((kind, values)) = self.first_values(field) else {
                continue;
            };
            let length = match &field.length {
                None => values.len(),
                Some(length) => self.whole(length, 1, MOST_ELEMENTS).unwrap_or(1) as usize,
            };
            let words = Array {
                first: store.words,
                stride: self.program.colours.words(kind),
                length,
            };
            store.words += length * words.stride;
            store.fields.push(StoreField {
                name: field.name.clone(),
                kind,
                words,
                is_array: field.is_array,
            });
            store
                .initial
                .push(values.into_iter().map(|it| it.words).collect());
        }
        store
    }

    /// The type of a field, and its first values; `index` is an element's.
    fn first_values(&mut self, field: &FieldText) -> Option<(Kind, Vec<Typed>)> {
        if field.values.is_empty() {
            let message = "expected one or more elements";
            fault(&mut self.faults, &field.path, message);
            return None;
        }
        let mut kind = field.colour.as_ref().map(|colour| self.colour(colour));
        let mut values = Vec::new();
        for value in &field.values {
            let expression = self.parse(value)?;
            let mut scope = self.scope(Allowed::Nothing);
            if field.length.is_some() {
                scope.bind(&expression, "index", Kind::Int).ok()?;
            }
            let typed = match kind {
                Some(kind) => scope.compile(&expression, kind),
                None => scope.infer(&expression, None),
            };
            let typed = self.accept(value, typed)?;
            kind = Some(typed.kind);
            values.push(typed);
        }
        Some((kind?, values))
    }

    /// The stores that a page and those around it have; inner elements hide outer ones.
    pub(super) fn visible_stores(&self, page: usize) -> Vec<StoreName> {
        let mut visible: Vec<StoreName> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for page in self.program.around(page) {
            for (name, item) in &self.names[page] {
                if seen.contains(&&**name) {
                    continue;
                }
                if let Item::Store(store) = item {
                    visible.push(StoreName::of(&self.program, *store));
                }
            }
            seen.extend(self.names[page].keys().map(String::as_str));
        }
        visible
    }

    /// A change of a store: `cache.hits = cache.hits + 1`.
    pub(super) fn change(&mut self, text: &Text, frame: &mut Frame) -> Option<Change> {
        let parsed = parse_assignment(&text.text);
        let (target, value) = parsed
            .map_err(|error| in_text(&mut self.faults, text, error))
            .ok()?;
        let anything = Allowed::TimeAndChance;
        let (target, from, at, mut values) = self.in_frame(text, frame, anything, |scope| {
            let target_of = scope.target(&target)?;
            let typed = scope.compile(&value, target_of.kind)?;
            let from = scope.bind(&value, "", target_of.kind)?;
            let at = scope.bind(&value, "", Kind::Int)?;
            Ok((target_of, from, at, typed.words))
        })?;
        let words = values.len();
        let mut steps = std::mem::take(&mut frame.first);
        steps.extend((from..).zip(values.drain(..)));
        steps.push((at, target.index));
        Some(Change {
            store: target.store,
            array: target.array,
            word: target.word,
            steps,
            from,
            words,
            at,
        })
    }
}

impl StoreName {
    /// The name of a store that nothing uses yet.
    pub fn of(program: &Program, store: usize) -> StoreName {
        let of = &program.stores[store];
        StoreName {
            name: of.name.clone(),
            fields: Rc::from(&of.fields[..]),
            number: None,
            store,
        }
    }
}

impl Store {
    /// The first words of a copy.
    ///
    /// # Errors
    /// An expression has no value.
    pub fn first_words(&self, copy: u32) -> Result<Vec<i64>, String> {
        let mut world = Pure::at(0, copy);
        let mut words = Vec::with_capacity(self.words);
        for (field, values) in self.fields.iter().zip(&self.initial) {
            for element in 0..field.words.length {
                let value = values.get(element).unwrap_or(&values[0]);
                let frame = [element as i64];
                words.extend(value.iter().map(|code| evaluate(code, &frame, &mut world)));
            }
            if let Some(failure) = &world.failure {
                return Err(format!("{}: {failure}", field.name));
            }
        }
        Ok(words)
    }

    /// Fields and their values, in the notation of expressions.
    pub fn show(&self, colours: &Colours, words: &[i64]) -> Vec<(String, String)> {
        let show = |field: &StoreField| {
            let Array {
                first,
                stride,
                length,
            } = field.words;
            let elements = (0..length).map(|element| {
                let first = first + element * stride;
                colours.show(field.kind, &words[first..first + stride])
            });
            let elements: Vec<String> = elements.collect();
            let text = match field.is_array {
                true => format!("[{}]", elements.join(", ")),
                false => elements.join(", "),
            };
            (field.name.clone(), text)
        };
        self.fields.iter().map(show).collect()
    }
}
