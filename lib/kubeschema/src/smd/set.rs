//! Sets of field paths, in memory and as FieldsV1.
//!
//! A path is a list of elements spelled as FieldsV1 spells them: `f:name`, `k:{"port":80}`, `v:"text"`, `i:0`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A set of field paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set {
    nodes: BTreeMap<String, Node>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Node {
    member: bool,
    below: Set,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.member && self.below.is_empty()
    }
}

impl Set {
    /// A set of plain field paths: `["metadata", "name"]`.
    pub fn of_fields(paths: &[&[&str]]) -> Self {
        let mut set = Set::default();
        for path in paths {
            let elements: Vec<String> = path.iter().map(|name| format!("f:{name}")).collect();
            set.insert(&elements);
        }
        set
    }

    /// Reads FieldsV1; whatever is no path is left out.
    pub fn from_fields_v1(fields: &Value) -> Self {
        let mut set = Set::default();
        for (element, below) in fields.as_object().into_iter().flatten() {
            if !matches!(element.get(..2), Some("f:" | "k:" | "v:" | "i:")) {
                continue;
            }
            let deeper = below.as_object();
            let member = deeper.is_none_or(|map| map.is_empty() || map.contains_key("."));
            set.nodes.insert(
                element.clone(),
                Node {
                    member,
                    below: Set::from_fields_v1(below),
                },
            );
        }
        set
    }

    /// Writes FieldsV1.
    pub fn to_fields_v1(&self) -> Value {
        let mut map = Map::new();
        for (element, node) in &self.nodes {
            let mut below = node.below.to_fields_v1();
            if let (true, false, Value::Object(deeper)) = (node.member, node.below.is_empty(), &mut below) {
                deeper.insert(".".to_owned(), Value::Object(Map::new()));
            }
            map.insert(element.clone(), below);
        }
        Value::Object(map)
    }

    /// Adds a path; the empty path adds nothing.
    pub fn insert(&mut self, path: &[String]) {
        let add = |node: &mut Node, rest: &[String]| match rest {
            [] => node.member = true,
            rest => node.below.insert(rest),
        };
        let Some((first, rest)) = path.split_first() else {
            return;
        };
        // Every write walks here: a name that is known is not copied.
        if let Some(node) = self.nodes.get_mut(first) {
            add(node, rest);
        } else {
            let mut node = Node::default();
            add(&mut node, rest);
            self.nodes.insert(first.clone(), node);
        }
    }

    /// Whether the path itself is in the set.
    pub fn has(&self, path: &[String]) -> bool {
        match path {
            [] => false,
            [last] => self.has_here(last),
            [first, rest @ ..] => self.nodes.get(first).is_some_and(|node| node.below.has(rest)),
        }
    }

    pub(super) fn has_here(&self, element: &str) -> bool {
        self.nodes.get(element).is_some_and(|node| node.member)
    }

    /// What is below an element, if anything is.
    pub(super) fn below(&self, element: &str) -> Option<&Set> {
        self.nodes
            .get(element)
            .map(|node| &node.below)
            .filter(|below| !below.is_empty())
    }

    /// The first level: each element, whether it is in the set itself, and what is below it.
    pub fn elements(&self) -> impl Iterator<Item = (&str, bool, &Set)> {
        self.nodes
            .iter()
            .map(|(element, node)| (element.as_str(), node.member, &node.below))
    }

    /// Whether there are no paths.
    pub fn is_empty(&self) -> bool {
        self.nodes.values().all(Node::is_empty)
    }

    /// All paths of both.
    #[must_use]
    pub fn union(&self, other: &Set) -> Set {
        if self.nodes.is_empty() {
            return other.clone();
        }
        let mut set = self.clone();
        for (element, theirs) in &other.nodes {
            let node = set.nodes.entry(element.clone()).or_default();
            node.member |= theirs.member;
            node.below = node.below.union(&theirs.below);
        }
        set
    }

    /// The paths of both.
    #[must_use]
    pub fn intersection(&self, other: &Set) -> Set {
        self.combine(|element, mine| {
            let theirs = other.nodes.get(element)?;
            Some(Node {
                member: mine.member && theirs.member,
                below: mine.below.intersection(&theirs.below),
            })
        })
    }

    /// The paths of this set that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Set) -> Set {
        self.combine(|element, mine| {
            Some(match other.nodes.get(element) {
                None => mine.clone(),
                Some(theirs) => Node {
                    member: mine.member && !theirs.member,
                    below: mine.below.difference(&theirs.below),
                },
            })
        })
    }

    /// The paths of this set that are neither in the other nor below one of its paths.
    #[must_use]
    pub fn without(&self, other: &Set) -> Set {
        self.combine(|element, mine| match other.nodes.get(element) {
            None => Some(mine.clone()),
            Some(theirs) if theirs.member => None,
            Some(theirs) => Some(Node {
                member: mine.member,
                below: mine.below.without(&theirs.below),
            }),
        })
    }

    /// All paths: on every level its own members first, then what is below, both sorted. Messages list them so.
    pub fn paths(&self) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        self.collect(&mut Vec::new(), &mut found);
        found
    }

    fn collect(&self, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
        for (element, _) in self.nodes.iter().filter(|(_, node)| node.member) {
            path.push(element.clone());
            found.push(path.clone());
            path.pop();
        }
        for (element, node) in &self.nodes {
            path.push(element.clone());
            node.below.collect(path, found);
            path.pop();
        }
    }

    fn combine(&self, with: impl Fn(&str, &Node) -> Option<Node>) -> Set {
        let nodes = self
            .nodes
            .iter()
            .filter_map(|(element, node)| {
                let node = with(element, node).filter(|node| !node.is_empty())?;
                Some((element.clone(), node))
            })
            .collect();
        Set { nodes }
    }

    /// Visits every element of the first level that has something below: the element and what is below.
    pub(super) fn rebuild(&self, change: impl Fn(&str, bool, &Set) -> (bool, Set)) -> Set {
        self.combine(|element, node| {
            let (member, below) = change(element, node.member, &node.below);
            Some(Node { member, below })
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(fields: &Value) -> Set {
        Set::from_fields_v1(fields)
    }

    #[test]
    fn fields_v1_reads_back_as_it_was() {
        let fields =
            json!({"f:data": {".": {}, "f:k": {}}, "f:list": {"k:{\"name\":\"a\"}": {".": {}, "f:x": {}}, "v:1": {}}});
        assert_eq!(set(&fields).to_fields_v1(), fields);
        assert_eq!(set(&json!({"bad": {}, "f:a": {}})).to_fields_v1(), json!({"f:a": {}}));
    }

    #[test]
    fn set_arithmetic_is_by_path() {
        let a = set(&json!({"f:a": {".": {}, "f:x": {}, "f:y": {}}, "f:b": {}}));
        let b = set(&json!({"f:a": {"f:x": {}}, "f:c": {}}));
        assert_eq!(
            a.difference(&b).to_fields_v1(),
            json!({"f:a": {".": {}, "f:y": {}}, "f:b": {}})
        );
        assert_eq!(a.intersection(&b).to_fields_v1(), json!({"f:a": {"f:x": {}}}));
        assert_eq!(
            a.union(&b).to_fields_v1(),
            json!({"f:a": {".": {}, "f:x": {}, "f:y": {}}, "f:b": {}, "f:c": {}})
        );
        assert_eq!(a.without(&set(&json!({"f:a": {}}))).to_fields_v1(), json!({"f:b": {}}));
        assert!(a.difference(&a).is_empty());
    }
}
