//! How the API's types travel: Go's `encoding/json` rules for structs, as serde attributes.
//!
//! A Go struct field tagged `omitempty` vanishes when it holds its zero value, an explicit
//! `null` reads as the zero value, and fields keep the order of the struct. Hashes (deployment
//! ids, content names) are taken over such JSON, so the order of fields in [`go_struct!`] is
//! part of the wire format.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serializer};

/// Whether a value is what Go calls the zero value, and `omitempty` therefore drops it.
/// Structs are never zero: Go's `omitempty` does not drop them.
pub trait GoZero {
    /// True for `""`, `0`, `false`, nil pointers, empty lists and maps.
    fn go_zero(&self) -> bool;
}

impl GoZero for String {
    fn go_zero(&self) -> bool {
        self.is_empty()
    }
}
impl GoZero for bool {
    fn go_zero(&self) -> bool {
        !*self
    }
}
impl GoZero for i32 {
    fn go_zero(&self) -> bool {
        *self == 0
    }
}
impl GoZero for i64 {
    fn go_zero(&self) -> bool {
        *self == 0
    }
}
impl<T> GoZero for Option<T> {
    fn go_zero(&self) -> bool {
        self.is_none()
    }
}
impl<T> GoZero for Vec<T> {
    fn go_zero(&self) -> bool {
        self.is_empty()
    }
}
impl GoZero for serde_json::Map<String, serde_json::Value> {
    fn go_zero(&self) -> bool {
        self.is_empty()
    }
}
impl<K, V> GoZero for BTreeMap<K, V> {
    fn go_zero(&self) -> bool {
        self.is_empty()
    }
}

/// Reads `null` as the default value, as Go does.
///
/// # Errors
/// Whatever the value itself refuses.
pub(crate) fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Writes a selector with its fields in the order of Go's struct (labels first); it is hashed.
///
/// # Errors
/// Whatever the serializer refuses.
pub(crate) fn selector_in_go_order<S: Serializer>(
    selector: &Option<LabelSelector>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let Some(selector) = selector else {
        return serializer.serialize_none();
    };
    let mut map = serializer.serialize_map(None)?;
    if let Some(labels) = selector.match_labels.as_ref().filter(|labels| !labels.is_empty()) {
        map.serialize_entry("matchLabels", labels)?;
    }
    if let Some(expressions) = selector
        .match_expressions
        .as_ref()
        .filter(|expressions| !expressions.is_empty())
    {
        map.serialize_entry("matchExpressions", expressions)?;
    }
    map.end()
}

/// Declares a struct that travels as a Go struct does. Fields under `flatten` are embedded
/// structs and come first; fields under `always` are written even when zero; fields under `omit`
/// carry `omitempty`. JSON keys are camelCase of the field name unless `#[serde(rename = "…")]`
/// says otherwise. `null` reads as zero everywhere. Doc comments become descriptions of the CRD.
macro_rules! go_struct {
    (
        $(#[$($meta:tt)*])*
        pub struct $name:ident {
            $(flatten { $( $(#[$($fmeta:tt)*])* $ffield:ident : $ftype:ty, )* })?
            $(always { $( $(#[$($ameta:tt)*])* $afield:ident : $atype:ty, )* })?
            omit { $( $(#[$($ometa:tt)*])* $ofield:ident : $otype:ty, )* }
        }
    ) => {
        $(#[$($meta)*])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(
                $(#[$($fmeta)*])*
                #[serde(flatten)]
                pub $ffield: $ftype,
            )*)?
            $($(
                $(#[$($ameta)*])*
                #[serde(default, deserialize_with = "crate::wire::null_default")]
                pub $afield: $atype,
            )*)?
            $(
                $(#[$($ometa)*])*
                #[serde(
                    default,
                    deserialize_with = "crate::wire::null_default",
                    skip_serializing_if = "crate::wire::GoZero::go_zero"
                )]
                pub $ofield: $otype,
            )*
        }

        impl crate::wire::GoZero for $name {
            fn go_zero(&self) -> bool {
                false
            }
        }

        impl crate::schema::Described for $name {
            fn schema() -> serde_json::Value {
                #[allow(unused_mut, reason = "a struct may have no fields")]
                let mut object = crate::schema::Object::new(stringify!($name));
                $($( object.embed(<$ftype as crate::schema::Described>::schema()); )*)?
                $($(
                    object.field(
                        stringify!($afield),
                        &[$(stringify!($($ameta)*)),*],
                        <$atype as crate::schema::Described>::schema(),
                    );
                )*)?
                $(
                    object.field(
                        stringify!($ofield),
                        &[$(stringify!($($ometa)*)),*],
                        <$otype as crate::schema::Described>::schema(),
                    );
                )*
                object.finish(&[$(stringify!($($meta)*)),*])
            }
        }
    };
}
pub(crate) use go_struct;

/// Declares a kind of the group `fleet.cattle.io/v1alpha1`: the object with its metadata and
/// the named top-level fields, readable and writable by `kube::Api` (dynamic type `()`).
macro_rules! kind {
    (
        $(#[$($meta:tt)*])*
        $name:ident, plural $plural:literal, scope $scope:ident {
            $( $(#[$($fmeta:tt)*])* $field:ident : $ty:ty => $json:literal, )*
        }
    ) => {
        $(#[$($meta)*])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        pub struct $name {
            /// Standard object metadata.
            #[serde(default)]
            pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            $(
                $(#[$($fmeta)*])*
                #[serde(rename = $json, default, deserialize_with = "crate::wire::null_default")]
                pub $field: $ty,
            )*
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("apiVersion", <Self as k8s_openapi::Resource>::API_VERSION)?;
                map.serialize_entry("kind", <Self as k8s_openapi::Resource>::KIND)?;
                map.serialize_entry("metadata", &self.metadata)?;
                $(
                    if !crate::wire::GoZero::go_zero(&self.$field) {
                        map.serialize_entry($json, &self.$field)?;
                    }
                )*
                map.end()
            }
        }

        impl k8s_openapi::Resource for $name {
            const API_VERSION: &'static str = "fleet.cattle.io/v1alpha1";
            const GROUP: &'static str = "fleet.cattle.io";
            const KIND: &'static str = stringify!($name);
            const VERSION: &'static str = "v1alpha1";
            const URL_PATH_SEGMENT: &'static str = $plural;
            type Scope = k8s_openapi::$scope;
        }

        impl k8s_openapi::Metadata for $name {
            type Ty = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
            fn metadata(&self) -> &Self::Ty {
                &self.metadata
            }
            fn metadata_mut(&mut self) -> &mut Self::Ty {
                &mut self.metadata
            }
        }

        impl crate::schema::Described for $name {
            fn schema() -> serde_json::Value {
                let mut object = crate::schema::Object::new(stringify!($name));
                $(
                    object.keyed($json, &[$(stringify!($($fmeta)*)),*], <$ty as crate::schema::Described>::schema());
                )*
                object.finish(&[$(stringify!($($meta)*)),*])
            }
        }

        impl $name {
            /// An object of this kind with the given name and everything else empty.
            #[must_use]
            pub fn named(name: &str) -> Self {
                Self {
                    metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                        name: Some(name.to_owned()),
                        ..Default::default()
                    },
                    ..Default::default()
                }
            }
        }
    };
}
pub(crate) use kind;
