//! What can go wrong, with the place in Go's wording: `template: NAME:LINE:COL: executing "T" at <x>: why`.

/// A template that cannot be parsed, or an execution that stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not a template.
    #[error("template: {name}:{line}: {message}")]
    Parse {
        /// The template's name.
        name: String,
        /// Line, from 1.
        line: usize,
        /// What the parser met.
        message: String,
    },
    /// The execution stopped at a node.
    #[error(
        "template: {location}: executing \"{template}\" at <{context}>: {message}{}",
        nested(inner)
    )]
    Execute {
        /// `NAME:LINE:COL`; the name is that of the file the node stands in.
        location: String,
        /// The template that was running.
        template: String,
        /// The node's text.
        context: String,
        /// Why; ends in `error calling NAME: ` where `inner` follows.
        message: String,
        /// A function failed by itself, with words of its own at the end of `message`.
        by_function: bool,
        /// The error of a template that the called function ran.
        inner: Option<Box<Error>>,
    },
    /// A template stopped the execution on purpose.
    #[error("execution error at ({location}): {message}")]
    Raised {
        /// `NAME:LINE:COL` of the outermost template.
        location: String,
        /// What the template had to say.
        message: String,
    },
    /// There is no such template, or nothing to execute in it.
    #[error("template: {message}")]
    Template {
        /// Why.
        message: String,
    },
    /// A limit was reached: the template does too much.
    #[error("template: {name}: {message}")]
    Limit {
        /// The template that was running.
        name: String,
        /// Which limit.
        message: String,
    },
}

#[expect(clippy::ref_option, reason = "the shape thiserror's format arguments have")]
fn nested(inner: &Option<Box<Error>>) -> String {
    inner.as_ref().map(ToString::to_string).unwrap_or_default()
}

impl Error {
    /// The innermost error and the frames around it, outermost first.
    pub fn frames(&self) -> Vec<&Error> {
        let mut frames = vec![self];
        let mut current = self;
        while let Self::Execute { inner: Some(inner), .. } = current {
            frames.push(inner);
            current = inner;
        }
        frames
    }
}
