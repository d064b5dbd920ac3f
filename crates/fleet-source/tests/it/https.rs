//! Repositories behind HTTP and HTTPS with user, password and an authority of their own: what
//! gets in, what fails closed, and that credentials go to no other server and into no message.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fleet_source::child::{Error, Failure, Output, Request, Runner, Stage, Work};
use fleet_source::git::{Credentials, Limits, Source};

use crate::server::{self, Authority, Response, Server};
use crate::{repository, request, shell};

const USER: &str = "deployer";
const PASSWORD: &str = "correct-horse";
const WRONG: &str = "battery-staple";

/// The ways to do git work; both are to behave the same.
fn runners() -> [Runner; 2] {
    let child = env!("CARGO_BIN_EXE_fleet-source-test-child");
    [Runner::Program(child.into()), Runner::InProcess]
}

/// A directory with `app.git`, and the commit of its `master`.
fn served() -> (tempfile::TempDir, String) {
    let (dir, _) = repository(&[("app/cm.yaml", "kind: ConfigMap\n")]);
    shell(dir.path(), "git rev-parse HEAD > head && git clone -q --bare . app.git");
    let head = std::fs::read_to_string(dir.path().join("head")).unwrap();
    (dir, head.trim().to_owned())
}

/// A git server that wants user and password.
fn git_server(authority: Option<&Authority>, root: &Path) -> Server {
    let root = root.to_owned();
    Server::start(authority, move |request| {
        if request.is_from(USER, PASSWORD) {
            server::backend(&root, request, USER)
        } else {
            // Not all servers know how to keep a secret.
            Response::unauthorized(&format!("who is {}?", request.header("authorization")))
        }
    })
}

fn source(server: &Server, password: &str, ca_bundle: &str) -> Source {
    Source {
        url: format!("{}/app.git", server.base),
        credentials: Credentials {
            username: USER.to_owned(),
            password: password.to_owned(),
            ca_bundle: ca_bundle.to_owned(),
            ..Credentials::default()
        },
        ..Source::default()
    }
}

fn patient(request: Request) -> Request {
    let limits = Limits {
        total_seconds: 60,
        ..Limits::default()
    };
    Request { limits, ..request }
}

async fn resolve(runner: &Runner, source: &Source) -> Result<Output, Error> {
    let request = Request {
        work: Work::Resolve,
        ..request(source.clone(), &[])
    };
    runner.run(&patient(request)).await
}

async fn bundles(runner: &Runner, source: &Source) -> Result<Output, Error> {
    runner.run(&patient(request(source.clone(), &["app"]))).await
}

/// What the work itself says about why it failed.
fn failure(result: Result<Output, Error>) -> Failure {
    let failure = match result {
        Err(Error::Work(failure)) => Ok(failure),
        other => Err(other),
    };
    failure.expect("the work is to fail")
}

/// The commit is found and its bundle read.
async fn assert_works(runner: &Runner, source: &Source, head: &str) {
    assert_eq!(resolve(runner, source).await.unwrap().commit, head);
    let output = bundles(runner, source).await.unwrap();
    assert_eq!(output.commit, head);
    assert_eq!(output.bundles.len(), 1);
    let resources = &output.bundles[0].bundle.spec.resources;
    assert_eq!(resources.len(), 1);
    assert_eq!(resources[0].content, "kind: ConfigMap\n");
}

/// A failure that names the repository and gives no secret away.
fn assert_discreet(failure: &Failure, server: &Server, password: &str) {
    let place = format!("{}/app.git", server.base);
    assert!(failure.what.contains(&place), "{}", failure.what);
    for secret in [
        password.to_owned(),
        STANDARD.encode(password),
        STANDARD.encode(format!("{USER}:{password}")),
    ] {
        assert!(!failure.what.contains(&secret), "{}", failure.what);
    }
}

#[tokio::test]
async fn user_and_password_open_a_repository_over_http() {
    let (dir, head) = served();
    let server = git_server(None, dir.path());
    for runner in runners() {
        assert_works(&runner, &source(&server, PASSWORD, ""), &head).await;
    }
}

#[tokio::test]
async fn user_and_password_open_a_repository_over_https_with_its_own_authority() {
    let (dir, head) = served();
    let authority = Authority::new("ours");
    let server = git_server(Some(&authority), dir.path());
    for runner in runners() {
        assert_works(&runner, &source(&server, PASSWORD, &authority.pem), &head).await;
    }
}

#[tokio::test]
async fn user_and_password_in_the_address_count_too() {
    let (dir, head) = served();
    let server = git_server(None, dir.path());
    let host = server.base.trim_start_matches("http://");
    let with = |password: &str| Source {
        url: format!("http://{USER}:{password}@{host}/app.git"),
        ..Source::default()
    };
    for runner in runners() {
        assert_works(&runner, &with(PASSWORD), &head).await;
        let failure = failure(resolve(&runner, &with(WRONG)).await);
        assert_discreet(&failure, &server, WRONG);
    }
}

