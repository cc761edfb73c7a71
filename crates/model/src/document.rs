//! A net as a document: its tables and keys, read from values.

mod monitors;

pub use monitors::MonitorText;

use crate::error::{Fault, did_you_mean};
use crate::source::Value;

/// A text with its place in the document.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text; a number or truth is its text.
    pub text: String,
    /// Its place.
    pub path: Vec<String>,
}

/// A colour's declaration.
#[derive(Clone, Debug)]
pub enum ColourText {
    /// Members of an enumeration.
    Enum(Vec<Text>),
    /// Names of fields, and their colours.
    Record(Vec<(String, Text)>),
}

/// Tokens that are there from the start.
#[derive(Clone, Debug)]
pub struct InitialText {
    /// The place of the entry.
    pub path: Vec<String>,
    /// The token; `()` if it is not given.
    pub token: Option<Text>,
    /// True if the entry is one value and no table; without data it is a number of tokens.
    pub is_bare: bool,
    /// Their number.
    pub count: Option<Text>,
    /// The name of a variable, with its first and last value.
    pub each: Option<(Text, Text, Text)>,
}

/// A place or a station.
#[derive(Clone, Debug)]
pub struct NodeText {
    /// Its name.
    pub name: String,
    /// Its place in the document.
    pub path: Vec<String>,
    /// Its colour.
    pub colour: Option<Text>,
    /// Its first tokens.
    pub initial: Vec<InitialText>,
    /// True for places whose tokens leave in the order of their arrival.
    pub fifo: bool,
    /// True if tokens end here.
    pub sink: bool,
    /// True if tokens may remain here at the end.
    pub rest: bool,
    /// True if tokens are neither lost nor created here.
    pub conserve: bool,
    /// The additional fields of a station.
    pub station: Option<StationText>,
}

/// Queue and servers of a station.
#[derive(Clone, Debug)]
pub struct StationText {
    /// The discipline's name.
    pub discipline: Text,
    /// Servers.
    pub servers: Option<Text>,
    /// Service time.
    pub service: Option<Text>,
    /// Class of a token.
    pub class: Option<Text>,
    /// Tokens that a barrier waits for.
    pub number: Option<Text>,
    /// Work of a token.
    pub work: Option<Text>,
    /// Work a second of links, or of all tokens together by their number.
    pub rates: Vec<Text>,
    /// Links that a token uses.
    pub links: Vec<Text>,
}

/// The common fields of a transition's arcs; all of an input arc.
#[derive(Clone, Debug)]
pub struct ArcText {
    /// Its place in the document.
    pub path: Vec<String>,
    /// The node, or the port of an output.
    pub place: Text,
    /// The token, or its pattern.
    pub token: Option<Text>,
    /// Number of tokens.
    pub count: Option<Text>,
}

/// An output arc.
#[derive(Clone, Debug)]
pub struct PutText {
    /// Target and token.
    pub arc: ArcText,
    /// Condition.
    pub when: Option<Text>,
    /// Delay.
    pub delay: Option<Text>,
    /// Copies of folded pages on the way.
    pub copy: Vec<Text>,
}

/// A figure that a transition records.
#[derive(Clone, Debug)]
pub struct RecordText {
    /// The probe.
    pub probe: Text,
    /// The value.
    pub value: Text,
    /// Condition.
    pub when: Option<Text>,
}

/// A transition.
#[derive(Clone, Debug)]
pub struct TransitionText {
    /// Its name.
    pub name: String,
    /// Its place in the document.
    pub path: Vec<String>,
    /// Higher fires first.
    pub priority: i32,
    /// Weight in a random choice.
    pub weight: Option<Text>,
    /// Inputs.
    pub take: Vec<ArcText>,
    /// Inputs whose tokens stay.
    pub read: Vec<ArcText>,
    /// Tokens that inhibit it.
    pub inhibit: Vec<ArcText>,
    /// Places that it empties.
    pub reset: Vec<ArcText>,
    /// Firings a second, of a timed transition.
    pub rate: Option<Text>,
    /// Or its delay.
    pub delay: Option<Text>,
    /// Firings that it times at once.
    pub servers: Option<Text>,
    /// Conditions that must all hold.
    pub when: Vec<Text>,
    /// Values that are computed once for each firing: `name = expression`.
    pub lets: Vec<Text>,
    /// Changes of stores: `store.field = expression`.
    pub sets: Vec<Text>,
    /// Outputs.
    pub put: Vec<PutText>,
    /// Figures.
    pub record: Vec<RecordText>,
}

