//! Text → objects: every document of a stream, lists of objects taken apart, each with a kind and a name.

use serde_json::Value;

use crate::node::Node;

/// Reads the objects of a text.
///
/// # Errors
/// Where the text is no YAML or an object has no kind or name, with the line.
pub(crate) fn read(text: &str) -> Result<Vec<Node>, String> {
    let text = text.replace("\r\n", "\n");
    let documents = goyaml::tree::documents(&text).map_err(|error| error.to_string())?;
    let alone = documents.len() == 1;
    let mut objects = Vec::new();
    for (tree, line) in documents {
        let object = Node::read(tree).map_err(|message| format!("line {line}: {message}"))?;
        let kind = object.spelling_at(&["kind"]);
        let list = matches!(kind, "List" | "ResourceList") && object.get("items").is_some();
        match object {
            // A list that is alone is nothing but its items.
            Node::Map(mut map) if alone && list => {
                if let Some(Node::List(items)) = map.shift_remove("items") {
                    objects.extend(items.into_iter().map(|item| (item, line)));
                }
            }
            object => objects.push((object, line)),
        }
    }
    let mut checked = Vec::new();
    for (object, line) in objects {
        if !object.is_empty() {
            check(&object).map_err(|message| format!("line {line}: {message}"))?;
            checked.push(object);
        }
    }
    flattened(checked)
}

/// What every object must say of itself.
///
/// # Errors
/// No kind, or no name where one is needed.
pub(crate) fn check_identity(object: &Node) -> Result<(), String> {
    let said = |path: &[&str]| {
        object.at(path).filter(|value| !value.is_null()).is_some() && !object.spelling_at(path).is_empty()
    };
    let kind = object.spelling_at(&["kind"]);
    if !said(&["kind"]) {
        return Err("an object has no kind".to_owned());
    }
    if !said(&["metadata", "name"]) && !kind.ends_with("List") {
        return Err(format!("an object of kind {kind} has no metadata.name"));
    }
    Ok(())
}

fn check(object: &Node) -> Result<(), String> {
    if object.as_map().is_none() {
        return Err(format!("an object is expected, not {}", object.shape()));
    }
    let kind = object.spelling_at(&["kind"]);
    if kind.is_empty() {
        return Err("an object has no kind".to_owned());
    }
    for what in ["labels", "annotations"] {
        let field = object.at(&["metadata", what]);
        if field.is_some_and(|field| field.as_map().is_none() && !field.is_null()) {
            return Err(format!("metadata.{what} of a {kind} is no map"));
        }
        let entries = field.and_then(Node::as_map).into_iter().flatten();
        if let Some((key, _)) = entries.into_iter().find(|(_, value)| value.spelling().is_none()) {
            return Err(format!("metadata.{what} '{key}' of a {kind} is no text"));
        }
    }
    if object.spelling_at(&["metadata", "name"]).is_empty() && !kind.ends_with("List") {
        return Err(format!("an object of kind {kind} has no metadata.name"));
    }
    Ok(())
}

/// Lists of objects in streams: their items go to the end.
fn flattened(objects: Vec<Node>) -> Result<Vec<Node>, String> {
    let mut queue = std::collections::VecDeque::from(objects);
    let mut flat = Vec::new();
    while let Some(object) = queue.pop_front() {
        let kind = object.spelling_at(&["kind"]);
        let Some(items) = object.get("items").filter(|_| kind.ends_with("List")) else {
            flat.push(object);
            continue;
        };
        match items.value()? {
            Value::Null => {}
            Value::Array(items) => {
                for item in items {
                    let item = Node::of(item);
                    if !item.is_empty() {
                        check(&item)?;
                        queue.push_back(item);
                    }
                }
            }
            _ => return Err(format!("items of a {kind} are no list")),
        }
    }
    Ok(flat)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let objects = read(text).unwrap();
        objects
            .iter()
            .map(|object| object.spelling_at(&["metadata", "name"]).to_owned())
            .collect()
    }

    #[test]
    fn items_of_lists_in_streams_go_to_the_end() {
        let list = "kind: PodList\nitems:\n- {kind: Pod, metadata: {name: a}}\n---\nkind: Pod\nmetadata: {name: b}\n";
        assert_eq!(names(list), ["b", "a"]);
        assert_eq!(names("kind: List\nitems:\n- {kind: Pod, metadata: {name: a}}\n"), ["a"]);
        assert_eq!(names("kind: AccessList\nmetadata: {name: x}\n"), ["x"]);
    }

    #[test]
    fn objects_need_a_kind_and_a_name() {
        assert_eq!(read("a: 1").unwrap_err(), "line 1: an object has no kind");
        assert_eq!(
            read("---\nkind: Pod").unwrap_err(),
            "line 1: an object of kind Pod has no metadata.name"
        );
        assert_eq!(read("[1]").unwrap_err(), "line 1: an object is expected, not a list");
    }
}
