//! Semantic versions.

use std::rc::Rc;

use super::string;
use crate::failure::Failure;
use crate::function::{Native, Signature};
use crate::machine::Machine;
use crate::object::{GoObject, Kind};
use crate::semver::{Constraint, Version};
use crate::value::Value;

pub(super) const TABLE: &[(&str, &str, Native)] = &[
    ("semver", "s", |_, args| {
        let version = Version::parse(string(args, 0)).map_err(|error| Failure::new(error.to_string()))?;
        Ok(Value::Object(Rc::new(VersionObject(version))))
    }),
    ("semverCompare", "ss", |_, args| {
        let constraint = Constraint::parse(string(args, 0)).map_err(|error| Failure::new(error.to_string()))?;
        let version = Version::parse(string(args, 1)).map_err(|error| Failure::new(error.to_string()))?;
        Ok(constraint.allows(&version).into())
    }),
];

/// `*semver.Version`: its parts are methods.
struct VersionObject(Version);

impl GoObject for VersionObject {
    fn type_name(&self) -> String {
        "*semver.Version".into()
    }

    fn kind(&self) -> Kind {
        Kind::Pointer
    }

    fn field(&self, _name: &str) -> Option<Value> {
        None
    }

    fn method(&self, name: &str) -> Option<Signature> {
        match name {
            "Major" | "Minor" | "Patch" | "Prerelease" | "Metadata" | "Original" | "String" | "IncMajor"
            | "IncMinor" | "IncPatch" => Some(Signature::default()),
            "Compare" | "Equal" | "LessThan" | "GreaterThan" => Some(Signature::short("a")),
            _ => None,
        }
    }

    fn call(&self, _: &mut Machine<'_>, name: &str, args: &[Value]) -> Result<Value, Failure> {
        let version = &self.0;
        let number = |number: u64| Ok(Value::Uint(number));
        let next = |major: u64, minor: u64, patch: u64| {
            let text = format!("{major}.{minor}.{patch}");
            let version = Version::parse(&text).map_err(|error| Failure::new(error.to_string()))?;
            Ok(Value::Object(Rc::new(VersionObject(version))))
        };
        let other = || -> Result<Version, Failure> {
            let Some(Value::Object(object)) = args.first() else {
                return Err("not a version".into());
            };
            Version::parse(&object.display().unwrap_or_default()).map_err(|error| Failure::new(error.to_string()))
        };
        match name {
            "Major" => number(version.major),
            "Minor" => number(version.minor),
            "Patch" => number(version.patch),
            "Prerelease" => Ok(version.pre.as_str().into()),
            "Metadata" => Ok(version.metadata.as_str().into()),
            "Original" => Ok(version.original.as_str().into()),
            "String" => Ok(version.to_string().into()),
            "IncMajor" => next(version.major + 1, 0, 0),
            "IncMinor" => next(version.major, version.minor + 1, 0),
            "IncPatch" if version.pre.is_empty() => next(version.major, version.minor, version.patch + 1),
            "IncPatch" => next(version.major, version.minor, version.patch),
            "Compare" => Ok(Value::Int(version.compare(&other()?) as i64)),
            "Equal" => Ok(version.compare(&other()?).is_eq().into()),
            "LessThan" => Ok(version.compare(&other()?).is_lt().into()),
            "GreaterThan" => Ok(version.compare(&other()?).is_gt().into()),
            _ => Err(Failure::new(format!("no method {name}"))),
        }
    }

    fn display(&self) -> Option<String> {
        Some(self.0.to_string())
    }

    fn json(&self) -> Option<Value> {
        Some(self.0.to_string().into())
    }
}