/// A store.
#[derive(Clone, Debug)]
pub struct StoreText {
    /// Its name.
    pub name: String,
    /// Its place in the document.
    pub path: Vec<String>,
    /// Fields.
    pub fields: Vec<FieldText>,
}

/// A field of a store.
#[derive(Clone, Debug)]
pub struct FieldText {
    /// Its name.
    pub name: String,
    /// Its place in the document.
    pub path: Vec<String>,
    /// Its colour; by default that of its first value.
    pub colour: Option<Text>,
    /// Its first values: that of each element, or one for all.
    pub values: Vec<Text>,
    /// Number of its elements, if it is an array of equal ones.
    pub length: Option<Text>,
    /// True if it is an array.
    pub is_array: bool,
}

/// A port of a page.
#[derive(Clone, Debug)]
pub struct PortText {
    /// Its name.
    pub name: String,
    /// Its place in the document.
    pub path: Vec<String>,
    /// The node inside of an input; none for outputs.
    pub place: Option<Text>,
}

/// A page.
#[derive(Clone, Debug)]
pub struct PageText {
    /// Its name.
    pub name: String,
    /// Its place in the document.
    pub path: Vec<String>,
    /// Copies, if it is folded.
    pub copies: Option<Text>,
    /// Targets of its output ports, in the page around it.
    pub connect: Vec<(String, Text)>,
    /// Ports.
    pub ports: Vec<PortText>,
    /// Places, then stations.
    pub nodes: Vec<NodeText>,
    /// Stores.
    pub stores: Vec<StoreText>,
    /// Names of tallies.
    pub probes: Vec<Text>,
    /// Transitions.
    pub transitions: Vec<TransitionText>,
    /// Pages within.
    pub pages: Vec<PageText>,
}

/// Settings of a run.
#[derive(Clone, Debug, Default)]
pub struct RunText {
    /// Time of the end.
    pub until: Option<Text>,
    /// Time whose statistics are dropped.
    pub warmup: Option<Text>,
    /// Seed.
    pub seed: Option<u64>,
    /// Runs with seeds of their own.
    pub replications: Option<u32>,
    /// Choice among transitions that may fire: "first" or "random".
    pub choice: Option<Text>,
}

/// A net.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its name.
    pub name: Option<String>,
    /// The modelled system.
    pub description: String,
    /// Colours.
    pub colours: Vec<(String, Vec<String>, ColourText)>,
    /// Named values.
    pub values: Vec<(String, Text)>,
    /// The outermost page.
    pub page: PageText,
    /// Settings of a run.
    pub run: RunText,
    /// Monitors.
    pub monitors: Vec<(String, MonitorText)>,
}

/// Disciplines by their names.
pub const DISCIPLINES: [&str; 9] = [
    "fcfs",
    "infinite",
    "delay",
    "sharing",
    "priority",
    "preemptive",
    "barrier",
    "load_sharing",
    "flows",
];

/// Keys that only nets have.
const NET_KEYS: [&str; 4] = ["places", "stations", "transitions", "pages"];

