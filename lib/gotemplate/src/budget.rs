//! What one execution may use: steps, bytes and depth. A template from a stranger must end.

use std::cell::RefCell;

use crate::failure::Failure;
use crate::value::Map;

/// The limits of one execution. The defaults let every chart through that a human wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nodes and commands executed, plus work inside functions in units of about 64 bytes.
    pub steps: u64,
    /// Bytes of one string, and of the output.
    pub text: usize,
    /// Bytes of all strings and lists that functions made together.
    pub total: u64,
    /// Templates inside templates, blocks inside blocks and parentheses inside parentheses, all counted together.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // Twenty million steps take some seconds; the stack of `stack::STACK` bytes holds the depth several times over.
        Self {
            steps: 20_000_000,
            text: 32 << 20,
            total: 1 << 30,
            depth: 10_000,
        }
    }
}

/// What is left of the limits.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    steps: u64,
    made: u64,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            steps: 0,
            made: 0,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn step(&mut self, count: u64) -> Result<(), Failure> {
        self.steps = self.steps.saturating_add(count);
        if self.steps > self.limits.steps {
            return Err(Failure::Limit(format!(
                "the template takes more than {} steps",
                self.limits.steps
            )));
        }
        Ok(())
    }

    /// Accounts for `bytes` that are about to be made.
    pub(crate) fn text(&mut self, bytes: usize) -> Result<(), Failure> {
        if bytes > self.limits.text {
            return Err(Failure::Limit(format!(
                "a text of more than {} bytes",
                self.limits.text
            )));
        }
        self.made = self.made.saturating_add(bytes as u64);
        if self.made > self.limits.total {
            return Err(Failure::Limit(format!(
                "the template makes more than {} bytes",
                self.limits.total
            )));
        }
        self.step(bytes as u64 / 64)
    }
}

/// Bytes that a list of `len` items takes.
pub(crate) fn of_list(len: usize) -> usize {
    len.saturating_mul(32).saturating_add(64)
}

/// Bytes that a map of `len` entries takes; the first one takes a whole node.
pub(crate) fn of_map(len: usize) -> usize {
    len.saturating_mul(64).saturating_add(512)
}

thread_local! {
    /// Maps into which a container was put: only they can be part of a cycle.
    static SUSPECTS: RefCell<Option<Vec<Map>>> = const { RefCell::new(None) };
}

/// Remembers that `map` may have become part of a cycle.
pub(crate) fn note_cycle_risk(map: &Map) {
    SUSPECTS.with(|suspects| {
        if let Ok(mut suspects) = suspects.try_borrow_mut()
            && let Some(list) = suspects.as_mut()
            && list.last().is_none_or(|last| !last.is(map))
        {
            list.push(map.clone());
        }
    });
}

/// Runs `work`, then opens every cycle that templates may have tied in shared maps, so that their memory is freed.
/// Values made by `work` must not be used afterwards.
pub fn without_leaks<T>(work: impl FnOnce() -> T) -> T {
    let outer = SUSPECTS.with(|suspects| suspects.borrow_mut().replace(Vec::new()));
    let result = work();
    let mine = SUSPECTS.with(|suspects| std::mem::replace(&mut *suspects.borrow_mut(), outer));
    for map in mine.unwrap_or_default() {
        map.clear();
    }
    result
}
