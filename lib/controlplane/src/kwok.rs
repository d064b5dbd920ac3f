//! What kwok plays on this control plane: a node that is ready, pods that run, pods that end.

use std::path::Path;

use crate::{Error, io};

/// Name of the configuration file.
pub(crate) const CONFIG: &str = "kwok.yaml";

const STAGES: &str = r#"apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: node-ready}
spec:
  resourceRef: {apiGroup: v1, kind: Node}
  selector:
    matchExpressions:
      - {key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: NotIn, values: ["True"]}
  next:
    statusTemplate: |
      addresses:
        - {type: InternalIP, address: 127.0.0.1}
      allocatable: {cpu: "64", memory: 256Gi, pods: "10000"}
      capacity: {cpu: "64", memory: 256Gi, pods: "10000"}
      conditions:
        - type: Ready
          status: "True"
          reason: Simulated
          message: this node is simulated
          lastHeartbeatTime: {{ Now | Quote }}
          lastTransitionTime: {{ Now | Quote }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-ready}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
      - {key: '.metadata.deletionTimestamp', operator: DoesNotExist}
      - {key: '.status.podIP', operator: DoesNotExist}
  next:
    statusTemplate: |
      phase: Running
      hostIP: 127.0.0.1
      podIP: 127.0.0.1
      startTime: {{ Now | Quote }}
      conditions:
        {{ range $type := (list "Initialized" "ContainersReady" "Ready") }}
        - type: {{ $type }}
          status: "True"
          lastTransitionTime: {{ Now | Quote }}
        {{ end }}
      containerStatuses:
        {{ range .spec.containers }}
        - name: {{ .name | Quote }}
          image: {{ .image | Quote }}
          ready: true
          restartCount: 0
          state: {running: {startedAt: {{ Now | Quote }}}}
        {{ end }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-delete}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
      - {key: '.metadata.deletionTimestamp', operator: Exists}
  next:
    finalizers: {empty: true}
    delete: true
"#;

pub(crate) fn write_config(directory: &Path) -> Result<(), Error> {
    std::fs::write(directory.join(CONFIG), STAGES).map_err(io("write kwok's configuration"))
}
