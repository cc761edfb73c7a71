//! Stores in expressions: their fields, and elements of arrays there.

use std::rc::Rc;

use super::check::{Checked, Scope, Typed, error};
use super::code::{Array, Code, Element};
use super::syntax::{Expression, Syntax};
use crate::colour::Kind;
use crate::error::did_you_mean;

/// A store that an expression may read.
#[derive(Clone, Debug)]
pub struct StoreName {
    /// Its name.
    pub name: String,
    /// Its fields.
    pub fields: Rc<[StoreField]>,
    /// Its number in the transition, once it is used.
    pub number: Option<usize>,
    /// Its number in the program.
    pub store: usize,
}

/// The stores that are used, in the order of their numbers.
pub fn used_stores(names: &[StoreName]) -> Vec<usize> {
    let used = names.iter();
    let mut used: Vec<(usize, usize)> =
        used.filter_map(|it| Some((it.number?, it.store))).collect();
    used.sort_unstable();
    used.into_iter().map(|(_, store)| store).collect()
}

/// A field of a store.
#[derive(Clone, PartialEq, Debug)]
pub struct StoreField {
    /// Its name.
    pub name: String,
    /// The type of it, or of its elements.
    pub kind: Kind,
    /// Its words; one element unless it is an array.
    pub words: Array,
    /// True if it has elements.
    pub is_array: bool,
}

/// The target of an assignment: words of a store.
#[derive(Debug)]
pub struct Target {
    /// The store's number in the transition.
    pub store: usize,
    /// The array, or a field as an array of one element.
    pub array: Array,
    /// The element.
    pub index: Code,
    /// The first word of what changes within the element.
    pub word: usize,
    /// Its type.
    pub kind: Kind,
}

impl Scope<'_> {
    /// The store that a name stands for.
    pub(super) fn store(&self, name: &Expression) -> Option<usize> {
        match &name.node {
            Syntax::Name(name) if self.variable(name).is_none() => {
                self.stores.iter().position(|it| it.name == *name)
            }
            _ => None,
        }
    }

    /// A field of a store, or an element of an array there, as a value.
    pub(super) fn read(&mut self, at: &Expression) -> Checked<Typed> {
        let target = self.target(at)?;
        let words = target.word..target.word + self.colours.words(target.kind);
        let constant = match target.index {
            Code::Constant(index) => target.array.at(index),
            _ => None,
        };
        let word = |word| match constant {
            Some(first) => Code::Stored(target.store as u32, (first + word) as u32),
            None => Code::StoredAt(Box::new(Element {
                store: target.store,
                array: target.array,
                word,
                index: target.index.clone(),
            })),
        };
        Ok(Typed {
            kind: target.kind,
            words: words.map(word).collect(),
        })
    }

    /// Words of a store: `cache.hits`, `cache.tags[3]`, and fields of records there.
    ///
    /// # Errors
    /// It is no part of a store.
    pub fn target(&mut self, at: &Expression) -> Checked<Target> {
        match &at.node {
            Syntax::Field(of, field) => {
                if let Some(store) = self.store(of) {
                    let target = self.store_field(at, store, field)?;
                    if target.index != Code::Constant(0) {
                        let of = &self.stores[store].name;
                        return error(
                            at,
                            format!("{of}.{field} is an array: write an element, {of}.{field}[0]"),
                        );
                    }
                    return Ok(target);
                }
                let mut target = self.target(of)?;
                let (kind, word, _) = self.place(at, target.kind, field)?;
                target.word += word;
                target.kind = kind;
                Ok(target)
            }
            Syntax::Element(parts) => {
                let [of, index] = &**parts;
                let Syntax::Field(store, field) = &of.node else {
                    return error(at, "only arrays in stores have elements");
                };
                let Some(store) = self.store(store) else {
                    return error(at, "only arrays in stores have elements");
                };
                let mut target = self.store_field(at, store, field)?;
                let of = &self.stores[store];
                let is_array = of.fields.iter().any(|it| it.name == *field && it.is_array);
                if !is_array {
                    return error(at, format!("{}.{field} is no array", of.name));
                }
                target.index = self.compile(index, Kind::Int)?.words.remove(0);
                if let Code::Constant(value) = target.index
                    && target.array.at(value).is_none()
                {
                    let length = target.array.length;
                    return error(index, format!("expected an index from 0 to {}", length - 1));
                }
                Ok(target)
            }
            _ => error(
                at,
                "expected a field of a store such as cache.hits, or an element such as \
                 cache.tags[0]",
            ),
        }
    }

    fn store_field(&mut self, at: &Expression, store: usize, field: &str) -> Checked<Target> {
        let used = self.stores.iter().filter(|it| it.number.is_some()).count();
        let of = &mut self.stores[store];
        let Some(found) = of.fields.iter().find(|it| it.name == field) else {
            let near = did_you_mean(field, of.fields.iter().map(|it| &*it.name));
            return error(
                at,
                format!("the store {} has no field {field}{near}", of.name),
            );
        };
        let (array, kind, is_array) = (found.words, found.kind, found.is_array);
        Ok(Target {
            store: *of.number.get_or_insert(used),
            array,
            // An array needs another index.
            index: Code::Constant(if is_array { -1 } else { 0 }),
            word: 0,
            kind,
        })
    }
}
