//! The address of a repository and the names of branches: checked before git sees them, with
//! user and password taken out.

use super::Source;
use super::command::Error;

/// How git reaches a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// `http://`, `https://`
    Http,
    /// `ssh://`, `user@host:path`
    Ssh,
    /// `file://` or a path
    File,
}

/// An address that may be handed to git and shown to users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// Without user and password for HTTP.
    pub(super) url: String,
    pub(super) protocol: Protocol,
    /// User and password that were in the address.
    pub(super) user: Option<(String, String)>,
}

impl Address {
    /// Scheme and host, where credentials may go; "" if there is none.
    pub(super) fn origin(&self) -> &str {
        let Some(start) = self.url.find("://").map(|at| at + 3) else {
            return "";
        };
        let end = self.url[start..].find('/').map_or(self.url.len(), |at| start + at);
        &self.url[..end]
    }
}

/// Checks the address of a source.
pub(super) fn address(source: &Source) -> Result<Address, Error> {
    let url = source.url.trim();
    let refuse = |why: &'static str| Error::Refuse {
        what: "repository address",
        text: hide_user(url),
        why,
    };
    if url.is_empty() {
        return Err(refuse("it is empty"));
    }
    if url.starts_with('-') {
        return Err(refuse("it begins with a dash"));
    }
    if url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(refuse("it contains white space or control characters"));
    }
    if let Some((scheme, rest)) = url.split_once("://") {
        let scheme = scheme.to_ascii_lowercase();
        let protocol = match scheme.as_str() {
            "http" | "https" => Protocol::Http,
            "ssh" | "git+ssh" => Protocol::Ssh,
            "file" if source.allow_file => Protocol::File,
            _ => return Err(refuse("only https, http and ssh are allowed")),
        };
        let authority = rest.split('/').next().unwrap_or_default();
        if protocol == Protocol::Ssh && authority.rsplit('@').next().unwrap_or_default().starts_with('-') {
            return Err(refuse("the host begins with a dash"));
        }
        let (user, url) = match authority.rsplit_once('@').filter(|_| protocol == Protocol::Http) {
            Some((user, host)) => {
                let (name, password) = user.split_once(':').unwrap_or((user, ""));
                let user = (percent_decoded(name), percent_decoded(password));
                (Some(user), format!("{scheme}://{host}{}", &rest[authority.len()..]))
            }
            None => (None, format!("{scheme}://{rest}")),
        };
        return Ok(Address { url, protocol, user });
    }
    if url.starts_with('/') || url.starts_with('.') {
        return if source.allow_file {
            Ok(Address {
                url: url.to_owned(),
                protocol: Protocol::File,
                user: None,
            })
        } else {
            Err(refuse("only https, http and ssh are allowed"))
        };
    }
    // user@host:path. A second colon right after the first is git's syntax for a remote helper.
    match url.split_once(':') {
        Some((host, path)) if !host.contains('/') && !path.starts_with(':') && !path.is_empty() => {
            if host.rsplit('@').next().unwrap_or_default().starts_with('-') {
                return Err(refuse("the host begins with a dash"));
            }
            Ok(Address {
                url: url.to_owned(),
                protocol: Protocol::Ssh,
                user: None,
            })
        }
        _ => Err(refuse("it is neither a URL nor user@host:path")),
    }
}

/// Checks a branch, tag or commit; the rules are those of git for references.
pub(super) fn reference<'a>(what: &'static str, name: &'a str) -> Result<&'a str, Error> {
    let refuse = |why: &'static str| {
        Err(Error::Refuse {
            what,
            text: name.to_owned(),
            why,
        })
    };
    if name.is_empty() || name.len() > 255 {
        return refuse("it is empty or longer than 255 bytes");
    }
    if name.starts_with(['-', '.', '/']) || name.ends_with(['/', '.']) || name.ends_with(".lock") || name == "@" {
        return refuse("it begins or ends with characters that git does not allow");
    }
    if name.contains("..") || name.contains("//") || name.contains("/.") || name.contains("@{") {
        return refuse("it contains a sequence that git does not allow");
    }
    if name.contains(['?', '*', '[', '\\', ' ', '~', '^', ':']) || name.chars().any(char::is_control) {
        return refuse("it contains characters that git does not allow");
    }
    Ok(name)
}

/// Whether this is a full commit id.
pub(super) fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// An address for messages.
pub(crate) fn hide_user(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find('/').unwrap_or(rest.len());
            match rest[..end].rfind('@') {
                Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
                None => url.to_owned(),
            }
        }
        None => url.to_owned(),
    }
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(url: &str) -> Source {
        Source {
            url: url.to_owned(),
            ..Source::default()
        }
    }

    #[test]
    fn user_and_password_leave_the_address() {
        let address = address(&source("https://me:p%40ss@example.com:8443/a/b")).unwrap();
        assert_eq!(address.url, "https://example.com:8443/a/b");
        assert_eq!(address.user, Some(("me".to_owned(), "p@ss".to_owned())));
        assert_eq!(address.origin(), "https://example.com:8443");
    }

    #[test]
    fn only_known_ways_are_taken() {
        for url in [
            "ext::sh -c x",
            "ext::sh",
            "-u",
            "file:///etc",
            "/etc",
            "git://h/x",
            "",
            "ssh://-o/x",
            "-oProxy@h:x",
            "u@-h:x",
            "https://h/ x",
        ] {
            assert!(address(&source(url)).is_err(), "{url}");
        }
        assert_eq!(
            address(&source("git@github.com:a/b.git")).unwrap().protocol,
            Protocol::Ssh
        );
        let local = Source {
            allow_file: true,
            ..source("file:///srv/x")
        };
        assert_eq!(address(&local).unwrap().protocol, Protocol::File);
    }

    #[test]
    fn messages_hide_the_user() {
        let error = address(&source("ftp://u:secret@h/x")).unwrap_err();
        assert!(!error.to_string().contains("secret"));
    }

    #[test]
    fn references_follow_gits_rules() {
        for name in ["main", "feature/x", "v1.0", "a@b"] {
            assert!(reference("branch", name).is_ok(), "{name}");
        }
        for name in ["", "-x", "a..b", "a b", "x.lock", "@", "a^", ".a", "a/.b", "a\n"] {
            assert!(reference("branch", name).is_err(), "{name}");
        }
    }
}
