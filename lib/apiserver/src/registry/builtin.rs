//! The built-in kinds as [`Resource`]s.

use super::Resource;

/// Group (`-` for core), version, kind, plural, scope, short names, categories and subresources (`-` for none).
const KINDS: &str = "
- v1 ConfigMap configmaps n cm - -
- v1 Endpoints endpoints n ep - -
- v1 Event events n ev - -
- v1 LimitRange limitranges n limits - -
- v1 Namespace namespaces c ns - status
- v1 Node nodes c no - status
- v1 PersistentVolumeClaim persistentvolumeclaims n pvc - status
- v1 PersistentVolume persistentvolumes c pv - status
- v1 Pod pods n po all status
- v1 PodTemplate podtemplates n - - -
- v1 ReplicationController replicationcontrollers n rc all status,scale
- v1 ResourceQuota resourcequotas n quota - status
- v1 Secret secrets n - - -
- v1 ServiceAccount serviceaccounts n sa - -
- v1 Service services n svc all status
admissionregistration.k8s.io v1 MutatingWebhookConfiguration mutatingwebhookconfigurations c - api-extensions -
admissionregistration.k8s.io v1 ValidatingWebhookConfiguration validatingwebhookconfigurations c - api-extensions -
apiextensions.k8s.io v1 CustomResourceDefinition customresourcedefinitions c crd,crds api-extensions status
apiregistration.k8s.io v1 APIService apiservices c - api-extensions status
apps v1 ControllerRevision controllerrevisions n - - -
apps v1 DaemonSet daemonsets n ds all status
apps v1 Deployment deployments n deploy all status,scale
apps v1 ReplicaSet replicasets n rs all status,scale
apps v1 StatefulSet statefulsets n sts all status,scale
autoscaling v2 HorizontalPodAutoscaler horizontalpodautoscalers n hpa all status
autoscaling v1 HorizontalPodAutoscaler horizontalpodautoscalers n hpa all status
batch v1 CronJob cronjobs n cj all status
batch v1 Job jobs n - all status
coordination.k8s.io v1 Lease leases n - - -
discovery.k8s.io v1 EndpointSlice endpointslices n - - -
events.k8s.io v1 Event events n ev - -
networking.k8s.io v1 IngressClass ingressclasses c - - -
networking.k8s.io v1 Ingress ingresses n ing - status
networking.k8s.io v1 NetworkPolicy networkpolicies n netpol - -
policy v1 PodDisruptionBudget poddisruptionbudgets n pdb - status
rbac.authorization.k8s.io v1 ClusterRoleBinding clusterrolebindings c - - -
rbac.authorization.k8s.io v1 ClusterRole clusterroles c - - -
rbac.authorization.k8s.io v1 RoleBinding rolebindings n - - -
rbac.authorization.k8s.io v1 Role roles n - - -
scheduling.k8s.io v1 PriorityClass priorityclasses c pc - -
storage.k8s.io v1 CSIDriver csidrivers c - - -
storage.k8s.io v1 StorageClass storageclasses c sc - -
";

/// All built-in resources in the order of discovery.
pub(super) fn resources() -> Vec<Resource> {
    KINDS.lines().filter_map(parse).collect()
}

fn parse(line: &str) -> Option<Resource> {
    let mut words = line.split_whitespace();
    let mut word = || words.next();
    let group = word()?;
    let version = word()?;
    let kind = word()?;
    let plural = word()?;
    let scope = word()?;
    let short_names = list(word()?);
    let categories = list(word()?);
    let subresources = list(word()?);
    Some(Resource {
        group: if group == "-" { String::new() } else { group.to_owned() },
        version: version.to_owned(),
        kind: kind.to_owned(),
        list_kind: format!("{kind}List"),
        plural: plural.to_owned(),
        singular: kind.to_lowercase(),
        namespaced: scope == "n",
        short_names,
        categories,
        status: subresources.iter().any(|name| name == "status"),
        scale: subresources.iter().any(|name| name == "scale"),
        custom: None,
        id: 0,
        since: 0,
    })
}

fn list(word: &str) -> Vec<String> {
    word.split(',').filter(|name| *name != "-").map(str::to_owned).collect()
}
