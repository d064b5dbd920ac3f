//! Bounds on what a build may produce: a few lines of configuration must not become gigabytes.

use std::cell::Cell;

use serde_json::Value;

/// Values in one object.
const MAX_VALUES: usize = 200_000;
/// Levels in one object; what YAML files may have.
const MAX_DEPTH: usize = 125;
/// Bytes that generators, replacements and variables may add to a build.
const MAX_BYTES: usize = 64 << 20;
/// Objects in one build.
pub(crate) const MAX_OBJECTS: usize = 100_000;
/// Kustomizations that are entered in one build, those that are entered again included.
const MAX_KUSTOMIZATIONS: usize = 2_000;

/// What a build has used of its bounds.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    bytes: Cell<usize>,
    kustomizations: Cell<usize>,
}

impl Budget {
    /// Counts bytes that a build adds.
    ///
    /// # Errors
    /// There were too many.
    pub(crate) fn spend(&self, bytes: usize) -> Result<(), String> {
        let spent = self.bytes.get().saturating_add(bytes);
        self.bytes.set(spent);
        if spent > MAX_BYTES {
            return Err(format!("the build adds more than {MAX_BYTES} bytes"));
        }
        Ok(())
    }

    /// Counts a kustomization.
    ///
    /// # Errors
    /// There were too many.
    pub(crate) fn enter(&self) -> Result<(), String> {
        let entered = self.kustomizations.get() + 1;
        self.kustomizations.set(entered);
        if entered > MAX_KUSTOMIZATIONS {
            return Err(format!(
                "the build enters more than {MAX_KUSTOMIZATIONS} kustomizations"
            ));
        }
        Ok(())
    }
}

/// Checks the size of an object.
///
/// # Errors
/// It is too large or too deep.
pub(crate) fn check(object: &Value) -> Result<(), String> {
    let mut left = MAX_VALUES;
    if count(object, MAX_DEPTH, &mut left) {
        Ok(())
    } else {
        Err(format!("it has more than {MAX_VALUES} values or {MAX_DEPTH} levels"))
    }
}

fn count(value: &Value, depth: usize, left: &mut usize) -> bool {
    if *left == 0 || depth == 0 {
        return false;
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter().all(|item| count(item, depth - 1, left)),
        Value::Object(map) => map.values().all(|item| count(item, depth - 1, left)),
        _ => true,
    }
}
