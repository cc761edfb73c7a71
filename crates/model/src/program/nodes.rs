//! Places and stations of a document, and their first tokens.

use super::compiler::{Compiler, fault};
use super::{Initial, Node, NodeKind, Station};
use crate::colour::Kind;
use crate::document::{DISCIPLINES, InitialText, NodeText, StationText, Text};
use crate::error::did_you_mean;
use crate::expression::{Allowed, Code, Typed};

/// Links of a token.
const MOST_LINKS: usize = 8;

impl Compiler {
    pub(super) fn node(&mut self, page: usize, text: &NodeText) -> Node {
        let colour = text.colour.as_ref().map(|colour| self.colour(colour));
        let colour = colour.unwrap_or(Kind::Unit);
        let kind = match &text.station {
            None => NodeKind::Place(text.fifo),
            Some(station) => {
                let station = self.station(station, colour, &text.path);
                NodeKind::Station(station.unwrap_or(Station::Barrier(1)))
            }
        };
        let initial = text.initial.iter();
        let initial = initial.filter_map(|initial| self.initial(initial, colour));
        Node {
            page,
            name: text.name.clone(),
            colour,
            kind,
            initial: initial.collect(),
            sink: text.sink,
            rest: text.rest,
            conserve: text.conserve,
            place: text.path.clone(),
        }
    }

    fn initial(&mut self, text: &InitialText, colour: Kind) -> Option<Initial> {
        let each = text.each.as_ref();
        let range = match each {
            None => None,
            Some((name, from, to)) => {
                self.check_name(&name.path, &name.text);
                let mut bounds = Vec::new();
                for bound in [from, to] {
                    let expression = self.parse(bound)?;
                    let typed = self.scope(Allowed::Nothing).compile(&expression, Kind::Int);
                    bounds.push(self.accept(bound, typed)?.words.remove(0));
                }
                let last = bounds.pop()?;
                Some((bounds.pop()?, last))
            }
        };
        // A number of tokens without data.
        let bare = text
            .token
            .as_ref()
            .filter(|_| text.is_bare && colour == Kind::Unit);
        let bare = bare.filter(|token| token.text.trim() != "()");
        let (token, count) = match bare {
            Some(number) => (None, Some(number)),
            None => (text.token.as_ref(), text.count.as_ref()),
        };
        let typed = |this: &mut Compiler, text: Option<&Text>, kind: Kind| -> Option<Typed> {
            let Some(text) = text else {
                return Some(match kind {
                    Kind::Int => Typed {
                        kind,
                        words: vec![Code::Constant(1)],
                    },
                    _ => Typed {
                        kind: Kind::Unit,
                        words: Vec::new(),
                    },
                });
            };
            let expression = this.parse(text)?;
            let mut scope = this.scope(Allowed::Nothing);
            if let Some((name, _, _)) = each {
                let bound = scope.bind(&expression, &name.text, Kind::Int);
                bound.ok()?;
            }
            let typed = scope.compile(&expression, kind);
            this.accept(text, typed)
        };
        let number = typed(self, count, Kind::Int)?.words.remove(0);
        if let (Code::Constant(..0), Some(count)) = (&number, count) {
            let message = format!("{}: expected a number of tokens of 0 or more", count.text);
            fault(&mut self.faults, &count.path, message);
        }
        let token = match (token, colour) {
            (None, Kind::Unit) | (Some(_), _) => typed(self, token, colour)?,
            (None, _) => {
                let colour = self.program.colours.name(colour).to_owned();
                fault(
                    &mut self.faults,
                    &text.path,
                    format!("token is missing: a {colour}"),
                );
                return None;
            }
        };
        Some(Initial {
            words: token.words,
            count: number,
            each: range,
        })
    }

