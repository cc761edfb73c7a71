//! The scenario as a JSON Schema, for editors.

use serde_json::{Map, Value, json};

use crate::declare::{Field, Nature, Presence, Section, Shape};
use crate::load::DECLARED;
use crate::tree::{Node, Raw, join};
use crate::{links, models, presets, workloads};

/// The JSON Schema (2020-12) of a scenario file.
///
/// A file that fits may still be refused: conditions between fields cannot all
/// be said in a schema. Fields that a preset or a model can give are not
/// required.
#[must_use]
pub fn schema() -> Value {
    let presets: Vec<Node> = presets::all()
        .into_iter()
        .filter_map(presets::read)
        .filter_map(Result::ok)
        .collect();
    titled(section(&DECLARED, "", &presets), "Headrace scenario")
}

/// The JSON Schema of a document without presets.
pub(crate) fn of_document(declared: &Section, title: &str) -> Value {
    titled(section(declared, "", &[]), title)
}

fn titled(mut schema: Value, title: &str) -> Value {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert(
            "$schema".to_owned(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        schema.insert("title".to_owned(), json!(title));
    }
    schema
}

fn section(section: &Section, path: &str, presets: &[Node]) -> Value {
    match section.kinds() {
        None => object(section, None, path, presets),
        Some(kinds) => {
            let each = kinds.kinds.iter().map(|(kind, of_kind)| {
                // A preset of another kind does not describe this one.
                let of_kind_or_none: Vec<Node> = presets
                    .iter()
                    .filter(|preset| kind_in(preset, path).unwrap_or(kinds.default) == *kind)
                    .cloned()
                    .collect();
                let mut schema = object(section, Some(kind), path, &of_kind_or_none);
                schema["title"] = json!(format!("kind = {kind:?}"));
                schema["description"] = json!(of_kind.doc);
                schema["properties"]["kind"] = json!({ "const": kind });
                let given = presets
                    .iter()
                    .any(|preset| kind_in(preset, path) == Some(*kind));
                if *kind != kinds.default
                    && !given
                    && let Some(required) = schema["required"].as_array_mut()
                    // A section of its name says it too.
                    && !required.contains(&json!(kind))
                {
                    required.push(json!("kind"));
                }
                or_a_preset(&mut schema, section);
                schema
            });
            let each: Vec<Value> = each.collect();
            // A table can be of either kind if a preset gives another kind than the default, and no
            // field has to name it.
            let told_apart = (1..each.len()).all(|at| {
                let mut before = each[..at].iter();
                before.all(|other| other["required"] != each[at]["required"])
            });
            let word = if told_apart { "oneOf" } else { "anyOf" };
            json!({ "description": section.doc, word: each })
        }
    }
}

/// Lets a preset stand for what a workload must have: it gives all of it, the kind
/// too.
fn or_a_preset(schema: &mut Value, section: &Section) {
    let preset = section.fields.iter();
    let preset = preset.filter(|field| is_workload_preset(&field.shape));
    for field in preset {
        let required = std::mem::replace(&mut schema["required"], json!([]));
        schema["anyOf"] = json!([{ "required": required }, { "required": [field.name] }]);
    }
}

fn is_workload_preset(shape: &Shape) -> bool {
    matches!(
        shape,
        Shape::Leaf {
            nature: Nature::WorkloadPreset,
            ..
        }
    )
}

fn object(section: &Section, kind: Option<&str>, path: &str, presets: &[Node]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let fields = section.fields(kind);
    let has_model = fields.iter().any(|field| models::is_model(&field.shape));
    let has_link = fields.iter().any(|field| models::is_link(&field.shape));
    let given = |field: &Field| has_model || (has_link && links::GIVES.contains(&field.name));
    for field in fields {
        let path = join(path, field.name);
        if !given(field) && is_required(field, &path, presets) {
            required.push(json!(field.name));
        }
        let mut schema = property(field, &path, presets);
        if is_workload_preset(&field.shape) && kind.is_some() {
            schema["enum"] = json!(workloads::names(kind));
        }
        properties.insert(field.name.to_owned(), schema);
    }
    json!({
        "type": "object",
        "description": section.doc,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(field: &Field, path: &str, presets: &[Node]) -> Value {
    let mut schema = match &field.shape {
        Shape::Leaf { schema, .. } => schema.clone(),
        Shape::Section(inner) if inner.is_only_kinds() => {
            let names = by_name(inner, path, presets);
            json!({ "anyOf": [{ "enum": names }, section(inner, path, presets)] })
        }
        Shape::Section(inner) if inner.several => {
            let one = section(inner, path, presets);
            let list = json!({ "type": "array", "minItems": 1, "items": one });
            json!({ "anyOf": [one, list] })
        }
        Shape::Section(inner) => section(inner, path, presets),
        Shape::Tables(inner) => {
            let least = u32::from(!matches!(field.presence, Presence::Optional { .. }));
            json!({ "type": "array", "minItems": least, "items": section(inner, path, presets) })
        }
        Shape::Kinds(_) => json!({}),
    };
    let mut description = field.doc.clone();
    match &field.presence {
        Presence::Default { value, source } => {
            schema["default"] = to_json(value);
            description = format!("{description} Default: {value} ({source}).");
        }
        Presence::Optional { without, example } => {
            description = format!("{description} Without it: {without}.");
            if let Some(example) = example {
                schema["examples"] = json!([to_json(example)]);
            }
        }
        Presence::Same { field } => {
            description = format!("{description} Default: the value of {field}.");
        }
        Presence::Supplied { from } => description = format!("{description} Default: {from}."),
        Presence::Required { example } => schema["examples"] = json!([to_json(example)]),
        Presence::Over { .. } => nothing_is_required(&mut schema),
        Presence::Section | Presence::Kinds => {}
    }
    schema["description"] = json!(description);
    schema
}

/// A table may leave any field to another table, its kind included, and so may its sections.
fn nothing_is_required(schema: &mut Value) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let sections = properties.values_mut();
        let sections =
            sections.filter(|it| it.get("required").is_some() || it.get("oneOf").is_some());
        sections.for_each(nothing_is_required);
    }
    // Without required fields, a table may be of several kinds.
    if let Some(each) = schema.as_object_mut().and_then(|it| it.remove("oneOf")) {
        schema["anyOf"] = each;
    }
    match schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        Some(each) => each.iter_mut().for_each(nothing_is_required),
        None => schema["required"] = json!([]),
    }
}

/// The kinds that need nothing said but their name.
fn by_name<'a>(section: &'a Section, path: &str, presets: &[Node]) -> Vec<&'a str> {
    let kinds = section.kinds().into_iter().flat_map(|kinds| &kinds.kinds);
    let complete = |fields: &[Field]| {
        !fields
            .iter()
            .any(|field| is_required(field, &join(path, field.name), presets))
    };
    kinds
        .filter(|(_, section)| complete(&section.fields))
        .map(|(name, _)| *name)
        .collect()
}