/// Reads a net.
///
/// # Errors
/// Every key and value that does not belong there.
pub fn read(value: &Value) -> Result<Document, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut root = Table::new(value, Vec::new(), &mut faults);
    let name = root.text("name");
    let description = root.text("description");
    let colours = root.entries("colours", |value, path, faults| {
        read_colour(value, &path, faults).map(|it| (path, it))
    });
    let values = root.entries("values", read_text);
    let page = read_page(&mut root, "", None);
    let run = root.table("run", |table| RunText {
        until: table.expression("until"),
        warmup: table.expression("warmup"),
        seed: table.whole("seed", 0, 1 << 53).map(|it| it as u64),
        replications: table.whole("replications", 1, 100_000).map(|it| it as u32),
        choice: table.text("choice"),
    });
    let monitors = root.entries("monitors", monitors::read);
    root.finish();
    let document = Document {
        name: name.map(|it| it.text),
        description: description.map_or_else(String::new, |it| it.text),
        colours: colours
            .into_iter()
            .map(|(name, (path, colour))| (name, path, colour))
            .collect(),
        values,
        page,
        run: run.unwrap_or_default(),
        monitors,
    };
    match faults.is_empty() {
        true => Ok(document),
        false => Err(faults),
    }
}

type Faults = Vec<Fault>;

/// A table that is read key by key.
struct Table<'v, 'f> {
    entries: &'v [(String, Value)],
    path: Vec<String>,
    faults: &'f mut Faults,
    /// Keys that were asked for.
    known: Vec<&'static str>,
}

fn fault(faults: &mut Faults, path: &[String], message: impl Into<String>) {
    faults.push(Fault {
        path: path.to_vec(),
        column: 0,
        message: message.into(),
    });
}

fn join(path: &[String], key: &str) -> Vec<String> {
    let mut path = path.to_vec();
    path.push(key.to_owned());
    path
}

impl<'v, 'f> Table<'v, 'f> {
    pub(crate) fn new(
        value: &'v Value,
        path: Vec<String>,
        faults: &'f mut Faults,
    ) -> Table<'v, 'f> {
        let entries: &[(String, Value)] = match value {
            Value::Table(entries) => entries,
            other => {
                let message = format!("expected a table, not {}", other.describe());
                fault(faults, &path, message);
                &[]
            }
        };
        Table {
            entries,
            path,
            faults,
            known: Vec::new(),
        }
    }

    fn take(&mut self, key: &'static str) -> Option<(&'v Value, Vec<String>)> {
        self.known.push(key);
        let mut entries = self.entries.iter();
        let (_, value) = entries.find(|(name, _)| name == key)?;
        Some((value, join(&self.path, key)))
    }

    fn text(&mut self, key: &'static str) -> Option<Text> {
        let (value, path) = self.take(key)?;
        match value {
            Value::Text(text) => Some(Text {
                text: text.clone(),
                path,
            }),
            other => {
                let message = format!("expected a text, not {}", other.describe());
                fault(self.faults, &path, message);
                None
            }
        }
    }

    fn expression(&mut self, key: &'static str) -> Option<Text> {
        let (value, path) = self.take(key)?;
        read_text(value, path, self.faults)
    }

    fn needed(&mut self, key: &'static str) -> Text {
        let given = self.expression(key);
        let missing = !self.entries.iter().any(|(name, _)| name == key);
        if missing {
            fault(self.faults, &self.path, format!("{key} is missing"));
        }
        given.unwrap_or(Text {
            text: String::new(),
            path: self.path.clone(),
        })
    }

    fn truth(&mut self, key: &'static str) -> bool {
        let Some((value, path)) = self.take(key) else {
            return false;
        };
        match value {
            Value::Bool(truth) => *truth,
            other => {
                let message = format!("expected true or false, not {}", other.describe());
                fault(self.faults, &path, message);
                false
            }
        }
    }

    fn whole(&mut self, key: &'static str, least: i64, most: i64) -> Option<i64> {
        let (value, path) = self.take(key)?;
        match value {
            Value::Int(number) if (least..=most).contains(number) => Some(*number),
            other => {
                let found = other.describe();
                let message =
                    format!("expected a whole number from {least} to {most}, not {found}");
                fault(self.faults, &path, message);
                None
            }
        }
    }

    /// A list of texts, or one text.
    fn texts(&mut self, key: &'static str) -> Vec<Text> {
        self.list(key, read_text)
    }

