//! Who a request comes from.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Value, json};

use super::{Credentials, Request, Tokens, impersonate};
use crate::access::{Attributes, Authenticator, Authorizer, Decision, Peer, User};
use crate::options::{SystemClock, SystemRandom};
use crate::store::memory::Memory;
use crate::store::{Expect, Store, Write};
use crate::tls::Pki;
use crate::token::{ISSUER, Kind, ObjectRef, Signer};

struct World {
    store: Arc<Memory>,
    tokens: Arc<Tokens>,
    credentials: Credentials,
}

impl World {
    fn new() -> Self {
        let store = Arc::new(Memory::new(10));
        let pki = Arc::new(Pki::open(None, &[], jiff::Timestamp::now()).unwrap());
        let signer = Signer::new(pki.account_key_pem()).unwrap();
        let tokens = Arc::new(Tokens::new(
            signer,
            store.clone(),
            Arc::new(SystemClock),
            Arc::new(SystemRandom),
        ));
        let credentials = Credentials::new(pki, tokens.clone(), Arc::new(SystemClock));
        let world = Self {
            store,
            tokens,
            credentials,
        };
        world.put("/core/serviceaccounts/a/sa", Some(&json!({"metadata": {"uid": "u1"}})));
        world
    }

    fn put(&self, key: &str, object: Option<&Value>) {
        let expect = match self.store.get(key).unwrap() {
            Some(entry) => Expect::Revision(entry.modified),
            None => Expect::Absent,
        };
        let value = object.map(|object| Bytes::from(object.to_string()));
        futures::executor::block_on(self.store.write(Write {
            key: key.into(),
            expect,
            value,
        }))
        .unwrap();
    }

    fn request(&self, authorization: Option<&str>) -> Result<User, u16> {
        let mut request = http::Request::builder();
        if let Some(text) = authorization {
            request = request.header("authorization", text);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        self.credentials
            .authenticate(&parts, &Peer::default())
            .map_err(|status| status.code)
    }

    fn bound(&self, audiences: &[&str], object: Option<(Kind, ObjectRef)>) -> String {
        let audiences = audiences.iter().map(ToString::to_string).collect();
        let account = ObjectRef {
            name: "sa".into(),
            uid: "u1".into(),
        };
        self.tokens
            .issue(Request {
                namespace: "a",
                account,
                audiences,
                seconds: 600,
                object,
            })
            .unwrap()
            .0
    }
}

#[test]
fn without_credentials_a_request_is_anonymous() {
    let world = World::new();
    for header in [None, Some("Basic eDp5"), Some("Bearer"), Some("Bearer ")] {
        assert_eq!(world.request(header), Ok(User::anonymous()), "{header:?}");
    }
}

#[test]
fn a_bad_token_is_refused_and_never_anonymous() {
    let world = World::new();
    for token in ["x", "a.b.c", "Bearer"] {
        assert_eq!(world.request(Some(&format!("Bearer {token}"))), Err(401));
    }
}

#[test]
fn a_bound_token_is_its_account_until_the_account_is_another() {
    let world = World::new();
    let header = format!("bearer {}", world.bound(&[ISSUER, "elsewhere"], None));
    let user = world.request(Some(&header)).unwrap();
    assert_eq!(
        (user.name.as_str(), user.uid.as_str()),
        ("system:serviceaccount:a:sa", "u1")
    );
    assert_eq!(
        user.groups,
        [
            "system:serviceaccounts",
            "system:serviceaccounts:a",
            "system:authenticated"
        ]
    );
    assert!(user.extra["authentication.kubernetes.io/credential-id"][0].starts_with("JTI="));

    world.put("/core/serviceaccounts/a/sa", None);
    assert_eq!(world.request(Some(&header)), Err(401));
    world.put("/core/serviceaccounts/a/sa", Some(&json!({"metadata": {"uid": "u2"}})));
    assert_eq!(world.request(Some(&header)), Err(401));
}

#[test]
fn a_token_for_somebody_else_is_refused() {
    let world = World::new();
    assert_eq!(
        world.request(Some(&format!("Bearer {}", world.bound(&["elsewhere"], None)))),
        Err(401)
    );
    let error = super::Error::Audience {
        found: vec!["a".to_owned()],
        wanted: vec!["b".to_owned()],
    };
    let told = r#"token audiences ["a"] is invalid for the target audiences ["b"]"#;
    assert_eq!(error.to_string(), told);
}

#[test]
fn a_token_bound_to_a_pod_dies_with_the_pod() {
    let world = World::new();
    let object = Some((
        Kind::Pod,
        ObjectRef {
            name: "p".into(),
            uid: "v".into(),
        },
    ));
    let header = format!("Bearer {}", world.bound(&[ISSUER], object));
    assert_eq!(world.request(Some(&header)), Err(401));
    world.put("/core/pods/a/p", Some(&json!({"metadata": {"uid": "v"}})));
    let user = world.request(Some(&header)).unwrap();
    assert_eq!(user.extra["authentication.kubernetes.io/pod-name"], ["p"]);
    world.put("/core/pods/a/p", Some(&json!({"metadata": {"uid": "w"}})));
    assert_eq!(world.request(Some(&header)), Err(401));
}

#[test]
fn a_legacy_token_lives_with_its_secret() {
    let world = World::new();
    let account = ObjectRef {
        name: "sa".into(),
        uid: "u1".into(),
    };
    let token = world.tokens.issue_legacy("a", account, "s").unwrap();
    let header = format!("Bearer {token}");
    assert_eq!(world.request(Some(&header)), Err(401));
    world.put(
        "/core/secrets/a/s",
        Some(&json!({"data": {"token": STANDARD.encode(&token)}})),
    );
    let user = world.request(Some(&header)).unwrap();
    assert_eq!(
        (user.name.as_str(), user.extra.len()),
        ("system:serviceaccount:a:sa", 0)
    );
    world.put(
        "/core/secrets/a/s",
        Some(&json!({"data": {"token": STANDARD.encode("other")}})),
    );
    assert_eq!(world.request(Some(&header)), Err(401));
    world.put("/core/secrets/a/s", None);
    assert_eq!(world.request(Some(&header)), Err(401));
}

/// Lets impersonate what is in the list.
struct Only(&'static [&'static str]);

