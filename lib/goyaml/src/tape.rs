//! A document as a flat list of nodes in the order of the text: no tree to allocate, no pointers to follow.
//!
//! A collection knows where its content ends, an alias knows the node it stands for; both by position in the list.
//! Scalars own nothing: they are ranges of the text, or of one other text that holds whatever had to be put together
//! (folded lines, escapes).

use std::borrow::Cow;
use std::collections::HashMap;

/// One node and the place where it starts, in bytes from the beginning of the text.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) kind: Kind,
    /// The explicit tag, resolved (`tag:yaml.org,2002:str`), if one is written. Boxed because nearly none is.
    pub(crate) tag: Option<Box<Cow<'a, str>>>,
    pub(crate) offset: usize,
}

impl Node<'_> {
    pub(crate) fn tag(&self) -> Option<&str> {
        self.tag.as_deref().map(AsRef::as_ref)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A text between two places.
    Scalar {
        start: usize,
        end: usize,
        /// Places in [`Tape::made`], not in the text.
        made: bool,
        /// Written without quotes.
        plain: bool,
        /// Written behind `>`.
        folded: bool,
    },
    /// Content up to, not including, that position.
    Sequence(usize),
    /// Keys and values in turn, up to that position.
    Mapping(usize),
    /// The position of the node it stands for, and the place where its name begins.
    Alias(usize, usize),
}

impl Kind {
    /// Nothing, without quotes.
    pub(crate) const EMPTY: Self = Self::Scalar {
        start: 0,
        end: 0,
        made: false,
        plain: true,
        folded: false,
    };
}

/// Letters, digits, `-` and `_`: what names consist of.
pub(crate) fn is_word(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-')
}

/// The nodes of one document; the first is the root.
#[derive(Debug)]
pub(crate) struct Tape<'a> {
    source: &'a str,
    pub(crate) nodes: Vec<Node<'a>>,
    /// What scalars consist of that do not stand in the text as they are.
    pub(crate) made: String,
    /// Positions of named nodes in the order in which they were named; the newest of each name by that name.
    anchors: Vec<usize>,
    by_name: HashMap<&'a str, usize>,
}

/// Bytes of text per node, roughly, and the most nodes to make room for before there is need.
const BYTES_PER_NODE: usize = 24;
const FIRST_NODES: usize = 512;

impl<'a> Tape<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        Self {
            source,
            nodes: Vec::with_capacity((source.len() / BYTES_PER_NODE + 4).min(FIRST_NODES)),
            made: String::new(),
            anchors: Vec::new(),
            by_name: HashMap::new(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.made.clear();
        if !self.anchors.is_empty() {
            self.anchors.clear();
            self.by_name.clear();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn push(&mut self, node: Node<'a>) {
        self.nodes.push(node);
    }

    /// The text of a scalar; of an alias its name; nothing for collections.
    #[inline]
    pub(crate) fn text(&self, at: usize) -> &str {
        match self.nodes[at].kind {
            Kind::Scalar {
                start,
                end,
                made: false,
                ..
            } => &self.source[start..end],
            Kind::Scalar { start, end, .. } => &self.made[start..end],
            Kind::Alias(_, start) => {
                let length = self.source.as_bytes()[start..]
                    .iter()
                    .take_while(|byte| is_word(**byte))
                    .count();
                &self.source[start..start + length]
            }
            Kind::Sequence(_) | Kind::Mapping(_) => "",
        }
    }

    /// The node that an alias stands for; any other node itself.
    pub(crate) fn target(&self, at: usize) -> usize {
        match self.nodes[at].kind {
            Kind::Alias(target, _) => target,
            Kind::Scalar { .. } | Kind::Sequence(_) | Kind::Mapping(_) => at,
        }
    }

    /// Whether a key is `<<`, which adds the entries of its value.
    pub(crate) fn is_merge(&self, at: usize) -> bool {
        const MERGE: &str = "tag:yaml.org,2002:merge";
        let node = &self.nodes[at];
        match node.kind {
            Kind::Scalar { plain, .. } if self.text(at) == "<<" => match node.tag() {
                None => plain,
                Some(tag) => tag == MERGE,
            },
            _ => false,
        }
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
    #[inline]
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
