//! The text of `helm.chart` without a repository → where the chart is. The syntax is upstream's
//! own (it looks like go-getter's): `git::`, `ssh::`, `http::`, `https::` in front, `//directory`
//! inside, `?ref=` and other settings behind, three hosts by short name.

/// Where a chart is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// In a git repository.
    Git {
        /// Address of the repository.
        url: String,
        /// Branch, tag or commit; the default branch if empty.
        reference: String,
        /// Directory in the repository, or "".
        directory: String,
    },
    /// Behind an address.
    Http {
        /// Address, without the settings below.
        url: String,
        /// `algorithm:hex`, or "".
        checksum: String,
        /// Directory in the archive, or "".
        directory: String,
    },
    /// In the repository.
    Local(String),
}

/// Hosts with short names: everything after the third part is a directory.
const HOSTS: [&str; 3] = ["github.com/", "gitlab.com/", "bitbucket.org/"];

pub(super) fn parse(text: &str) -> Location {
    let (forced, rest) = ["git", "ssh", "http", "https"]
        .iter()
        .find_map(|scheme| Some((Some(*scheme), text.strip_prefix(scheme)?.strip_prefix("::")?)))
        .unwrap_or((None, text));
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let setting = |name: &str| {
        query
            .split('&')
            .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
            .map(|(_, value)| value)
    };
    if forced.is_none() && HOSTS.iter().any(|host| address.starts_with(host)) {
        let parts: Vec<&str> = address.split('/').collect();
        let (repository, directory) = parts.split_at(parts.len().min(3));
        return Location::Git {
            url: format!("https://{}", repository.join("/")),
            reference: setting("ref").unwrap_or_default().to_owned(),
            directory: directory
                .iter()
                .copied()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("/"),
        };
    }
    let (address, directory) = split_directory(address);
    let scp = !address.contains("://")
        && address
            .split_once(':')
            .is_some_and(|(host, _)| host.contains('@') && !host.contains('/'));
    let scheme = address.split_once("://").map(|(scheme, _)| scheme);
    match (forced, scheme) {
        (Some("git" | "ssh"), _) | (None, Some("git" | "ssh")) => Location::Git {
            url: address.to_owned(),
            reference: setting("ref").unwrap_or_default().to_owned(),
            directory: directory.to_owned(),
        },
        (None, None) if scp => Location::Git {
            url: address.to_owned(),
            reference: setting("ref").unwrap_or_default().to_owned(),
            directory: directory.to_owned(),
        },
        (Some(_), _) | (None, Some("http" | "https")) => {
            let kept: Vec<&str> = query
                .split('&')
                .filter(|pair| !pair.is_empty() && !pair.starts_with("checksum=") && !pair.starts_with("archive="))
                .collect();
            let query = if kept.is_empty() {
                String::new()
            } else {
                format!("?{}", kept.join("&"))
            };
            Location::Http {
                url: format!("{address}{query}"),
                checksum: setting("checksum").unwrap_or_default().to_owned(),
                directory: directory.to_owned(),
            }
        }
        _ => Location::Local(text.to_owned()),
    }
}

/// Splits at `//`, not counting that of the scheme.
fn split_directory(address: &str) -> (&str, &str) {
    let start = address.find("://").map_or(0, |at| at + 3);
    match address[start..].find("//") {
        Some(at) => (&address[..start + at], address[start + at + 2..].trim_matches('/')),
        None => (address, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(url: &str, reference: &str, directory: &str) -> Location {
        Location::Git {
            url: url.to_owned(),
            reference: reference.to_owned(),
            directory: directory.to_owned(),
        }
    }

    #[test]
    fn locations_are_read_as_upstream_reads_them() {
        assert_eq!(
            parse("git::https://h/r.git//a/b?ref=v1&depth=1"),
            git("https://h/r.git", "v1", "a/b")
        );
        assert_eq!(
            parse("github.com/o/r/sub/dir?ref=x"),
            git("https://github.com/o/r", "x", "sub/dir")
        );
        assert_eq!(parse("git@h:o/r//c"), git("git@h:o/r", "", "c"));
        assert_eq!(parse("ssh://git@h/r"), git("ssh://git@h/r", "", ""));
        assert_eq!(
            parse("https://h/c.tgz//sub?checksum=sha256:ab&x=1"),
            Location::Http {
                url: "https://h/c.tgz?x=1".to_owned(),
                checksum: "sha256:ab".to_owned(),
                directory: "sub".to_owned()
            }
        );
        assert_eq!(parse("./charts/a"), Location::Local("./charts/a".to_owned()));
    }
}
