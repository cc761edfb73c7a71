//! `python = "module:Class"` or `"file.py:Class"`: a scheduler of one's own.

use std::fmt;
use std::path::PathBuf;

use indexmap::IndexMap;
use serde_json::json;

use crate::declare::{Leaf, Nature, quoted, section};
use crate::names::is_python_name;
use crate::tree::{Node, Raw, Table};
use crate::values::FilePath;

section! {
    /// A scheduler of one's own: a subclass of `headrace.Scheduler` in Python
    /// (docs/how-to/own-code.md).
    pub struct PythonScheduler {
        /// The module or the file, and the class. With this field, `kind` need not be given.
        python: PythonClass = required("my_scheduler:MyScheduler") aka ["class"],
        /// Folder of the file, relative to the scenario file's folder. A module is searched for
        /// there first, then in Python's own path.
        folder: PathBuf as FilePath = default(".", "a class stands beside the scenario that uses it") aka ["path"],
        /// Keyword arguments of the class's `__init__`.
        options: ClassOptions = default(Table::default(), "the class's own defaults") aka ["arguments", "parameters"],
    }
}

/// A class of a Python module or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonClass {
    /// The module's name, with dots; or a file, which ends in `.py`, relative to the field `folder`.
    pub module: String,
    /// The class's name.
    pub class: String,
}

impl fmt::Display for PythonClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.module, self.class)
    }
}

impl serde::Serialize for PythonClass {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Leaf for PythonClass {
    type Value = PythonClass;

    const NATURE: Nature = Nature::Text;

    fn expected() -> String {
        r#"a class of a module or file such as "mine:MyClass" or "mine.py:MyClass""#.to_owned()
    }

    fn schema() -> serde_json::Value {
        let pattern = r"^([^\W\d]\w*(\.[^\W\d]\w*)*|.+\.py):[^\W\d]\w*$";
        json!({ "type": "string", "pattern": pattern })
    }

    fn parse(node: &Node) -> Result<PythonClass, String> {
        let Raw::Text(text) = &node.raw else {
            return Err(String::new());
        };
        match text.rsplit_once(':') {
            Some((module, class))
                if (module.ends_with(".py") || module.split('.').all(is_python_name))
                    && is_python_name(class) =>
            {
                Ok(PythonClass {
                    module: module.to_owned(),
                    class: class.to_owned(),
                })
            }
            _ => Err(String::new()),
        }
    }

    fn format(value: &PythonClass) -> Raw {
        Raw::Text(value.to_string())
    }
}

/// The keyword arguments of a class, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct ClassOptions(pub IndexMap<String, ClassOption>);

/// A keyword argument of a class.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum ClassOption {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<ClassOption>),
    /// A table.
    Table(IndexMap<String, ClassOption>),
}

impl ClassOption {
    fn parse(node: &Node) -> ClassOption {
        match &node.raw {
            Raw::Boolean(truth) => ClassOption::Boolean(*truth),
            Raw::Integer(number) => ClassOption::Integer(*number),
            Raw::Float(number) => ClassOption::Number(*number),
            Raw::Text(text) | Raw::Date(text) => ClassOption::Text(text.clone()),
            Raw::List(list) => ClassOption::List(list.iter().map(ClassOption::parse).collect()),
            Raw::Table(table) => ClassOption::Table(parse(table)),
        }
    }

    fn format(&self) -> Raw {
        match self {
            ClassOption::Boolean(truth) => Raw::Boolean(*truth),
            ClassOption::Integer(number) => Raw::Integer(*number),
            ClassOption::Number(number) => Raw::Float(*number),
            ClassOption::Text(text) => Raw::Text(text.clone()),
            ClassOption::List(list) => {
                Raw::List(list.iter().map(|it| Node::plain(it.format())).collect())
            }
            ClassOption::Table(table) => format(table),
        }
    }
}

fn parse(table: &Table) -> IndexMap<String, ClassOption> {
    let entries = table.entries.iter();
    entries
        .map(|entry| (entry.key.clone(), ClassOption::parse(&entry.node)))
        .collect()
}

fn format(options: &IndexMap<String, ClassOption>) -> Raw {
    let mut table = Table::default();
    for (name, value) in options {
        table.push(name, Node::plain(value.format()));
    }
    table.into()
}

impl Leaf for ClassOptions {
    type Value = ClassOptions;

    const NATURE: Nature = Nature::Keys;

    fn expected() -> String {
        "a table of the class's options such as { depth = 4 }".to_owned()
    }

    fn schema() -> serde_json::Value {
        json!({ "type": "object" })
    }

    fn parse(node: &Node) -> Result<ClassOptions, String> {
        let Raw::Table(table) = &node.raw else {
            return Err(String::new());
        };
        match table
            .entries
            .iter()
            .find(|entry| !is_python_name(&entry.key))
        {
            Some(entry) => Err(format!("{} is no name in Python", quoted(&entry.key))),
            None => Ok(ClassOptions(parse(table))),
        }
    }

    fn format(value: &ClassOptions) -> Raw {
        format(&value.0)
    }
}
