//! Regular expressions. The `regex` crate reads RE2's syntax and runs in linear time.

use std::sync::Arc;

use regex::Regex;

use super::{int, re2, string};
use crate::failure::Failure;
use crate::function::Native;
use crate::machine::Machine;
use crate::value::{List, Value};

pub(super) const TABLE: &[(&str, &str, Native)] = &[
    ("regexMatch", "ss", |_, args| {
        Ok(compile(args).is_ok_and(|regex| regex.is_match(string(args, 1))).into())
    }),
    ("mustRegexMatch", "ss", |_, args| {
        Ok(compile(args)?.is_match(string(args, 1)).into())
    }),
    ("regexFind", "ss", |machine, args| panicked(find, machine, args)),
    ("mustRegexFind", "ss", find),
    ("regexFindAll", "ssi", |machine, args| panicked(find_all, machine, args)),
    ("mustRegexFindAll", "ssi", find_all),
    ("regexReplaceAll", "sss", |machine, args| {
        panicked(replace, machine, args)
    }),
    ("mustRegexReplaceAll", "sss", replace),
    ("regexReplaceAllLiteral", "sss", |machine, args| {
        panicked(replace_literal, machine, args)
    }),
    ("mustRegexReplaceAllLiteral", "sss", replace_literal),
    ("regexSplit", "ssi", |machine, args| panicked(split, machine, args)),
    ("mustRegexSplit", "ssi", split),
    ("regexQuoteMeta", "s", |_, args| {
        let special = |character: char| r"\.+*?()|[]{}^$".contains(character);
        let quoted = string(args, 0).chars().flat_map(|character| {
            special(character)
                .then_some('\\')
                .into_iter()
                .chain(std::iter::once(character))
        });
        Ok(quoted.collect::<String>().into())
    }),
];

/// The functions without `must` panic on a bad pattern, which shows in the message.
fn panicked(function: Native, machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    function(machine, args).map_err(|failure| match failure {
        Failure::Message(message) if message.starts_with("error parsing regexp") => {
            Failure::new(format!("regexp: Compile(`{}`): {message}", string(args, 0)))
        }
        other => other,
    })
}

fn compile(args: &[Value]) -> Result<Arc<Regex>, Failure> {
    re2::compile(string(args, 0)).map_err(Failure::new)
}

fn find(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    Ok(compile(args)?
        .find(string(args, 1))
        .map_or("", |found| found.as_str())
        .into())
}

/// How many results a Go limit allows: all for a negative one.
fn limit(args: &[Value]) -> usize {
    usize::try_from(int(args, 2)).unwrap_or(usize::MAX)
}

fn find_all(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let regex = compile(args)?;
    machine.reserve(string(args, 1).len().saturating_mul(8))?;
    let mut found = regex
        .find_iter(string(args, 1))
        .take(limit(args))
        .map(|found| found.as_str())
        .peekable();
    if found.peek().is_none() {
        return Ok(List::no_strings().into());
    }
    Ok(List::strings(found).into())
}

fn replace(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let (text, new) = (string(args, 1), string(args, 2));
    let regex = compile(args)?;
    // The worst case: every reference stands for the whole text.
    let references = 1 + new.matches('$').count();
    let found = regex.find_iter(text).count();
    machine.reserve(
        text.len()
            .saturating_mul(references)
            .saturating_add(found.saturating_mul(new.len())),
    )?;
    Ok(regex.replace_all(text, new).into_owned().into())
}

fn replace_literal(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let (text, new) = (string(args, 1), string(args, 2));
    let regex = compile(args)?;
    let found = regex.find_iter(text).count();
    machine.reserve(text.len().saturating_add(found.saturating_mul(new.len())))?;
    Ok(regex.replace_all(text, regex::NoExpand(new)).into_owned().into())
}

fn split(machine: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let (regex, text, limit) = (compile(args)?, string(args, 1), limit(args));
    machine.reserve(text.len().saturating_mul(8))?;
    if limit == 0 {
        return Ok(List::strings::<&str>([]).into());
    }
    if !string(args, 0).is_empty() && text.is_empty() {
        return Ok(List::strings([""]).into());
    }
    let mut parts = Vec::new();
    let (mut start, mut end) = (0, 0);
    for found in regex.find_iter(text) {
        if parts.len() + 1 == limit {
            break;
        }
        end = found.start();
        if found.end() != 0 {
            parts.push(&text[start..end]);
        }
        start = found.end();
    }
    if end != text.len() {
        parts.push(&text[start..]);
    }
    Ok(List::strings(parts).into())
}