#[tokio::test]
async fn a_commit_that_is_no_tip_is_found_among_all_branches_of_an_old_server() {
    let (dir, first) = served();
    // So many branches that git compresses what it asks for.
    let branches = "for i in $(seq 40); do \
        git update-ref refs/heads/b$i $(echo $i | git -c user.name=n -c user.email=a@b commit-tree -p $0 $0^{tree}); \
        done; git update-ref refs/heads/master refs/heads/b1";
    let git = dir.path().join("app.git");
    shell(&git, &branches.replace("$0", &first));
    let root = dir.path().to_owned();
    let server = Server::start(None, move |request| {
        let mut request = request.clone();
        // A server of before protocol version 2.
        request.headers.remove("git-protocol");
        server::backend(&root, &request, "")
    });
    let source = Source {
        url: format!("{}/app.git", server.base),
        revision: first.clone(),
        ..Source::default()
    };
    for runner in runners() {
        assert_works(&runner, &source, &first).await;
    }
    let compressed = |request: &server::Request| request.header("content-encoding") == "gzip";
    assert!(server.requests().iter().any(compressed));
}

#[tokio::test]
async fn a_wrong_password_fails_without_being_told() {
    let (dir, _) = served();
    let authority = Authority::new("ours");
    for authority in [None, Some(&authority)] {
        let server = git_server(authority, dir.path());
        let source = source(&server, WRONG, authority.map_or("", |authority| &authority.pem));
        for runner in runners() {
            let resolving = failure(resolve(&runner, &source).await);
            assert_eq!(resolving.stage, Stage::Resolve);
            assert_discreet(&resolving, &server, WRONG);
            let fetching = failure(bundles(&runner, &source).await);
            assert_eq!(fetching.stage, Stage::Fetch);
            assert_discreet(&fetching, &server, WRONG);
        }
        // It was the password that was wrong.
        assert!(server.requests().iter().any(|request| request.is_from(USER, WRONG)));
    }
}

#[tokio::test]
async fn an_unknown_authority_gets_no_request() {
    let (dir, _) = served();
    let (ours, theirs) = (Authority::new("ours"), Authority::new("theirs"));
    let server = git_server(Some(&theirs), dir.path());
    for runner in runners() {
        for trusted in ["", &ours.pem] {
            let failure = failure(resolve(&runner, &source(&server, PASSWORD, trusted)).await);
            assert_discreet(&failure, &server, PASSWORD);
            assert!(failure.what.contains("certificate"), "{}", failure.what);
        }
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn any_authority_will_do_where_checking_is_switched_off() {
    let (dir, head) = served();
    let server = git_server(Some(&Authority::new("theirs")), dir.path());
    let mut source = source(&server, PASSWORD, "");
    source.credentials.insecure_skip_tls_verify = true;
    for runner in runners() {
        assert_works(&runner, &source, &head).await;
    }
}

#[tokio::test]
async fn a_redirect_to_another_server_takes_no_credentials_along() {
    let authority = Authority::new("ours");
    for (secure, knows_us_first) in [(false, false), (false, true), (true, true)] {
        let other = Server::start(None, |_| Response::unauthorized("who are you?"));
        let target = other.base.clone();
        let server = Server::start(secure.then_some(&authority), move |request| {
            if knows_us_first && !request.is_from(USER, PASSWORD) {
                Response::unauthorized("who are you?")
            } else {
                Response::redirect(request, &target)
            }
        });
        for runner in runners() {
            let source = source(&server, PASSWORD, &authority.pem);
            let failure = failure(resolve(&runner, &source).await);
            assert_discreet(&failure, &server, PASSWORD);
        }
        let asked = other.requests();
        assert!(!asked.is_empty(), "the redirect is followed");
        for request in asked {
            assert_eq!(request.header("authorization"), "", "{request:?}");
        }
    }
}

#[tokio::test]
async fn sources_do_not_share_their_authorities() {
    let (dir, head) = served();
    let (first, second) = (Authority::new("first"), Authority::new("second"));
    let (one, two) = (
        git_server(Some(&first), dir.path()),
        git_server(Some(&second), dir.path()),
    );
    for runner in runners() {
        let (right, wrong) = (source(&one, PASSWORD, &first.pem), source(&two, PASSWORD, &first.pem));
        // At the same time, and after the other has been trusted.
        let (works, fails) = tokio::join!(resolve(&runner, &right), resolve(&runner, &wrong));
        assert_eq!(works.unwrap().commit, head);
        assert_discreet(&failure(fails), &two, PASSWORD);
        assert_works(&runner, &source(&two, PASSWORD, &second.pem), &head).await;
        assert_discreet(&failure(resolve(&runner, &wrong).await), &two, PASSWORD);
        let crossed = source(&one, PASSWORD, &second.pem);
        assert_discreet(&failure(resolve(&runner, &crossed).await), &one, PASSWORD);
    }
}
