//! The named templates an execution knows; a set may stand inside another one and see through to it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::ast::{Nodes, Parsed, line, place};
use crate::error::Error;
use crate::quote;
use crate::value::Text;

/// A template under its name: what is between one pair of `define` and `end`, or a whole file.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The name under which it is executed.
    pub(crate) name: Text,
    /// The file it stands in, for positions.
    pub(crate) file: Text,
    pub(crate) code: Arc<Parsed>,
    pub(crate) body: Nodes,
    blank: bool,
    /// How often it is being executed by functions that run templates.
    pub(crate) nested: Cell<usize>,
}

/// Named templates.
#[derive(Default)]
pub(crate) struct Templates {
    outer: Option<Rc<Templates>>,
    own: RefCell<HashMap<Text, Rc<Tree>, RandomState>>,
}

impl Templates {
    /// An empty set that shows `outer` where it has nothing of that name itself.
    pub(crate) fn inside(outer: Rc<Templates>) -> Self {
        Self {
            outer: Some(outer),
            own: RefCell::default(),
        }
    }

    /// Adds what a text defines, and the text itself under `name`. A later template replaces an earlier one, unless it
    /// is blank.
    pub(crate) fn add(&self, name: &str, code: &Arc<Parsed>) -> Result<(), Error> {
        for tree in trees(name, code)? {
            if !tree.blank || self.find(&tree.name).is_none() {
                self.own.borrow_mut().insert(tree.name.clone(), Rc::new(tree));
            }
        }
        Ok(())
    }

    /// As [`Self::add`], for a text that is about to be executed: blank or not, it hides an outer one of the same name.
    pub(crate) fn add_main(&self, name: &str, code: &Arc<Parsed>) -> Result<(), Error> {
        for tree in trees(name, code)? {
            let hides = if *tree.name == *name {
                !self.own.borrow().contains_key(&tree.name)
            } else {
                self.find(&tree.name).is_none()
            };
            if !tree.blank || hides {
                self.own.borrow_mut().insert(tree.name.clone(), Rc::new(tree));
            }
        }
        Ok(())
    }

    pub(crate) fn find(&self, name: &str) -> Option<Rc<Tree>> {
        if let Some(tree) = self.own.borrow().get(name) {
            return Some(Rc::clone(tree));
        }
        self.outer.as_ref().and_then(|outer| outer.find(name))
    }
}

/// The templates in a text, itself last. Its own name counts as one of those it defines: of two of them only one may
/// print anything.
fn trees(name: &str, code: &Arc<Parsed>) -> Result<impl Iterator<Item = Tree>, Error> {
    let twin = code.definitions.iter().find(|definition| definition.name == name);
    let printing = twin.is_some_and(|twin| !twin.blank);
    if printing && !code.blank {
        return Err(Error::Parse {
            name: name.to_owned(),
            line: line(&code.text, place(code.text.len())),
            message: format!("multiple definition of template {}", quote::quote(name)),
        });
    }
    let file = Text::from(name);
    let main = (!printing).then(|| Tree {
        name: file.clone(),
        file: file.clone(),
        code: Arc::clone(code),
        body: code.body,
        blank: code.blank,
        nested: Cell::default(),
    });
    let replaced = main.is_some();
    let defined = code
        .definitions
        .iter()
        .filter(move |definition| !(replaced && definition.name == file))
        .map(move |definition| Tree {
            name: definition.name.clone(),
            file: Text::from(name),
            code: Arc::clone(code),
            body: definition.body,
            blank: definition.blank,
            nested: Cell::default(),
        });
    Ok(defined.chain(main))
}