    /// The entries of a list; one value that is no list is the only entry.
    fn list<R>(
        &mut self,
        key: &'static str,
        read: impl Fn(&Value, Vec<String>, &mut Faults) -> Option<R>,
    ) -> Vec<R> {
        let Some((value, path)) = self.take(key) else {
            return Vec::new();
        };
        match value {
            Value::List(items) => {
                let items = items.iter().enumerate();
                let items = items.filter_map(|(index, item)| {
                    read(item, join(&path, &index.to_string()), self.faults)
                });
                items.collect()
            }
            other => read(other, path, self.faults).into_iter().collect(),
        }
    }

    /// The entries of a table.
    fn entries<R>(
        &mut self,
        key: &'static str,
        read: impl Fn(&Value, Vec<String>, &mut Faults) -> Option<R>,
    ) -> Vec<(String, R)> {
        let Some((value, path)) = self.take(key) else {
            return Vec::new();
        };
        let inner = Table::new(value, path, self.faults);
        let mut all = Vec::new();
        for (name, value) in inner.entries {
            let path = join(&inner.path, name);
            if name.is_empty() {
                fault(inner.faults, &path, "expected a name");
            }
            if let Some(read) = read(value, path, inner.faults) {
                all.push((name.clone(), read));
            }
        }
        all
    }

    fn table<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Table<'_, '_>) -> R,
    ) -> Option<R> {
        let (value, path) = self.take(key)?;
        let mut table = Table::new(value, path, self.faults);
        let read = read(&mut table);
        table.finish();
        Some(read)
    }

    /// Reports keys that nothing asked for.
    fn finish(self) {
        for (name, _) in self.entries {
            if !self.known.contains(&name.as_str()) {
                let near = did_you_mean(name, self.known.iter().copied());
                let known = self.known.join(", ");
                let near = match near.is_empty() {
                    true => format!("; expected one of {known}"),
                    false => near,
                };
                let path = join(&self.path, name);
                fault(
                    self.faults,
                    &path,
                    format!("{name:?} has no meaning here{near}"),
                );
            }
        }
    }
}

fn read_text(value: &Value, path: Vec<String>, faults: &mut Faults) -> Option<Text> {
    let text = match value {
        Value::Text(text) => text.clone(),
        Value::Int(_) | Value::Bool(_) => value.describe(),
        // The shortest text that is the same number, in the notation of expressions.
        Value::Real(number) if number.is_finite() => format!("{number:?}"),
        other => {
            let found = other.describe();
            fault(
                faults,
                &path,
                format!("expected an expression, not {found}"),
            );
            return None;
        }
    };
    Some(Text { text, path })
}

fn read_colour(value: &Value, path: &[String], faults: &mut Faults) -> Option<ColourText> {
    match value {
        Value::List(items) => {
            let items = items.iter().enumerate();
            let members = items.filter_map(|(index, item)| {
                read_text(item, join(path, &index.to_string()), faults)
            });
            Some(ColourText::Enum(members.collect()))
        }
        Value::Table(entries) => {
            let fields = entries.iter().filter_map(|(name, colour)| {
                let text = read_text(colour, join(path, name), faults)?;
                Some((name.clone(), text))
            });
            Some(ColourText::Record(fields.collect()))
        }
        other => {
            let message = format!(
                "expected a list of names (an enumeration) or a table of fields (a record), \
                 not {}",
                other.describe()
            );
            fault(faults, path, message);
            None
        }
    }
}

