//! Who containers run as, and what they may do.

use super::super::place::{Errors, Place};

/// The identity all containers share.
pub(crate) fn pod(context: &Place<'_>, errors: &mut Errors) {
    for field in ["runAsUser", "runAsGroup", "fsGroup"] {
        identity(&context.at(field), errors);
    }
    for group in context.each("supplementalGroups") {
        identity(&group, errors);
    }
    let mut seen = Vec::new();
    for setting in context.each("sysctls") {
        let name = setting.at("name");
        if name.empty() {
            errors.push(name.required(""));
        } else if !is_kernel_setting(name.own()) {
            let why = "must have at most 253 characters and match regex \
                       ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
            errors.push(name.invalid(why));
        } else if seen.contains(&name.own()) {
            errors.push(name.duplicate());
        }
        seen.push(name.value.as_str().unwrap_or_default());
    }
}

fn identity(place: &Place<'_>, errors: &mut Errors) {
    let why = "must be between 0 and 2147483647, inclusive";
    place.within(0..=i64::from(i32::MAX), why, errors);
}

fn is_kernel_setting(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    name.len() <= 253
        && name.split(['.', '/']).all(|part| {
            let bytes = part.as_bytes();
            bytes.first().is_some_and(|b| plain(*b))
                && bytes.last().is_some_and(|b| plain(*b))
                && bytes.iter().all(|b| plain(*b) || matches!(b, b'-' | b'_'))
        })
}

/// Settings of the kernel that a pod shares with its node are not its own.
pub(super) fn shared_kernel(spec: &Place<'_>, errors: &mut Errors) {
    for setting in spec.at("securityContext").each("sysctls") {
        let name = setting.at("name");
        let dotted = name.own().replace('/', ".");
        if spec.value["hostNetwork"] == true && dotted.starts_with("net.") {
            errors.push(name.invalid("may not be specified when 'hostNetwork' is true"));
        }
        let messages = ["kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue."];
        if spec.value["hostIPC"] == true && messages.iter().any(|prefix| dotted.starts_with(prefix)) {
            errors.push(name.invalid("may not be specified when 'hostIPC' is true"));
        }
    }
}

/// A container's own context.
pub(crate) fn container(context: &Place<'_>, errors: &mut Errors) {
    if context.value["allowPrivilegeEscalation"] != false {
        return;
    }
    if context.value["privileged"] == true {
        let why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.push(context.invalid(why));
    }
    if context
        .at("capabilities")
        .each("add")
        .iter()
        .any(|added| added.own() == "CAP_SYS_ADMIN")
    {
        let why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        errors.push(context.invalid(why));
    }
}

/// What tells one kind of profile from the other.
struct Sort {
    /// The field that holds it.
    field: &'static str,
    /// How its type is called in messages.
    called: &'static str,
    /// Whether a file without a type is refused twice.
    typed: bool,
}

/// Which system calls are allowed.
pub(crate) fn seccomp(place: &Place<'_>, errors: &mut Errors) {
    let sort = Sort {
        field: "seccompProfile",
        called: "seccomp type",
        typed: true,
    };
    if let Some(file) = profile(place, &sort, errors) {
        super::volume::relative(&file, errors);
    }
}

/// Which profile of the kernel's access control applies.
pub(crate) fn app_armor(place: &Place<'_>, errors: &mut Errors) {
    let sort = Sort {
        field: "appArmorProfile",
        called: "AppArmor type",
        typed: false,
    };
    if let Some(file) = profile(place, &sort, errors)
        && file.own().trim().is_empty()
    {
        errors.push(file.required("must be set when AppArmor type is Localhost"));
    }
}

/// Judges what profiles have in common; gives the file of one that lies on the node.
fn profile<'a>(profile: &Place<'a>, sort: &Sort, errors: &mut Errors) -> Option<Place<'a>> {
    let (kind, file) = (profile.at("type"), profile.at("localhostProfile"));
    let local = kind.own() == "Localhost";
    if kind.empty() {
        errors.push(kind.required(format!("type is required when {} is set", sort.field)));
    }
    if local && file.value.is_null() {
        errors.push(file.required(format!("must be set when {} is Localhost", sort.called)));
    } else if local {
        return Some(file);
    } else if !file.value.is_null() && (sort.typed || !kind.empty()) {
        let why = format!("can only be set when {} is Localhost", sort.called);
        errors.push(file.invalid(why));
    }
    None
}