impl Authorizer for Only {
    fn authorize(&self, _: &User, asked: &Attributes) -> Decision {
        let text = format!(
            "{}/{}/{}/{}",
            asked.namespace, asked.resource, asked.subresource, asked.name
        );
        Decision {
            allowed: asked.verb == "impersonate" && self.0.contains(&text.as_str()),
            reason: String::new(),
        }
    }
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, value.parse().unwrap());
    }
    headers
}

#[test]
fn impersonation_needs_a_right_for_each_part() {
    const ALL: &[&str] = &["/users//bob", "/groups//devs", "/uids//7", "/userextras/a b/view"];
    let asked = headers(&[
        ("impersonate-user", "bob"),
        ("impersonate-group", "devs"),
        ("impersonate-uid", "7"),
        ("impersonate-extra-a%20b", "view"),
    ]);
    let user = impersonate(&asked, &User::anonymous(), &Only(ALL)).unwrap().unwrap();
    assert_eq!((user.name.as_str(), user.uid.as_str()), ("bob", "7"));
    assert_eq!(user.groups, ["devs", "system:authenticated"]);
    assert_eq!(user.extra["a b"], ["view"]);
    for missing in 0..ALL.len() {
        let some: Vec<&str> = ALL
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != missing)
            .map(|(_, one)| *one)
            .collect();
        let refused = impersonate(&asked, &User::anonymous(), &Only(some.leak())).unwrap_err();
        assert_eq!(refused.code, 403, "{missing}");
    }
}

#[test]
fn impersonation_without_a_user_is_an_error_and_without_headers_nothing() {
    assert_eq!(
        impersonate(&HeaderMap::new(), &User::admin(), &Only(&[])).unwrap(),
        None
    );
    for pairs in [
        &[("impersonate-group", "devs")][..],
        &[("impersonate-uid", "1")],
        &[("impersonate-extra-x", "1")],
        &[("impersonate-user", "")],
        &[("impersonate-user", ""), ("impersonate-group", "system:masters")],
    ] {
        assert_eq!(
            impersonate(&headers(pairs), &User::admin(), &Only(&[]))
                .unwrap_err()
                .code,
            400,
            "{pairs:?}"
        );
    }
}

#[test]
fn accounts_and_nobody_get_their_groups() {
    let groups = |name: &str, right: &'static [&'static str]| {
        impersonate(&headers(&[("impersonate-user", name)]), &User::admin(), &Only(right))
            .unwrap()
            .unwrap()
            .groups
    };
    assert_eq!(
        groups("system:serviceaccount:a:sa", &["a/serviceaccounts//sa"]),
        [
            "system:serviceaccounts",
            "system:serviceaccounts:a",
            "system:authenticated"
        ]
    );
    assert_eq!(
        groups("system:anonymous", &["/users//system:anonymous"]),
        ["system:unauthenticated"]
    );
}
