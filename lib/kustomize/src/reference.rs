//! Names of other objects inside of objects, brought up to date after everything was renamed.
//!
//! A reference may say any name its object ever had. Where several objects qualify, the one that was renamed in the same
//! kustomizations (with the same prefixes and suffixes) is meant.

use std::collections::BTreeMap;

use crate::config::{FieldSpec, NameReference};
use crate::field::{self, Create};
use crate::id::{Gvk, Id};
use crate::node::{Node, Tag};
use crate::resource::Resource;

/// An object that may be named.
struct Candidate {
    id: Id,
    former: Vec<Id>,
    name: String,
    namespace: String,
    is_account: bool,
    prefixes: Vec<String>,
    suffixes: Vec<String>,
}

/// Updates every reference.
///
/// # Errors
/// A name that may mean several objects; a field that is no name.
pub(crate) fn update(resources: &mut [Resource], references: &[NameReference]) -> Result<(), String> {
    let candidates: Vec<Candidate> = resources.iter().map(Candidate::of).collect();
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let mut names: Vec<&str> = candidate.former.iter().map(|id| id.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            by_name.entry(name).or_default().push(at);
        }
    }
    let first: Vec<Gvk> = resources.iter().map(|resource| resource.original_id().gvk).collect();
    for ((at, resource), gvk) in resources.iter_mut().enumerate().zip(&first) {
        let Some(own) = candidates.get(at) else { continue };
        let referrer = Referrer {
            own,
            account_spaces: account_spaces(&resource.object)
                .map_err(|message| format!("object {}: {message}", own.id))?,
            role: role(&resource.object),
            candidates: &candidates,
            by_name: &by_name,
        };
        let now = resource.gvk();
        for reference in references {
            let named = reference.gvk();
            for spec in reference.fields.iter().filter(|spec| gvk.is_selected(&spec.gvk)) {
                let anywhere = FieldSpec {
                    gvk: now.clone(),
                    ..spec.clone()
                };
                let about = About {
                    referrer: &referrer,
                    named: &named,
                    is_role: spec.path.ends_with("roleRef/name"),
                };
                field::each(&mut resource.object, &anywhere, Create::Nothing, &mut |node| {
                    about.update(node)
                })
                .map_err(|message| format!("object {}: {message}", own.id))?;
            }
        }
    }
    Ok(())
}

impl Candidate {
    fn of(resource: &Resource) -> Self {
        Self {
            id: resource.id(),
            former: resource.former_ids(),
            name: resource.name().to_owned(),
            namespace: resource.namespace().to_owned(),
            is_account: resource.kind() == "ServiceAccount",
            prefixes: resource.prefixes.clone(),
            suffixes: resource.suffixes.clone(),
        }
    }

    /// Whether both were renamed together.
    fn belongs(&self, other: &Candidate, nothing_fits: bool) -> bool {
        let same = |a: &[String], b: &[String]| (nothing_fits && (a.is_empty() || b.is_empty())) || same_end(a, b);
        same(&self.prefixes, &other.prefixes) && same(&self.suffixes, &other.suffixes)
    }
}

/// Whether the longer list ends as the shorter one; an empty one is only like another empty one.
fn same_end(a: &[String], b: &[String]) -> bool {
    let (short, long) = if a.len() > b.len() { (b, a) } else { (a, b) };
    if short.is_empty() {
        long.is_empty()
    } else {
        long.ends_with(short)
    }
}

/// Namespaces of the accounts that a role binding is for: it may name accounts outside of its own.
fn account_spaces(object: &Node) -> Result<Vec<String>, String> {
    if object.spelling_at(&["kind"]) != "RoleBinding" {
        return Ok(Vec::new());
    }
    let subjects = object.get("subjects").and_then(Node::as_list).unwrap_or_default();
    if subjects.iter().any(|subject| subject.as_map().is_none()) {
        return Err("a subject is no map".to_owned());
    }
    let accounts = subjects
        .iter()
        .filter(|subject| subject.spelling_at(&["kind"]) == "ServiceAccount");
    let mut spaces = Vec::new();
    for namespace in accounts.filter_map(|account| account.get("namespace")) {
        match namespace {
            Node::Scalar(scalar) if scalar.tag == Tag::Text => spaces.push(scalar.text.clone()),
            _ => return Err("a subject has a namespace that is no text".to_owned()),
        }
    }
    Ok(spaces)
}

/// Group and kind of the role that a binding names.
fn role(object: &Node) -> Option<Gvk> {
    let role = object.get("roleRef")?;
    Some(Gvk {
        group: role.get("apiGroup")?.spelling()?.to_owned(),
        version: String::new(),
        kind: role.get("kind")?.spelling()?.to_owned(),
    })
}

