//! Turns `Impersonate-…` headers into the user to act as, if the caller may.
//!
//! Groups, uid or extra without a user are an error, never a fall-back to the caller's own rights.

use http::HeaderMap;

use crate::access::{Attributes, Authorizer, User};
use crate::authn::{ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, account_groups, account_of, add_group};
use crate::authz::forbidden;
use crate::status::Status;

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";

/// Group of the subjects' virtual resources besides core.
const AUTHENTICATION: &str = "authentication.k8s.io";

/// The user a request wants to act as; none without such headers.
///
/// # Errors
/// 400 for headers that name no user or are no text, 403 if `caller` may not act as that user or in one of the groups.
pub fn impersonate(
    headers: &HeaderMap,
    caller: &User,
    authorizer: &dyn Authorizer,
) -> Result<Option<User>, Box<Status>> {
    let Some(wanted) = wanted(headers)? else {
        return Ok(None);
    };
    for attributes in asked_for(&wanted) {
        let decision = authorizer.authorize(caller, &attributes);
        if !decision.allowed {
            return Err(Box::new(forbidden(caller, &attributes, &decision.reason)));
        }
    }
    Ok(Some(complete(wanted)))
}

/// The user as the headers name it.
fn wanted(headers: &HeaderMap) -> Result<Option<User>, Box<Status>> {
    let mut user = User {
        name: single(headers, USER)?.unwrap_or_default(),
        uid: single(headers, UID)?.unwrap_or_default(),
        ..User::default()
    };
    for value in headers.get_all(GROUP) {
        user.groups.push(text(value)?);
    }
    for (header, value) in headers {
        if let Some(key) = header.as_str().strip_prefix(EXTRA) {
            let key = percent_decoded(key).unwrap_or_else(|| key.to_owned()).to_lowercase();
            user.extra.entry(key).or_default().push(text(value)?);
        }
    }
    let nothing = user.uid.is_empty() && user.groups.is_empty() && user.extra.is_empty();
    match (user.name.is_empty(), nothing) {
        (false, _) => Ok(Some(user)),
        (true, true) if !headers.contains_key(USER) => Ok(None),
        (true, _) => Err(Box::new(Status::bad_request(
            "impersonation headers were sent without the name of a user to act as",
        ))),
    }
}

/// What the caller must be allowed to do, piece by piece.
fn asked_for(wanted: &User) -> Vec<Attributes> {
    let ask = |group: &str, resource: &str, name: &str| Attributes {
        verb: "impersonate".to_owned(),
        group: group.to_owned(),
        version: "v1".to_owned(),
        resource: resource.to_owned(),
        name: name.to_owned(),
        ..Attributes::default()
    };
    let mut all = Vec::new();
    match account_of(&wanted.name) {
        Some((namespace, name)) => {
            all.push(Attributes {
                namespace: namespace.to_owned(),
                ..ask("", "serviceaccounts", name)
            });
        }
        None => all.push(ask("", "users", &wanted.name)),
    }
    all.extend(wanted.groups.iter().map(|group| ask("", "groups", group)));
    for (key, values) in &wanted.extra {
        for value in values {
            all.push(Attributes {
                subresource: key.clone(),
                ..ask(AUTHENTICATION, "userextras", value)
            });
        }
    }
    if !wanted.uid.is_empty() {
        all.push(ask(AUTHENTICATION, "uids", &wanted.uid));
    }
    all
}

/// Adds the groups that come with the kind of user.
fn complete(mut user: User) -> User {
    if user.groups.is_empty()
        && let Some((namespace, _)) = account_of(&user.name)
    {
        user.groups = account_groups(namespace);
    }
    if user.name == ANONYMOUS {
        add_group(&mut user, UNAUTHENTICATED);
    } else if !user.groups.iter().any(|group| group == UNAUTHENTICATED) {
        add_group(&mut user, AUTHENTICATED);
    }
    user
}

fn single(headers: &HeaderMap, name: &str) -> Result<Option<String>, Box<Status>> {
    headers.get(name).map(text).transpose()
}

fn text(value: &http::HeaderValue) -> Result<String, Box<Status>> {
    String::from_utf8(value.as_bytes().to_vec())
        .map_err(|_| Box::new(Status::bad_request("an impersonation header is not valid UTF-8")))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if byte == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(byte);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}
