//! Generated files: written here, committed, and checked to be what would be written.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::run::root;

/// One generated file.
struct Generated {
    path: PathBuf,
    content: Vec<u8>,
}

/// Everything that is generated from sources within the repository.
fn generated() -> Result<Vec<Generated>> {
    Ok(Vec::new())
}

pub(crate) fn write() -> Result<()> {
    for Generated { path, content } in generated()? {
        let path = root().join(path);
        std::fs::write(&path, content).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

pub(crate) fn check() -> Result<()> {
    for Generated { path, content } in generated()? {
        let on_disk = std::fs::read(root().join(&path)).with_context(|| format!("read {}", path.display()))?;
        if on_disk != content {
            bail!("{} is out of date; `cargo xtask codegen` writes it", path.display());
        }
    }
    Ok(())
}
