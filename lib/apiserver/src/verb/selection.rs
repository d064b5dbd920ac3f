//! Which objects of a scope a list or watch shows: label and field selectors.

use kubeschema::selector::{FieldSelector, LabelSelector};
use serde_json::Value;

use super::Request;
use crate::object;
use crate::query::Query;
use crate::registry::Resource;
use crate::status::{Result, Status};
use crate::store::Entry;

/// Label and field selector of a request.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
    resource: std::sync::Arc<Resource>,
}

impl Selection {
    /// Reads the selectors.
    ///
    /// # Errors
    /// 400 for bad syntax and for fields that cannot be selected by.
    pub(super) fn read(request: &Request) -> Result<Self> {
        let labels = LabelSelector::parse(request.query.get("labelSelector")).map_err(|error| refused(&error))?;
        let fields = FieldSelector::parse(request.query.get("fieldSelector")).map_err(|error| refused(&error))?;
        for term in &fields.terms {
            if !selectable(&request.resource, &term.field) {
                let message = if request.resource.custom.is_some() {
                    format!("field label not supported: {}", term.field)
                } else {
                    let version = request.resource.api_version();
                    format!(
                        "Unable to find {version:?} that match label selector: field label not supported: {}",
                        term.field
                    )
                };
                return Err(Box::new(Status::bad_request(message)));
            }
        }
        Ok(Self {
            labels,
            fields,
            resource: std::sync::Arc::clone(&request.resource),
        })
    }

    /// Whether everything is shown.
    pub(super) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    /// The scope that can hold matches, if the selector names one object.
    pub(super) fn scope(&self, namespace: &str) -> String {
        let name = self.fields.exact("metadata.name").unwrap_or_default();
        let within = self.fields.exact("metadata.namespace").unwrap_or(namespace);
        if name.is_empty() || (self.resource.namespaced && within.is_empty()) {
            return self.resource.scope_in(namespace);
        }
        if within != namespace && !namespace.is_empty() {
            return self.resource.scope_in(namespace);
        }
        self.resource.key(within, name).to_string()
    }

    /// Whether a stored object is shown.
    pub(super) fn matches(&self, entry: &Entry) -> bool {
        if self.is_everything() {
            return true;
        }
        let metadata = object::metadata(entry);
        let empty = std::collections::BTreeMap::new();
        if !self.labels.matches(metadata.labels.as_ref().unwrap_or(&empty)) {
            return false;
        }
        if self.fields.is_everything() {
            return true;
        }
        let beyond = self
            .fields
            .terms
            .iter()
            .any(|term| !matches!(term.field.as_str(), "metadata.name" | "metadata.namespace"));
        let whole: Value = if beyond {
            serde_json::from_slice(&entry.value).unwrap_or_default()
        } else {
            Value::Null
        };
        let texts: Vec<(String, String)> = self
            .fields
            .terms
            .iter()
            .map(|term| {
                let text = match term.field.as_str() {
                    "metadata.name" => metadata.name.clone(),
                    "metadata.namespace" => metadata.namespace.clone(),
                    field => field_text(&self.resource, &whole, field),
                };
                (term.field.clone(), text)
            })
            .collect();
        self.fields.matches(|field| {
            texts
                .iter()
                .find(|(name, _)| name == field)
                .map(|(_, text)| text.as_str())
        })
    }
}

/// Selectors of a query without a request's checks, for deletion of collections and lists alike.
pub(super) fn given(query: &Query) -> bool {
    !query.get("labelSelector").is_empty() || !query.get("fieldSelector").is_empty()
}

fn refused(error: &kubeschema::selector::Error) -> Box<Status> {
    Box::new(Status::bad_request(error.to_string()))
}

fn selectable(resource: &Resource, field: &str) -> bool {
    if matches!(field, "metadata.name" | "metadata.namespace") {
        return true;
    }
    if let Some(custom) = &resource.custom {
        let fields = custom.version["selectableFields"].as_array().into_iter().flatten();
        return fields.into_iter().any(|entry| {
            entry["jsonPath"]
                .as_str()
                .is_some_and(|path| path.trim_start_matches('.') == field)
        });
    }
    builtin_fields(resource).contains(&field)
}

fn builtin_fields(resource: &Resource) -> &'static [&'static str] {
    match resource.kind.as_str() {
        "Pod" => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        "Secret" => &["type"],
        "Namespace" => &["status.phase"],
        "Node" => &["spec.unschedulable"],
        "Event" if resource.group == "events.k8s.io" => &[
            "reason",
            "type",
            "source",
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reportingController",
        ],
        "Event" => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        "Service" => &["spec.clusterIP", "spec.type"],
        "Job" => &["status.successful"],
        "ReplicaSet" | "ReplicationController" => &["status.replicas"],
        "CertificateSigningRequest" => &["spec.signerName"],
        _ => &[],
    }
}

fn field_text(resource: &Resource, object: &Value, field: &str) -> String {
    // Events are looked at as they are stored, with the older group's names.
    let field = match field.split_once('.') {
        _ if resource.custom.is_some() || resource.kind != "Event" => field.to_owned(),
        Some(("regarding", rest)) => format!("involvedObject.{rest}"),
        None if field == "reportingController" => "reportingComponent".to_owned(),
        None if field == "source" => "source.component".to_owned(),
        _ => field.to_owned(),
    };
    let field = field.as_str();
    let mut at = object;
    for part in field.split('.') {
        at = &at[part];
    }
    match at {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        // Go's zero values are what built-in kinds compare with.
        _ if resource.custom.is_some() => String::new(),
        _ if matches!(field, "spec.unschedulable" | "spec.hostNetwork") => "false".to_owned(),
        _ if field == "status.replicas" => "0".to_owned(),
        _ => String::new(),
    }
}
