//! Case files: objects that come and go, and after each step what the plan says and why.
//!
//! `UPDATE_EXPECT=1` writes what the plan says now into the files; a reviewer reads the difference.

use std::path::Path;

use fleet_plan::{ClusterKey, GroupKey, Plan, Release, SourceKey, SourceKind};
use serde_json::{Map, Value, json};

use crate::fleet::Fleet;

#[test]
fn the_cases_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    #[expect(clippy::disallowed_methods, reason = "the switch that rewrites expectations")]
    let update = std::env::var("UPDATE_EXPECT").is_ok();
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let case = goyaml::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let found = played(&case);
        if update {
            std::fs::write(&file, goyaml::to_yaml(&found).unwrap()).unwrap();
        } else {
            let (want, got) = (goyaml::to_yaml(&case).unwrap(), goyaml::to_yaml(&found).unwrap());
            assert_eq!(want, got, "{}", file.display());
        }
    }
}

/// The case with the expectations that hold now.
fn played(case: &Value) -> Value {
    let mut case = case.clone();
    let mut fleet = Fleet::default();
    for step in case["steps"].as_array_mut().unwrap() {
        for object in step["given"].as_array().into_iter().flatten() {
            fleet.feed(object);
        }
        for home in step["reports"].as_array().into_iter().flatten() {
            let keys: Vec<_> = fleet
                .deployments
                .keys()
                .filter(|key| Some(key.namespace.as_str()) == home.as_str())
                .cloned()
                .collect();
            for key in keys {
                fleet.report(&key);
            }
        }
        let mut expect = Map::new();
        for bundle in fleet.bundles() {
            let plan = fleet.plan(&bundle);
            let mut told = told(&plan);
            let why = fleet.state.explain(&bundle).unwrap().clusters;
            if !why.is_empty() {
                let lines = why
                    .iter()
                    .map(|(cluster, reason)| (cluster.to_string(), json!(reason.to_string())));
                told.insert("explanation".to_owned(), Value::Object(lines.collect()));
            }
            fleet.carry_out(&plan);
            expect.insert(bundle.to_string(), Value::Object(told));
        }
        for wanted in step["rollups"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            let mut parts = wanted.split('/');
            let (kind, namespace, name) = (
                parts.next().unwrap(),
                parts.next().unwrap_or_default(),
                parts.next().unwrap_or_default(),
            );
            expect.insert(wanted.to_owned(), rollup(&fleet, kind, namespace, name));
        }
        step["expect"] = Value::Object(expect);
    }
    case
}

fn rollup(fleet: &Fleet, kind: &str, namespace: &str, name: &str) -> Value {
    let status = match kind {
        "Cluster" => fleet.state.cluster_rollup(&ClusterKey::new(namespace, name)).map(|rollup| {
            json!({"summary": rollup.summary, "display": rollup.ready_bundles, "state": rollup.state,
                "ready": rollup.ready_message, "gitRepos": format!("{}/{}", rollup.ready_git_repos, rollup.desired_ready_git_repos)})
        }),
        "ClusterGroup" => fleet
            .state
            .group_rollup(&GroupKey::new(namespace, name))
            .map(|rollup| json!({"status": rollup.status, "ready": rollup.ready_message})),
        "GitRepo" => fleet
            .state
            .source_rollup(&SourceKey::new(SourceKind::GitRepo, namespace, name))
            .map(|rollup| json!({"status": rollup.status, "ready": rollup.ready_message})),
        other => panic!("unknown roll-up {other}"),
    };
    status.unwrap_or_default()
}

fn told(plan: &Plan) -> Map<String, Value> {
    let mut told = Map::new();
    let deployments: Map<String, Value> = plan
        .deployments
        .iter()
        .map(|planned| {
            let action = if planned.create { "create" } else { "update" };
            let release = match planned.release {
                Release::Staged => "released",
                Release::Kept => "staged",
                Release::KeptWithDiff => "diff only",
            };
            let mut options = planned
                .staged
                .as_ref()
                .map(|(options, _)| json!(**options))
                .unwrap_or_default();
            if planned.rest.paused {
                options["(paused)"] = json!(true);
            }
            (
                planned.key.to_string(),
                json!({"action": format!("{action}, {release}"), "options": options}),
            )
        })
        .collect();
    let mut put = |key: &str, value: Value| {
        if !matches!(&value, Value::Null | Value::Bool(false)) && value != json!({}) && value != json!([]) {
            told.insert(key.to_owned(), value);
        }
    };
    put("deployments", Value::Object(deployments));
    put("delete", plan.delete.iter().map(ToString::to_string).collect());
    put(
        "problem",
        plan.problem
            .as_ref()
            .map(|problem| json!(problem.message))
            .unwrap_or_default(),
    );
    put("more", json!(plan.more));
    put("ready", json!(plan.status.display.ready_clusters));
    put("message", json!(plan.ready_message));
    put(
        "unavailable",
        json!(format!(
            "{} of {}",
            plan.status.unavailable, plan.status.max_unavailable
        )),
    );
    let partitions = plan.status.partitions.iter();
    put(
        "partitions",
        partitions
            .map(|p| {
                json!(format!(
                    "{}: {} of {} in {}",
                    p.name, p.unavailable, p.max_unavailable, p.count
                ))
            })
            .collect(),
    );
    told
}
