//! Laws: what was learnt event by event equals what a restart would know; roll-outs end; budgets hold; merging with
//! nothing changes nothing.

use std::collections::BTreeMap;

use fleet_api::{BundleDeployment, BundleDeploymentOptions};
use fleet_plan::{Pass, target};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fleet::Fleet;

fn cluster(number: u8, label: u8, paused: bool) -> Value {
    json!({
        "kind": "Cluster",
        "metadata": {"namespace": "ws", "name": format!("c{number}"), "labels": {"l": label.to_string()}},
        "spec": {"paused": paused},
        "status": {"namespace": format!("home-{number}")}
    })
}

fn bundle(name: u8, label: Option<u8>, value: u8, strategy: &Value) -> Value {
    let selector = label.map_or(json!({}), |label| json!({"matchLabels": {"l": label.to_string()}}));
    json!({
        "kind": "Bundle",
        "metadata": {"namespace": "ws", "name": format!("b{name}"), "labels": {"fleet.cattle.io/repo-name": "repo"}},
        "spec": {
            "helm": {"values": {"value": value, "of": "${ .ClusterName }"}},
            "targets": [{"name": "t", "clusterSelector": selector}, {"name": "g", "clusterGroup": "g"}],
            "rolloutStrategy": strategy
        }
    })
}

fn group(label: u8) -> Value {
    json!({
        "kind": "ClusterGroup", "metadata": {"namespace": "ws", "name": "g"},
        "spec": {"selector": {"matchLabels": {"l": label.to_string()}}}
    })
}

#[derive(Clone, Debug)]
enum Act {
    Feed(Value),
    Gone(Value),
    Plan,
    Report(u8),
}

fn act() -> impl Strategy<Value = Act> {
    let strategy = prop_oneof![
        Just(json!(null)),
        Just(json!({"maxUnavailable": 1, "autoPartitionThreshold": 2, "autoPartitionSize": 2})),
        Just(json!({"maxNew": 1})),
        Just(
            json!({"partitions": [{"name": "p", "clusterSelector": {"matchLabels": {"l": "1"}}}, {"name": "q", "clusterSelector": {}}]})
        ),
    ];
    let cluster = (0_u8..5, 0_u8..3, any::<bool>()).prop_map(|(n, l, p)| cluster(n, l, p));
    let bundle =
        (0_u8..2, proptest::option::of(0_u8..3), 0_u8..2, strategy).prop_map(|(n, l, v, s)| bundle(n, l, v, &s));
    let object = prop_oneof![cluster, bundle, (0_u8..3).prop_map(group)];
    prop_oneof![
        4 => object.clone().prop_map(Act::Feed),
        1 => object.prop_map(Act::Gone),
        3 => Just(Act::Plan),
        3 => (0_u8..5).prop_map(Act::Report),
    ]
}

