//! What a parsed text weighs, for whoever keeps many and has to stop somewhere.

use std::mem::size_of;

use crate::ast::Parsed;

impl Parsed {
    /// Bytes that it keeps alive, nearly: its lists, its text, and as much again for the names and strings in it that
    /// are long enough to be kept apart.
    pub fn size(&self) -> usize {
        fn list<T>(list: &Vec<T>) -> usize {
            list.capacity() * size_of::<T>()
        }
        size_of::<Self>()
            + 2 * self.text.capacity()
            + list(&self.definitions)
            + list(&self.nodes)
            + list(&self.branches)
            + list(&self.calls)
            + list(&self.pipes)
            + list(&self.commands)
            + list(&self.exprs)
            + list(&self.strings)
            + list(&self.numbers)
            + list(&self.variables)
            + list(&self.declared)
    }
}
