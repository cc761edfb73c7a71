//! Numbers of tokens in expressions on markings.

use super::Program;
use crate::expression::{Allowed, Expression, ExpressionError, Scope, Step, Syntax};

/// A number of tokens that an expression on markings uses.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub node: usize,
    /// Pattern of the tokens that count.
    pub steps: Vec<Step>,
}

/// Replaces names of places, and calls of `tokens`, by variables. Names of other variables hide
/// those of places.
pub(crate) fn replace(
    of: &mut Expression,
    program: &mut Program,
    hidden: &[&str],
    terms: &mut Vec<Term>,
    names: &mut Vec<String>,
) -> Result<(), ExpressionError> {
    let column = of.column;
    let node_of = |program: &Program, name: &str| {
        let mut nodes = 0..program.nodes.len();
        nodes.find(|&node| program.is_called(&program.node_path(node), name))
    };
    let (node, pattern) = match &of.node {
        Syntax::Name(name) => match node_of(program, name) {
            Some(_) if hidden.contains(&&**name) => return Ok(()),
            Some(node) => (node, None),
            None if hidden.contains(&&**name) => return Ok(()),
            None => {
                let start = format!("{name}/");
                let paths = (0..program.nodes.len()).map(|node| program.node_path(node));
                let mut inner = paths.filter_map(|it| program.within(&it).map(str::to_owned));
                let mut members = program.colours.enums.iter().flat_map(|it| &it.members);
                let is_value = program.constants.contains_key(name) || members.any(|it| it == name);
                return match inner.find(|it| it.starts_with(&start)) {
                    Some(path) if !is_value => Err(ExpressionError {
                        column,
                        message: format!(
                            "nothing here is called {name}: write tokens({path:?}) for the number \
                             of tokens there"
                        ),
                    }),
                    _ => Ok(()),
                };
            }
        },
        Syntax::Call(name, arguments) if name == "tokens" => {
            let Some((
                _,
                Expression {
                    node: Syntax::Text(path),
                    ..
                },
            )) = arguments.first()
            else {
                return Err(ExpressionError {
                    column,
                    message: "expected tokens(\"place\") or tokens(\"place\", pattern)".to_owned(),
                });
            };
            let Some(node) = node_of(program, path) else {
                return Err(ExpressionError {
                    column,
                    message: format!("no place or station is called {path:?}"),
                });
            };
            (node, arguments.get(1).map(|(_, pattern)| pattern.clone()))
        }
        Syntax::Binary(..) | Syntax::Unary(..) | Syntax::If(_) | Syntax::Call(..) => {
            let mut replace = |part: &mut Expression| replace(part, program, hidden, terms, names);
            return match &mut of.node {
                Syntax::Binary(_, a, b) => {
                    replace(a)?;
                    replace(b)
                }
                Syntax::Unary(_, part) => replace(part),
                Syntax::If(parts) => parts.iter_mut().try_for_each(replace),
                Syntax::Call(_, parts) => parts.iter_mut().try_for_each(|(_, it)| replace(it)),
                _ => Ok(()),
            };
        }
        _ => return Ok(()),
    };
    // Messages show the variable as it was written.
    let name = of.to_string();
    of.node = Syntax::Name(name.clone());
    if names.contains(&name) {
        return Ok(());
    }
    let colour = program.nodes[node].colour;
    let steps = match pattern {
        None => Vec::new(),
        Some(pattern) => {
            let constants = program.constants.clone();
            let mut scope = Scope::new(&mut program.colours, &constants, Allowed::Nothing);
            scope.pattern(&pattern, colour)?
        }
    };
    names.push(name);
    terms.push(Term { node, steps });
    Ok(())
}