fn play(fleet: &mut Fleet, acts: Vec<Act>) {
    for act in acts {
        match act {
            Act::Feed(object) => {
                fleet.feed(&object);
            }
            Act::Gone(mut object) => {
                object["deleted"] = json!(true);
                fleet.feed(&object);
            }
            Act::Plan => {
                for bundle in fleet.bundles() {
                    let plan = fleet.plan(&bundle);
                    fleet.carry_out(&plan);
                }
            }
            Act::Report(number) => {
                let home = format!("home-{number}");
                let keys: Vec<_> = fleet
                    .deployments
                    .keys()
                    .filter(|key| key.namespace == home)
                    .cloned()
                    .collect();
                for key in keys {
                    fleet.report(&key);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn a_restart_changes_nothing(acts in prop::collection::vec(act(), 1..40)) {
        let mut fleet = Fleet::default();
        play(&mut fleet, acts);
        let mut restarted = fleet.restarted();
        for bundle in fleet.bundles() {
            prop_assert_eq!(restarted.desired(&bundle, &Pass::manager()), fleet.state.desired(&bundle, &Pass::manager()));
            prop_assert_eq!(restarted.explain(&bundle), fleet.state.explain(&bundle));
        }
        for number in 0..5 {
            let key = fleet_plan::ClusterKey::new("ws", format!("c{number}"));
            prop_assert_eq!(restarted.cluster_rollup(&key), fleet.state.cluster_rollup(&key));
        }
        let group = fleet_plan::GroupKey::new("ws", "g");
        prop_assert_eq!(restarted.group_rollup(&group), fleet.state.group_rollup(&group));
        let source = fleet_plan::SourceKey::new(fleet_plan::SourceKind::GitRepo, "ws", "repo");
        prop_assert_eq!(restarted.source_rollup(&source), fleet.state.source_rollup(&source));
        for deployment in fleet.deployments.values() {
            let content = deployment.metadata.labels.clone().unwrap_or_default();
            let content = content.get("fleet.cattle.io/content-name").cloned().unwrap_or_default();
            prop_assert_eq!(restarted.content_references(&content), fleet.state.content_references(&content));
        }
    }

    #[test]
    fn a_rollout_ends_and_keeps_its_budget(
        clusters in 1_u8..12, limit in 1_i64..4, size in 1_u8..5, max_new in 1_u8..4,
    ) {
        let strategy = json!({
            "maxUnavailable": limit, "autoPartitionThreshold": 2, "autoPartitionSize": size, "maxNew": max_new
        });
        let mut fleet = Fleet::default();
        for number in 0..clusters {
            fleet.feed(&cluster(number, 0, false));
        }
        for value in 0..2 {
            fleet.feed(&bundle(0, None, value, &strategy));
            let key = fleet.bundles()[0].clone();
            let mut rounds = 0;
            loop {
                let plan = fleet.plan(&key);
                let created = plan.deployments.iter().filter(|planned| planned.create).count();
                prop_assert!(created <= usize::from(max_new));
                fleet.carry_out(&plan);
                let after = fleet.plan(&key);
                if value == 1 {
                    prop_assert!(after.status.unavailable <= limit, "{:?}", after.status);
                }
                if after.status.summary.ready == i64::from(clusters) {
                    prop_assert!(after.deployments.is_empty() && after.left_out.is_empty(), "{:?}", after);
                    break;
                }
                let waiting: Vec<_> = fleet
                    .deployments
                    .iter()
                    .filter(|(_, d)| d.status.as_ref().is_none_or(|s| s.applied_deployment_id != d.spec.deployment_id))
                    .map(|(key, _)| key.clone())
                    .collect();
                for key in waiting {
                    fleet.report(&key);
                }
                rounds += 1;
                prop_assert!(rounds < 200, "the roll-out does not end: {:?}", fleet.plan(&key));
            }
        }
    }

    #[test]
    fn a_rollout_ends_when_only_dirty_bundles_are_planned(
        clusters in 1_u8..9, limit in 1_i64..4, size in 1_u8..5, max_new in 1_u8..4, last_first in any::<bool>(),
    ) {
        let strategy = json!({
            "maxUnavailable": limit, "autoPartitionThreshold": 2, "autoPartitionSize": size, "maxNew": max_new
        });
        let mut fleet = Fleet::default();
        for number in 0..clusters {
            fleet.feed(&cluster(number, 0, false));
        }
        for value in 0..2 {
            let mut dirty = fleet.feed(&bundle(0, None, value, &strategy));
            let key = fleet.bundles()[0].clone();
            loop {
                while dirty.bundles.remove(&key) {
                    let plan = fleet.plan(&key);
                    let written = fleet.carry_out(&plan);
                    prop_assert!(value == 0 || written.bundles.is_empty(), "{:?}", written);
                    dirty.merge(written);
                }
                let mut waiting = fleet
                    .deployments
                    .iter()
                    .filter(|(_, d)| d.status.as_ref().is_none_or(|s| s.applied_deployment_id != d.spec.deployment_id))
                    .map(|(key, _)| key.clone());
                let next = if last_first { waiting.next_back() } else { waiting.next() };
                let Some(next) = next else { break };
                dirty.merge(fleet.report(&next));
            }
            let done = fleet.plan(&key);
            prop_assert_eq!(done.status.summary.ready, i64::from(clusters), "{:?}", done);
        }
    }

    #[test]
    fn merging_with_nothing_changes_nothing(values in any_values(), keep in any::<bool>()) {
        let options: BundleDeploymentOptions = serde_json::from_value(json!({
            "helm": {"values": values, "valuesFrom": [{"secretKeyRef": {"name": "a"}}]},
            "keepResources": keep, "diff": {"comparePatches": [{"kind": "A"}]}, "yaml": {"overlays": ["x"]}
        })).unwrap();
        let nothing = BundleDeploymentOptions::default();
        prop_assert_eq!(&target::merge(&options, &nothing), &options);
        prop_assert_eq!(&target::merge(&nothing, &options).helm, &options.helm);
        let twice = target::merge(&options, &options);
        prop_assert_eq!(&twice.helm, &options.helm);
        prop_assert_eq!(&twice.diff, &options.diff);
    }
}

#[test]
fn what_others_write_into_a_deployment_makes_its_bundle_dirty() {
    let changes: [fn(&mut BundleDeployment); 4] = [
        |deployment| deployment.spec.deployment_id = "s-old:old".to_owned(),
        |deployment| deployment.spec.staged_deployment_id = "s-old:old".to_owned(),
        |deployment| deployment.spec.paused = true,
        |deployment| {
            deployment
                .metadata
                .labels
                .get_or_insert_default()
                .retain(|key, _| !key.ends_with("/managed"));
        },
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut fleet = Fleet::default();
        fleet.feed(&cluster(0, 0, false));
        fleet.feed(&bundle(0, None, 0, &json!(null)));
        let key = fleet.bundles()[0].clone();
        let plan = fleet.plan(&key);
        fleet.carry_out(&plan);
        let deployment = plan.deployments[0].key.clone();
        fleet.report(&deployment);
        assert!(fleet.tamper(&deployment, change).bundles.contains(&key), "change {at}");
        let repair = fleet.plan(&key);
        assert_eq!(repair.deployments.len(), 1, "change {at}");
        assert!(
            fleet.carry_out(&repair).deployments.contains(&deployment),
            "change {at}"
        );
        assert!(fleet.plan(&key).deployments.is_empty(), "change {at}");
    }
}

fn any_values() -> impl Strategy<Value = BTreeMap<String, Value>> {
    let leaf = prop_oneof![Just(json!(1)), Just(json!("x")), Just(json!(null)), Just(json!([1, 2]))];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| json!(map))
    });
    prop::collection::btree_map("[a-c]", value, 0..3)
}