    fn station(&mut self, text: &StationText, colour: Kind, path: &[String]) -> Option<Station> {
        let name = &*text.discipline.text;
        let servers = text.servers.as_ref();
        let servers = servers.and_then(|it| self.whole(it, 1, i64::from(u32::MAX)));
        let servers = servers.unwrap_or(1) as u32;
        let takes: &[&str] = match name {
            "fcfs" | "sharing" => &["servers", "service"],
            "infinite" | "delay" => &["service"],
            "priority" | "preemptive" => &["servers", "service", "class"],
            "barrier" => &["number"],
            "load_sharing" => &["work", "rates"],
            "flows" => &["work", "rates", "links"],
            _ => {
                let known = DISCIPLINES.join(", ");
                let near = did_you_mean(name, DISCIPLINES);
                let message =
                    format!("no discipline is called {name:?}: expected one of {known}{near}");
                fault(&mut self.faults, &text.discipline.path, message);
                return None;
            }
        };
        let given = [
            ("servers", text.servers.as_ref()),
            ("service", text.service.as_ref()),
            ("class", text.class.as_ref()),
            ("number", text.number.as_ref()),
            ("work", text.work.as_ref()),
            ("rates", text.rates.first()),
            ("links", text.links.first()),
        ];
        for (key, given) in given {
            let takes = takes.contains(&key);
            match given {
                Some(given) if !takes => {
                    let message = format!("a station with discipline {name} has no {key}");
                    fault(&mut self.faults, &given.path, message);
                }
                None if takes && key != "servers" => {
                    let message = format!("a station with discipline {name} needs {key}");
                    fault(&mut self.faults, path, message);
                    return None;
                }
                _ => {}
            }
        }
        if let "load_sharing" | "flows" = name {
            return self.shared(text, colour);
        }
        if name == "barrier" {
            let number = self.whole(text.number.as_ref()?, 1, i64::from(u32::MAX))?;
            return Some(Station::Barrier(number as u32));
        }
        let service = self.of_token(text.service.as_ref()?, colour, Kind::Time, Allowed::Chance)?;
        Some(match name {
            "fcfs" => Station::Fcfs(servers, service),
            "infinite" => Station::Infinite(service),
            "delay" => {
                if !matches!(service, Code::Constant(_)) {
                    let message = "a delay is the same for all tokens: expected a time such as \
                                   5 ms; for others use the discipline infinite";
                    let path = text.service.as_ref()?.path.clone();
                    fault(&mut self.faults, &path, message);
                }
                Station::Delay(service)
            }
            "sharing" => Station::Sharing(servers, service),
            _ => {
                let class = text.class.as_ref()?;
                let class = self.of_token(class, colour, Kind::Int, Allowed::Nothing)?;
                Station::Priority(name == "preemptive", servers, service, class)
            }
        })
    }

    /// A station whose tokens share rates.
    fn shared(&mut self, text: &StationText, colour: Kind) -> Option<Station> {
        let rates = text.rates.iter();
        let rates: Option<Vec<f64>> = rates.map(|it| self.real(it, f64::MIN_POSITIVE)).collect();
        let flows = text.discipline.text == "flows";
        let allowed = match flows {
            true => Allowed::Nothing,
            false => Allowed::Chance,
        };
        let work = text.work.as_ref()?;
        let code = self.of_token(work, colour, Kind::Real, allowed)?;
        let negative = |word: i64| f64::from_bits(word as u64) < 0.0;
        if matches!(code, Code::Constant(word) if negative(word)) {
            fault(
                &mut self.faults,
                &work.path,
                "expected a number of 0 or more",
            );
        }
        if !flows {
            return Some(Station::LoadSharing(rates?, code));
        }
        if text.links.len() > MOST_LINKS {
            let message = format!("expected at most {MOST_LINKS} links in a path");
            fault(&mut self.faults, &text.links[MOST_LINKS].path, message);
            return None;
        }
        let links = text.links.iter();
        let links: Option<Vec<Code>> = links
            .map(|link| self.of_token(link, colour, Kind::Int, Allowed::Nothing))
            .collect();
        Some(Station::Flows(rates?, links?, code))
    }

    /// An expression over the variable `token`.
    fn of_token(
        &mut self,
        text: &Text,
        colour: Kind,
        kind: Kind,
        allowed: Allowed,
    ) -> Option<Code> {
        let expression = self.parse(text)?;
        let mut scope = self.scope(allowed);
        let bound = scope.bind(&expression, "token", colour);
        let typed = bound.and_then(|_| scope.compile(&expression, kind));
        let code = self.accept(text, typed)?.words.remove(0);
        if matches!(code, Code::Constant(value) if kind == Kind::Time && value < 0) {
            let message = "expected a time of zero or more";
            fault(&mut self.faults, &text.path, message);
        }
        Some(match kind {
            Kind::Time => code.truncated(),
            _ => code,
        })
    }
}
