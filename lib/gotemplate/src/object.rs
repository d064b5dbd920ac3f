//! Go values that are neither plain data nor functions: structs and named types with fields and methods, such as
//! Helm's `.Files` and `.Capabilities`.

use std::sync::Arc;

use crate::failure::Failure;
use crate::function::Signature;
use crate::machine::Machine;
use crate::value::Value;

/// The `reflect.Kind` of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A struct; its fields are found by `field`.
    Struct,
    /// A pointer to a struct.
    Pointer,
    /// A map type with methods; entries are found by `field`, a missing one is the zero value.
    Map,
    /// A slice type with methods.
    Slice,
    /// A function.
    Func,
}

impl Kind {
    /// The kind as Go prints it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Struct => "struct",
            Self::Pointer => "ptr",
            Self::Map => "map",
            Self::Slice => "slice",
            Self::Func => "func",
        }
    }
}

/// A Go value with fields and methods.
pub trait GoObject {
    /// The type as `%T` prints it.
    fn type_name(&self) -> String;

    /// The kind of the type.
    fn kind(&self) -> Kind {
        Kind::Struct
    }

    /// The field (or map entry) of that name.
    fn field(&self, name: &str) -> Option<Value>;

    /// The parameters of the method of that name, if there is one.
    fn method(&self, _name: &str) -> Option<Signature> {
        None
    }

    /// Calls a method that `method` has announced, with checked arguments.
    ///
    /// # Errors
    /// Whatever the method fails with; it becomes `error calling NAME: …`.
    fn call(&self, _machine: &mut Machine<'_>, name: &str, _args: &[Value]) -> Result<Value, Failure> {
        Err(Failure::new(format!("no method {name}")))
    }

    /// Entries in the order of iteration: fields of a struct, entries of a map, items of a slice (keys are indexes).
    fn entries(&self) -> Vec<(Value, Value)> {
        Vec::new()
    }

    /// `%v` of the value, where it isn't the listing of its entries (a type with a `String` method).
    fn display(&self) -> Option<String> {
        None
    }

    /// What `encoding/json` makes of the value, where it isn't an object of its entries.
    fn json(&self) -> Option<Value> {
        None
    }

    /// Whether a condition on it holds. Structs and pointers always do.
    fn truth(&self) -> bool {
        match self.kind() {
            Kind::Struct | Kind::Pointer | Kind::Func => true,
            Kind::Map | Kind::Slice => !self.entries().is_empty(),
        }
    }

    /// The bytes, for an object that wraps binary data.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }
}

/// `[]uint8`: binary data, such as a file's content.
pub struct Bytes(pub Arc<Vec<u8>>);

impl GoObject for Bytes {
    fn type_name(&self) -> String {
        "[]uint8".into()
    }

    fn kind(&self) -> Kind {
        Kind::Slice
    }

    fn field(&self, _name: &str) -> Option<Value> {
        None
    }

    fn entries(&self) -> Vec<(Value, Value)> {
        let byte = |byte: &u8| Value::Sized(crate::value::Width::Byte, i64::from(*byte));
        (0..).map(Value::Int).zip(self.0.iter().map(byte)).collect()
    }

    fn json(&self) -> Option<Value> {
        use base64::Engine as _;
        Some(
            base64::engine::general_purpose::STANDARD
                .encode(self.0.as_slice())
                .into(),
        )
    }

    fn truth(&self) -> bool {
        !self.0.is_empty()
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(&self.0)
    }
}
