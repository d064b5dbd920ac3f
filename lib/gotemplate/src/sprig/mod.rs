//! The functions of the sprig library.

use crate::engine::Functions;

/// All functions of sprig's text table, without the two that read environment variables.
pub fn text() -> Functions<'static> {
    Functions::default()
}