/// Returns true if a file without the field is refused under every preset.
fn is_required(field: &Field, path: &str, presets: &[Node]) -> bool {
    match presets {
        [] => is_required_under(field, path, None),
        some => (some.iter()).all(|preset| is_required_under(field, path, Some(preset))),
    }
}

fn is_required_under(field: &Field, path: &str, preset: Option<&Node>) -> bool {
    let given = preset.is_some_and(|preset| preset.find(path).is_some());
    match (&field.presence, &field.shape) {
        (Presence::Required { .. }, _) => !given,
        (Presence::Section, Shape::Section(inner)) => {
            let kind = inner.kinds().map(|kinds| {
                let given = preset.and_then(|preset| kind_in(preset, path));
                given.unwrap_or(kinds.default)
            });
            let fields = inner.fields(kind);
            // A model gives the rest.
            let model = fields.iter().find(|field| models::is_model(&field.shape));
            if let (Some(model), Some(preset)) = (model, preset)
                && preset.find(&join(path, model.name)).is_some()
            {
                return false;
            }
            fields
                .iter()
                .any(|field| is_required_under(field, &join(path, field.name), preset))
        }
        _ => false,
    }
}

/// The kind that a preset gives the section at `path`.
fn kind_in<'a>(preset: &'a Node, path: &str) -> Option<&'a str> {
    match &preset.find(&join(path, "kind"))?.raw {
        Raw::Text(kind) => Some(kind),
        _ => None,
    }
}

fn to_json(raw: &Raw) -> Value {
    match raw {
        Raw::Text(text) | Raw::Date(text) => json!(text),
        Raw::Integer(number) => json!(number),
        Raw::Float(number) => json!(number),
        Raw::Boolean(truth) => json!(truth),
        Raw::List(list) => list.iter().map(|node| to_json(&node.raw)).collect(),
        Raw::Table(table) => {
            let entries = table.entries.iter();
            Value::Object(
                entries
                    .map(|entry| (entry.key.clone(), to_json(&entry.node.raw)))
                    .collect(),
            )
        }
    }
}