fn read_page(table: &mut Table<'_, '_>, name: &str, copies: Option<Text>) -> PageText {
    let path = table.path.clone();
    let mut nodes: Vec<NodeText> = Vec::new();
    for (key, station) in [("places", false), ("stations", true)] {
        let read = table.entries(key, |value, path, faults| {
            Some(read_node(value, path, faults, station))
        });
        nodes.extend(
            read.into_iter()
                .map(|(name, node)| NodeText { name, ..node }),
        );
    }
    // The outline is for drawings only.
    table.take("outline");
    let stores = table.entries("stores", |value, path, faults| {
        Some(read_store(value, path, faults))
    });
    let transitions = table.entries("transitions", |value, path, faults| {
        Some(read_transition(value, path, faults))
    });
    let ports = table.entries("ports", |value, path, faults| {
        let mut port = Table::new(value, path.clone(), faults);
        let place = port.text("place");
        let direction = port.text("direction");
        let wrong = match direction.as_ref().map(|it| &*it.text) {
            Some("in") => place.is_none(),
            Some("out") => place.is_some(),
            _ => true,
        };
        port.finish();
        if wrong {
            let message = "expected direction = \"in\" and the place that it leads to, or \
                           direction = \"out\" and no place";
            fault(faults, &path, message);
        }
        let name = path.last().cloned().unwrap_or_default();
        Some(PortText { name, path, place })
    });
    let pages = table.entries("pages", |value, path, faults| {
        let name = path.last().cloned().unwrap_or_default();
        let mut page = Table::new(value, path, faults);
        let copies = page.expression("copies");
        let connect = page.entries("connect", read_text);
        let inner = read_page(&mut page, &name, copies);
        page.finish();
        Some(PageText { connect, ..inner })
    });
    PageText {
        name: name.to_owned(),
        path,
        copies,
        connect: Vec::new(),
        ports: ports.into_iter().map(|(_, port)| port).collect(),
        nodes,
        stores: stores.into_iter().map(|(_, store)| store).collect(),
        probes: table.texts("probes"),
        transitions: transitions
            .into_iter()
            .map(|(name, it)| TransitionText { name, ..it })
            .collect(),
        pages: pages.into_iter().map(|(_, page)| page).collect(),
    }
}

fn read_node(value: &Value, path: Vec<String>, faults: &mut Faults, station: bool) -> NodeText {
    let mut table = Table::new(value, path.clone(), faults);
    let colour = table.text("colour");
    let initial = table.list("initial", read_initial);
    table.text("description");
    table.take("outline");
    let (sink, rest, conserve) = (
        table.truth("sink"),
        table.truth("rest"),
        table.truth("conserve"),
    );
    let mut fifo = station;
    let station = if station {
        let discipline = table.text("discipline").unwrap_or(Text {
            text: "fcfs".to_owned(),
            path: path.clone(),
        });
        Some(StationText {
            discipline,
            servers: table.expression("servers"),
            service: table.expression("service"),
            class: table.expression("class"),
            number: table.expression("number"),
            work: table.expression("work"),
            rates: table.texts("rates"),
            links: table.texts("links"),
        })
    } else {
        if let Some(order) = table.text("order") {
            fifo = order.text == "fifo";
            if !fifo && order.text != "any" {
                let message = format!("expected \"any\" or \"fifo\", not {:?}", order.text);
                fault(table.faults, &order.path, message);
            }
        }
        None
    };
    table.finish();
    NodeText {
        name: String::new(),
        path,
        colour,
        initial,
        fifo,
        sink,
        rest,
        conserve,
        station,
    }
}

fn read_store(value: &Value, path: Vec<String>, faults: &mut Faults) -> StoreText {
    let table = Table::new(value, path.clone(), faults);
    let mut fields = Vec::new();
    for (name, value) in table.entries {
        fields.extend(read_field(name, value, join(&path, name), table.faults));
    }
    StoreText {
        name: path.last().cloned().unwrap_or_default(),
        path,
        fields,
    }
}

fn read_field(
    name: &str,
    value: &Value,
    path: Vec<String>,
    faults: &mut Faults,
) -> Option<FieldText> {
    let mut field = FieldText {
        name: name.to_owned(),
        path: path.clone(),
        colour: None,
        values: Vec::new(),
        length: None,
        is_array: false,
    };
    match value {
        Value::List(items) => {
            let items = items.iter().enumerate();
            let values = items.filter_map(|(index, item)| {
                read_text(item, join(&path, &index.to_string()), faults)
            });
            field.values = values.collect();
            field.is_array = true;
        }
        Value::Table(_) => {
            let mut table = Table::new(value, path.clone(), faults);
            field.colour = table.text("colour");
            field.length = table.expression("length");
            field.is_array = field.length.is_some();
            field.values = vec![table.needed("initial")];
            table.finish();
        }
        other => field.values = vec![read_text(other, path, faults)?],
    }
    Some(field)
}

