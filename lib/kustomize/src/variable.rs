//! Variables: values of objects that texts of others name as `$(NAME)`. Deprecated in favour of replacements, and still
//! in wide use.

use std::collections::BTreeMap;

use crate::bound::Budget;
use crate::config::FieldSpec;
use crate::field::{self, Create};
use crate::id::{Gvk, Id};
use crate::kustomization::Variable;
use crate::node::{Node, Scalar, Tag};
use crate::path;
use crate::resource::Resource;

/// Variables by name.
pub(crate) type Variables = BTreeMap<String, Variable>;

/// Adds variables of a kustomization, and marks the objects they mean.
///
/// # Errors
/// One is given twice, or may mean several objects.
pub(crate) fn declare(own: &[Variable], variables: &mut Variables, resources: &mut [Resource]) -> Result<(), String> {
    for variable in own {
        let reference = &variable.objref;
        let gvk = if reference.api_version.is_empty() {
            Gvk {
                group: reference.group.clone(),
                version: reference.version.clone(),
                kind: reference.kind.clone(),
            }
        } else {
            let said = Gvk::new(&reference.api_version, &reference.kind);
            let group = if said.group.is_empty() {
                reference.group.clone()
            } else {
                said.group
            };
            Gvk { group, ..said }
        };
        let id = Id {
            gvk,
            name: reference.name.clone(),
            namespace: reference.namespace.clone(),
        };
        let strict = !id.namespace.is_empty() || id.gvk.is_cluster_scoped();
        let is = |own: &Id| if strict { own.is(&id) } else { own.is_named(&id) };
        let mut found: Vec<&mut Resource> = resources
            .iter_mut()
            .filter(|resource| resource.ids().iter().any(is))
            .collect();
        match found.as_mut_slice() {
            [] => {}
            [one] => one.variables.push(variable.name.clone()),
            more => return Err(format!("'{}' may mean {} objects", variable.name, more.len())),
        }
        join(variables, variable.clone())?;
    }
    Ok(())
}

/// # Errors
/// It is there already.
pub(crate) fn join(variables: &mut Variables, variable: Variable) -> Result<(), String> {
    match variables.insert(variable.name.clone(), variable) {
        None => Ok(()),
        Some(known) => Err(format!("'{}' is given twice", known.name)),
    }
}

/// Puts the values in.
///
/// # Errors
/// A variable whose object or field is not there; a field that cannot hold texts.
pub(crate) fn resolve(
    variables: &Variables,
    resources: &mut [Resource],
    fields: &[FieldSpec],
    budget: &Budget,
) -> Result<(), String> {
    if variables.is_empty() {
        return Ok(());
    }
    let mut values: BTreeMap<&str, Scalar> = BTreeMap::new();
    for (name, variable) in variables {
        if let Some(value) = value(variable, resources)? {
            values.insert(name, value);
        }
    }
    for resource in resources.iter_mut() {
        for spec in fields {
            field::each(&mut resource.object, spec, Create::Nothing, &mut |node| {
                in_field(node, &values, budget)
            })
            .map_err(|message| format!("object {}: {message}", resource.id()))?;
        }
    }
    Ok(())
}

/// The value of a variable; `None` if it is no single value and so is left as it is written.
fn value(variable: &Variable, resources: &[Resource]) -> Result<Option<Scalar>, String> {
    let name = &variable.name;
    let holds = |resource: &&Resource| resource.variables.contains(name);
    let Some(resource) = resources.iter().find(holds) else {
        return Err(format!("'{name}' means an object that is not there"));
    };
    let said = variable.fieldref.field_path.as_str();
    let said = if said.is_empty() { "metadata.name" } else { said };
    // `ports[0]` is `ports` and then `0`.
    let mut parts = Vec::new();
    for part in path::split(said) {
        match part.strip_suffix(']').and_then(|part| part.split_once('[')) {
            Some((key, index)) if !key.is_empty() => parts.extend([key.to_owned(), index.to_owned()]),
            _ => parts.push(part),
        }
    }
    let missing = || format!("'{name}': object {} has no field '{said}'", resource.id());
    match path::find(&resource.object, &parts).map_err(|message| format!("'{name}': {message}"))? {
        None => Err(missing()),
        Some(Node::Scalar(scalar)) => {
            let tag = match scalar.tag {
                Tag::Int | Tag::Float | Tag::Bool => scalar.tag,
                _ => Tag::Text,
            };
            let value = Node::tagged(&scalar.text, tag).value()?;
            // Numbers are printed anew: `0x10` is not what ends up in the text.
            let text = match &value {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Ok(Some(Scalar { text, tag }))
        }
        Some(_) => Ok(None),
    }
}

type Values<'v> = BTreeMap<&'v str, Scalar>;

fn in_field(node: &mut Node, values: &Values<'_>, budget: &Budget) -> Result<(), String> {
    match node {
        Node::Scalar(_) => in_scalar(node, values, budget),
        Node::Map(map) => map.values_mut().try_for_each(|node| in_scalar(node, values, budget)),
        Node::List(items) => {
            for item in items {
                match item {
                    Node::Scalar(scalar) if scalar.tag == Tag::Text => in_scalar(item, values, budget)?,
                    other => return Err(format!("a text is expected, not {}", other.shape())),
                }
            }
            Ok(())
        }
    }
}

/// Replaces what a text names. A text that is nothing but a variable becomes its value, a number if it is one.
fn in_scalar(node: &mut Node, values: &Values<'_>, budget: &Budget) -> Result<(), String> {
    let Node::Scalar(scalar) = node else { return Ok(()) };
    if scalar.tag != Tag::Text || !scalar.text.contains('$') {
        return Ok(());
    }
    let whole = scalar.text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
    if let Some(value) = whole
        .filter(|name| !name.contains(')'))
        .and_then(|name| values.get(name))
    {
        budget.spend(value.text.len())?;
        *scalar = value.clone();
        return Ok(());
    }
    let text = expanded(&scalar.text, values);
    budget.spend(text.len())?;
    scalar.text = text;
    Ok(())
}

/// `$(NAME)` becomes its value if it has one, `$$` a dollar; anything else stays.
fn expanded(text: &str, values: &Values<'_>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(rest.get(..at).unwrap_or_default());
        let after = rest.get(at + 1..).unwrap_or_default();
        let name = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        if let Some((name, behind)) = name {
            match values.get(name) {
                Some(value) => out.push_str(&value.text),
                None => out.push_str(&format!("$({name})")),
            }
            rest = behind;
        } else if let Some(behind) = after.strip_prefix('$') {
            out.push('$');
            rest = behind;
        } else {
            // The character behind is not looked at again, so that `$x$$` is read as it is written.
            out.push('$');
            let first = after.chars().next().map_or(0, char::len_utf8);
            out.push_str(after.get(..first).unwrap_or_default());
            rest = after.get(first..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_and_doubled_dollars_are_one() {
        let value = |text: &str| Scalar {
            text: text.to_owned(),
            tag: Tag::Text,
        };
        let values = BTreeMap::from([("A", value("1")), ("B", value("$(A)"))]);
        for (text, expected) in [
            ("$(A)-$(B)", "1-$(A)"),
            ("$$(A)", "$(A)"),
            ("$(C) $x $", "$(C) $x $"),
            ("$(A", "$(A"),
        ] {
            assert_eq!(expanded(text, &values), expected);
        }
    }
}
