//! A document as a flat list of nodes in the order of the text: no tree to allocate, no pointers to follow.
//!
//! A collection knows where its content ends, an alias knows the node it stands for; both by position in the list.

use std::borrow::Cow;
use std::collections::HashMap;

/// One node and the place where it starts, in bytes from the beginning of the text.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) kind: Kind<'a>,
    /// The explicit tag, resolved (`tag:yaml.org,2002:str`), if one is written.
    pub(crate) tag: Option<Cow<'a, str>>,
    pub(crate) offset: usize,
}

#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Scalar {
        text: Cow<'a, str>,
        /// Written without quotes.
        plain: bool,
    },
    /// Content up to, not including, that position.
    Sequence(usize),
    /// Keys and values in turn, up to that position.
    Mapping(usize),
    /// The position of the node it stands for, and the name it uses.
    Alias(usize, &'a str),
}

/// The nodes of one document; the first is the root.
#[derive(Debug, Default)]
pub(crate) struct Tape<'a> {
    pub(crate) nodes: Vec<Node<'a>>,
    /// Positions of named nodes in the order in which they were named; the newest of each name by that name.
    anchors: Vec<usize>,
    by_name: HashMap<&'a str, usize>,
    pub(crate) has_alias: bool,
}

impl<'a> Tape<'a> {
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.anchors.clear();
        self.by_name.clear();
        self.has_alias = false;
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn push(&mut self, node: Node<'a>) {
        self.nodes.push(node);
    }

    /// Gives the node that is pushed next a name, which stands for it from here on.
    pub(crate) fn anchor(&mut self, name: &'a str) {
        self.by_name.insert(name, self.anchors.len());
        self.anchors.push(self.nodes.len());
    }

    /// How many names were given, for [`Tape::wrap`].
    pub(crate) fn names(&self) -> usize {
        self.anchors.len()
    }

    /// The position of the node that a name stands for now.
    pub(crate) fn anchored(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).map(|at| self.anchors[*at])
    }

    /// The position behind a node and all it contains.
    pub(crate) fn after(&self, at: usize) -> usize {
        match self.nodes[at].kind {
            Kind::Sequence(end) | Kind::Mapping(end) => end,
            Kind::Scalar { .. } | Kind::Alias(..) => at + 1,
        }
    }

    /// Ends the collection at `start` with what was pushed last.
    pub(crate) fn close(&mut self, start: usize) {
        let end = self.nodes.len();
        if let Kind::Sequence(limit) | Kind::Mapping(limit) = &mut self.nodes[start].kind {
            *limit = end;
        }
    }

    /// Puts a mapping before the nodes from `at` on, which turned out to be its first key. Names after the first
    /// `names` were given inside that key.
    pub(crate) fn wrap(&mut self, at: usize, names: usize, mapping: Node<'a>) {
        for node in &mut self.nodes[at..] {
            match &mut node.kind {
                Kind::Sequence(end) | Kind::Mapping(end) => *end += 1,
                Kind::Alias(target, _) if *target >= at => *target += 1,
                Kind::Alias(..) | Kind::Scalar { .. } => {}
            }
        }
        for position in &mut self.anchors[names..] {
            *position += 1;
        }
        self.nodes.insert(at, mapping);
    }
}
