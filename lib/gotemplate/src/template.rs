//! The named templates an execution knows; a set may stand inside another one and see through to it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ast::Tree;

/// Named templates.
#[derive(Default)]
pub(crate) struct Templates {
    outer: Option<Rc<Templates>>,
    own: RefCell<BTreeMap<Rc<str>, Rc<Tree>>>,
}

impl Templates {
    /// An empty set that shows `outer` where it has nothing of that name itself.
    pub(crate) fn inside(outer: Rc<Templates>) -> Self {
        Self {
            outer: Some(outer),
            own: RefCell::default(),
        }
    }

    /// Adds a template; a later one replaces an earlier one, unless it is blank.
    pub(crate) fn add(&self, tree: Tree) {
        if tree.is_blank() && self.find(&tree.name).is_some() {
            return;
        }
        self.own.borrow_mut().insert(Rc::clone(&tree.name), Rc::new(tree));
    }

    /// Adds the text that is about to be executed: blank or not, it hides an outer one of the same name.
    pub(crate) fn add_main(&self, tree: Tree) {
        let mut own = self.own.borrow_mut();
        if !tree.is_blank() || !own.contains_key(&tree.name) {
            own.insert(Rc::clone(&tree.name), Rc::new(tree));
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<Rc<Tree>> {
        if let Some(tree) = self.own.borrow().get(name) {
            return Some(Rc::clone(tree));
        }
        self.outer.as_ref().and_then(|outer| outer.find(name))
    }
}