/// The object whose references are updated.
struct Referrer<'a> {
    own: &'a Candidate,
    account_spaces: Vec<String>,
    role: Option<Gvk>,
    candidates: &'a [Candidate],
    by_name: &'a BTreeMap<&'a str, Vec<usize>>,
}

impl Referrer<'_> {
    /// Whether the object may name another at all.
    fn reaches(&self, other: &Candidate) -> bool {
        let own = &self.own.id;
        own.gvk.is_cluster_scoped()
            || other.id.gvk.is_cluster_scoped()
            || own.effective_namespace() == other.id.effective_namespace()
            || (!self.account_spaces.is_empty() && self.account_spaces.contains(&other.namespace))
    }

    /// Whether the other is where the object is now.
    fn is_near(&self, other: &Candidate) -> bool {
        let own = &self.own.id;
        own.gvk.is_cluster_scoped()
            || other.id.gvk.is_cluster_scoped()
            || other.is_account
            || own.effective_namespace() == other.id.effective_namespace()
    }
}

/// One field of the object and the kind it names.
struct About<'a> {
    referrer: &'a Referrer<'a>,
    named: &'a Gvk,
    is_role: bool,
}

impl About<'_> {
    fn update(&self, node: &mut Node) -> Result<(), String> {
        if node.is_null() {
            return Ok(());
        }
        match node {
            Node::Scalar(_) => self.name(node),
            Node::Map(_) => self.name_and_namespace(node),
            Node::List(items) => {
                for item in items.iter_mut().filter(|item| !item.is_null()) {
                    match item {
                        Node::Scalar(_) => self.name(item)?,
                        Node::Map(_) => self.name_and_namespace(item)?,
                        Node::List(_) => return Err("a name is expected, not a list".to_owned()),
                    }
                }
                Ok(())
            }
        }
    }

    fn name(&self, node: &mut Node) -> Result<(), String> {
        let old = node.spelling().unwrap_or_default().to_owned();
        let found = self.meant(&old, None, &|one, other| one.name == other.name)?;
        if let Some(found) = found.filter(|found| found.name != old) {
            *node = Node::text(&found.name);
        }
        Ok(())
    }

    fn name_and_namespace(&self, node: &mut Node) -> Result<(), String> {
        let Some(name) = node.get("name") else {
            return Err("there is no name".to_owned());
        };
        let old = name.spelling().unwrap_or_default().to_owned();
        let namespace = node
            .get("namespace")
            .map(|node| node.spelling().unwrap_or_default().to_owned());
        let same = |one: &Candidate, other: &Candidate| one.name == other.name && one.namespace == other.namespace;
        let Some(found) = self.meant(&old, namespace.as_deref(), &same)? else {
            return Ok(());
        };
        if found.name == old && found.namespace.is_empty() {
            return Ok(());
        }
        if let Some(map) = node.as_map_mut() {
            map.insert("name".to_owned(), Node::text(&found.name));
            if !found.namespace.is_empty() {
                map.insert("namespace".to_owned(), Node::text(&found.namespace));
            }
        }
        Ok(())
    }

    /// The one object that a name means, `None` if there is none.
    fn meant(
        &self,
        name: &str,
        namespace: Option<&str>,
        identical: &dyn Fn(&Candidate, &Candidate) -> bool,
    ) -> Result<Option<&Candidate>, String> {
        let referrer = self.referrer;
        let all = referrer.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
        let mut found: Vec<&Candidate> = all
            .iter()
            .filter_map(|at| referrer.candidates.get(*at))
            .filter(|other| referrer.reaches(other))
            .collect();
        if let Some(namespace) = namespace {
            // First the namespace that objects had, if anything is called that, else the one they have.
            let had = |other: &Candidate| other.former.first().unwrap_or(&other.id).effective_namespace() == namespace;
            let has = |other: &Candidate| other.id.effective_namespace() == namespace;
            let any = referrer
                .candidates
                .iter()
                .any(|other| referrer.reaches(other) && had(other));
            found.retain(|other| if any { had(other) } else { has(other) });
        }
        found.retain(|other| other.former.iter().any(|id| id.gvk.is_selected(self.named)));
        if let Some(role) = referrer.role.as_ref().filter(|_| self.is_role) {
            found.retain(|other| other.former.iter().any(|id| id.gvk.is_selected(role)));
        }
        found.retain(|other| referrer.is_near(other));
        if found.len() > 1 {
            found.retain(|other| other.belongs(referrer.own, true));
            if found.len() > 1 {
                found.retain(|other| other.belongs(referrer.own, false));
            }
        }
        match found.as_slice() {
            [] => Ok(None),
            [one, rest @ ..] if rest.iter().all(|other| identical(one, other)) => Ok(Some(one)),
            _ => {
                let ids: Vec<String> = found.iter().map(|other| other.id.to_string()).collect();
                Err(format!("'{name}' may mean several objects: {}", ids.join(", ")))
            }
        }
    }
}
