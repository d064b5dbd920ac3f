//! Differences between this engine and Helm itself, counted on tables of recorded answers.

mod snippets;
