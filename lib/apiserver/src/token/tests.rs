//! What is and is not accepted as a token.

use jiff::{Timestamp, ToSpan};

use super::{Bound, Claims, Error, Kind, ObjectRef, Shape, Signer};

fn signer() -> Signer {
    Signer::new(&rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap()
}

fn now() -> Timestamp {
    "2030-01-02T03:04:05Z".parse().unwrap()
}

fn claims(shape: Shape) -> Claims {
    Claims {
        namespace: "team".into(),
        account: ObjectRef {
            name: "sa".into(),
            uid: "u".into(),
        },
        shape,
    }
}

fn bound() -> Claims {
    let issued = now().as_second();
    claims(Shape::Bound(Bound {
        audiences: vec![super::ISSUER.into()],
        issued,
        expires: issued + 600,
        id: "j".into(),
        object: Some((
            Kind::Pod,
            ObjectRef {
                name: "p".into(),
                uid: "v".into(),
            },
        )),
    }))
}

#[test]
fn a_token_says_what_was_signed() {
    let signer = signer();
    for claims in [bound(), claims(Shape::Legacy("s".into()))] {
        let token = signer.sign(&claims).unwrap();
        for _ in 0..2 {
            assert_eq!(*signer.verify(&token, now()).unwrap(), claims);
        }
    }
}

#[test]
fn a_bound_token_ends_and_a_legacy_one_does_not() {
    let signer = signer();
    let token = signer.sign(&bound()).unwrap();
    signer.verify(&token, now()).unwrap();
    assert!(matches!(signer.verify(&token, now() + 600.seconds()), Err(Error::Time)));
    assert!(matches!(signer.verify(&token, now() - 600.seconds()), Err(Error::Time)));
    let token = signer.sign(&claims(Shape::Legacy("s".into()))).unwrap();
    signer.verify(&token, now() + 100_000.hours()).unwrap();
}

#[test]
fn a_changed_token_is_refused() {
    let signer = signer();
    let token = signer.sign(&bound()).unwrap();
    let [header, payload, signature]: [&str; 3] = token.split('.').collect::<Vec<_>>().try_into().unwrap();
    let other = self::signer().sign(&bound()).unwrap();
    for changed in [
        format!("{token}x"),
        format!("x{token}"),
        format!("{token}.x"),
        format!("{header}.{payload}."),
        format!("{header}.{}.{signature}", &payload[..payload.len() - 4]),
        // {"alg":"none"}
        format!("eyJhbGciOiJub25lIn0.{payload}."),
        other,
        String::new(),
        "..".into(),
    ] {
        assert!(signer.verify(&changed, now()).is_err(), "{changed}");
    }
}