fn read_initial(value: &Value, path: Vec<String>, faults: &mut Faults) -> Option<InitialText> {
    if !matches!(value, Value::Table(_)) {
        let text = read_text(value, path.clone(), faults)?;
        return Some(InitialText {
            path,
            token: Some(text),
            is_bare: true,
            count: None,
            each: None,
        });
    }
    let mut table = Table::new(value, path.clone(), faults);
    let token = table.expression("token");
    let count = table.expression("count");
    let each = table.text("each");
    let range = (table.expression("from"), table.expression("to"));
    table.finish();
    let each = match (each, range) {
        (None, (None, None)) => None,
        (Some(each), (Some(from), Some(to))) => Some((each, from, to)),
        _ => {
            fault(faults, &path, "expected each, from and to together");
            None
        }
    };
    Some(InitialText {
        path,
        token,
        is_bare: false,
        count,
        each,
    })
}

/// Reads an arc: the name of its node alone, or a table with more keys that `more` reads.
fn read_arc<R>(
    value: &Value,
    path: Vec<String>,
    faults: &mut Faults,
    more: impl FnOnce(&mut Table<'_, '_>) -> R,
) -> (ArcText, Option<R>) {
    if let Value::Text(text) = value {
        let place = Text {
            text: text.clone(),
            path: path.clone(),
        };
        let arc = ArcText {
            path,
            place,
            token: None,
            count: None,
        };
        return (arc, None);
    }
    let mut table = Table::new(value, path.clone(), faults);
    let arc = ArcText {
        path,
        place: table.needed("place"),
        token: table.expression("token"),
        count: table.expression("count"),
    };
    let more = more(&mut table);
    table.finish();
    (arc, Some(more))
}

fn read_transition(value: &Value, path: Vec<String>, faults: &mut Faults) -> TransitionText {
    let mut table = Table::new(value, path.clone(), faults);
    let weight = table.expression("weight");
    let priority = table.whole("priority", i64::from(i32::MIN), i64::from(i32::MAX));
    table.text("description");
    table.take("outline");
    let [take, read, inhibit, reset] = ["take", "read", "inhibit", "reset"].map(|key| {
        table.list(key, |value, path, faults| {
            Some(read_arc(value, path, faults, |_| ()).0)
        })
    });
    let [rate, delay, servers] = ["rate", "delay", "servers"].map(|key| table.expression(key));
    let when = table.texts("when");
    let lets = table.texts("let");
    let sets = table.texts("set");
    let put = table.list("put", |value, path, faults| {
        let (arc, more) = read_arc(value, path, faults, |arc| {
            let (when, delay) = (arc.expression("when"), arc.expression("delay"));
            (when, delay, arc.texts("copy"))
        });
        let (when, delay, copy) = more.unwrap_or_default();
        Some(PutText {
            arc,
            when,
            delay,
            copy,
        })
    });
    let record = table.list("record", |value, path, faults| {
        let mut entry = Table::new(value, path, faults);
        let read = RecordText {
            probe: entry.needed("probe"),
            value: entry.needed("value"),
            when: entry.expression("when"),
        };
        entry.finish();
        Some(read)
    });
    table.finish();
    TransitionText {
        name: String::new(),
        path,
        priority: priority.unwrap_or(0) as i32,
        weight,
        take,
        read,
        inhibit,
        reset,
        rate,
        delay,
        servers,
        when,
        lets,
        sets,
        put,
        record,
    }
}

/// Returns true if a document has a key that only nets have.
pub fn is_net(value: &Value) -> bool {
    NET_KEYS.iter().any(|key| value.get(key).is_some())
}
