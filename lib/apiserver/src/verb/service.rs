//! Addresses and node ports of Services: what the server hands out, keeps and refuses.
//!
//! One IPv4 range; an address or port belongs to one Service at a time. What is taken is read from the store once and
//! remembered; a Service that is gone gives back what it had. Mirrors upstream's Service registry and its allocators.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use crate::cluster::Cluster;
use crate::object::text;
use crate::registry::Resource;
use crate::status::{Cause, Result};

/// Network and its size in bits: 10.0.0.0/16.
const NETWORK: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);
const HOST_BITS: u32 = 16;

/// Ports that nodes may open.
const PORTS: std::ops::RangeInclusive<i64> = 30000..=32767;

/// How often the dice are rolled before the next free one is taken.
const ROLLS: usize = 16;

/// Addresses and ports in use.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    known: Mutex<Option<Sets>>,
}

#[derive(Debug, Default, Clone)]
struct Sets {
    addresses: BTreeSet<u32>,
    ports: BTreeSet<i64>,
}

/// What one write took; given back if the write does not happen.
#[derive(Debug, Default)]
pub(super) struct Grant {
    sets: Sets,
}

impl Taken {
    fn lock(&self) -> MutexGuard<'_, Option<Sets>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives back what a Service had, or what a write took in vain.
    pub(super) fn release(&self, grant: &Grant) {
        if let Some(sets) = self.lock().as_mut() {
            sets.addresses.retain(|address| !grant.sets.addresses.contains(address));
            sets.ports.retain(|port| !grant.sets.ports.contains(port));
        }
    }
}

/// What a stored Service holds.
pub(super) fn held(service: &Value) -> Grant {
    let mut sets = Sets::default();
    let addresses = service["spec"]["clusterIPs"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    sets.addresses.extend(addresses.filter_map(parse));
    sets.ports.extend(
        ports(service)
            .iter()
            .filter_map(|port| port["nodePort"].as_i64())
            .chain(service["spec"]["healthCheckNodePort"].as_i64())
            .filter(|port| *port > 0),
    );
    Grant { sets }
}

/// Before an update is brought into form: an update that leaves out what the server handed out keeps it.
pub(super) fn keep(resource: &Resource, live: &Value, object: &mut Value) {
    // What is no object is refused when it is decoded.
    if !resource.is("", "services") || !(object["spec"].is_object() || object["spec"].is_null()) {
        return;
    }
    let_go(live, object);
    if kind(live) == "ExternalName" || kind(object) == "ExternalName" {
        return;
    }
    let spec = &mut object["spec"];
    if text(spec, "/clusterIP").is_empty() {
        spec["clusterIP"] = live["spec"]["clusterIP"].clone();
        if spec["clusterIPs"].as_array().is_none_or(Vec::is_empty) {
            spec["clusterIPs"] = live["spec"]["clusterIPs"].clone();
        }
    }
    let asked =
        kind(live) == kind(object) && live["spec"]["externalTrafficPolicy"] == object["spec"]["externalTrafficPolicy"];
    let kept = ["ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"];
    let kept = kept.get(..if asked { 3 } else { 2 }).unwrap_or_default();
    let spec = &mut object["spec"];
    for field in kept.iter().copied() {
        if spec.get(field).is_none_or(Value::is_null)
            && let Some(value) = live["spec"].get(field)
        {
            spec[field] = value.clone();
        }
    }
    if !opens_ports(kind(live)) || !matches!(text(object, "/spec/type"), "NodePort" | "LoadBalancer") {
        return;
    }
    let old = ports(live).to_vec();
    for port in object
        .pointer_mut("/spec/ports")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        let given = port["nodePort"].as_i64().unwrap_or_default();
        let same = |other: &&Value| other["port"] == port["port"] && protocol(other) == protocol(port);
        if given == 0
            && let Some(kept) = old
                .iter()
                .find(same)
                .map(|other| other["nodePort"].clone())
                .filter(Value::is_i64)
        {
            port["nodePort"] = kept;
        }
    }
}

/// A Service of another type lets go of what only the old type had, unless the update says something about it.
fn let_go(live: &Value, object: &mut Value) {
    let (old, new) = (kind(live).to_owned(), kind(object).to_owned());
    if old == new || !object["spec"].is_object() {
        return;
    }
    let mut gone: Vec<&str> = Vec::new();
    if new == "ExternalName" && old != "ExternalName" {
        gone.extend(["clusterIP", "clusterIPs", "internalTrafficPolicy"]);
    }
    if !opens_ports(&new) {
        gone.extend(["externalTrafficPolicy"]);
    }
    if new != "LoadBalancer" {
        gone.extend([
            "allocateLoadBalancerNodePorts",
            "healthCheckNodePort",
            "loadBalancerClass",
        ]);
    }
    let unchanged: Vec<&str> = gone
        .into_iter()
        .filter(|field| object["spec"][*field] == live["spec"][*field])
        .collect();
    if let Some(spec) = object["spec"].as_object_mut() {
        spec.retain(|field, _| !unchanged.contains(&field.as_str()));
    }
    let given =
        |service: &Value| -> Vec<Value> { ports(service).iter().map(|port| port["nodePort"].clone()).collect() };
    if opens_ports(&old) && !opens_ports(&new) && given(live) == given(object) {
        let ports = object.pointer_mut("/spec/ports").and_then(Value::as_array_mut);
        for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
            port.remove("nodePort");
        }
    }
}

/// Before a Service is stored: addresses and ports are handed out or taken.
///
/// # Errors
/// Inside: what is wrong with those that were asked for.
pub(super) fn allocate(
    cluster: &Cluster,
    resource: &Resource,
    live: Option<&Value>,
    object: &mut Value,
) -> Result<std::result::Result<Grant, Vec<Cause>>> {
    if !resource.is("", "services") || !object["spec"].is_object() {
        return Ok(Ok(Grant::default()));
    }
    let mut guard = cluster.services.lock();
    if guard.is_none() {
        *guard = Some(read(cluster, resource)?);
    }
    let Some(sets) = guard.as_mut() else {
        return Ok(Ok(Grant::default()));
    };
    let mine = live.map(held).unwrap_or_default();
    let mut grant = Grant::default();
    let mut causes = Vec::new();
    if kind(object) == "ExternalName" {
        drop_fields(
            object,
            &[
                "clusterIP",
                "clusterIPs",
                "ipFamilies",
                "ipFamilyPolicy",
                "internalTrafficPolicy",
            ],
        );
    } else {
        causes.extend(address(cluster, sets, &mine, &mut grant, object));
    }
    causes.extend(node_ports(cluster, sets, &mine, &mut grant, object));
    health_port(cluster, sets, &mut grant, object);
    if causes.is_empty() {
        return Ok(Ok(grant));
    }
    drop(guard);
    cluster.services.release(&grant);
    Ok(Err(causes))
}

fn read(cluster: &Cluster, resource: &Resource) -> Result<Sets> {
    let scope = resource.scope();
    let entries = cluster.all(&scope)?;
    let mut sets = Sets::default();
    for (_, entry) in entries {
        if let Ok(service) = serde_json::from_slice::<Value>(&entry.value) {
            let Grant { sets: held } = held(&service);
            sets.addresses.extend(held.addresses);
            sets.ports.extend(held.ports);
        }
    }
    Ok(sets)
}

fn address(cluster: &Cluster, sets: &mut Sets, mine: &Grant, grant: &mut Grant, object: &mut Value) -> Option<Cause> {
    let spec = &mut object["spec"];
    let given = match text(spec, "/clusterIP") {
        "" => spec["clusterIPs"][0].as_str().unwrap_or_default().to_owned(),
        given => given.to_owned(),
    };
    let chosen = match given.as_str() {
        "None" => "None".to_owned(),
        "" => {
            let address = free(cluster, sets)?;
            grant.sets.addresses.insert(address);
            sets.addresses.insert(address);
            Ipv4Addr::from(address).to_string()
        }
        given => {
            let invalid = |why: String| {
                let message = format!("Invalid value: [\"{given}\"]: failed to allocate IP {given}: {why}");
                Some(Cause::new("FieldValueInvalid", "spec.clusterIPs", message))
            };
            // What is no address at all is for validation to refuse.
            let Ok(parsed) = given.parse::<Ipv4Addr>() else {
                return None;
            };
            let Some(address) = parse(given) else {
                let range = format!("{NETWORK}/{}", 32 - HOST_BITS);
                return invalid(format!(
                    "the provided network does not match the current range ({range}): {parsed}"
                ));
            };
            if !mine.sets.addresses.contains(&address) {
                if !sets.addresses.insert(address) {
                    return invalid("provided IP is already allocated".to_owned());
                }
                grant.sets.addresses.insert(address);
            }
            given.to_owned()
        }
    };
    spec["clusterIP"] = chosen.as_str().into();
    spec["clusterIPs"] = json!([chosen]);
    if spec["ipFamilies"].as_array().is_none_or(Vec::is_empty) {
        spec["ipFamilies"] = json!(["IPv4"]);
    }
    if spec["ipFamilyPolicy"].is_null() {
        let selects = spec["selector"]
            .as_object()
            .is_some_and(|selector| !selector.is_empty());
        let open = chosen == "None" && !selects;
        spec["ipFamilyPolicy"] = if open { "RequireDualStack" } else { "SingleStack" }.into();
        if open {
            spec["ipFamilies"] = json!(["IPv4", "IPv6"]);
        }
    }
    None
}

fn node_ports(cluster: &Cluster, sets: &mut Sets, mine: &Grant, grant: &mut Grant, object: &mut Value) -> Vec<Cause> {
    let wanted = match kind(object) {
        "NodePort" => true,
        "LoadBalancer" => object["spec"]["allocateLoadBalancerNodePorts"] != false,
        _ => false,
    };
    let mut causes = Vec::new();
    let opens = opens_ports(kind(object));
    let mut chosen: Vec<(i64, String)> = Vec::new();
    for (at, port) in object
        .pointer_mut("/spec/ports")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let given = port["nodePort"].as_i64().unwrap_or_default();
        if !opens {
            if let Some(fields) = port.as_object_mut() {
                fields.remove("nodePort");
            }
            continue;
        }
        // One number may serve two protocols of the same Service.
        let shared = chosen
            .iter()
            .any(|(number, other)| *number == given && *other != protocol(port));
        let invalid = |why: &str| {
            Cause::new(
                "FieldValueInvalid",
                format!("spec.ports[{at}].nodePort"),
                format!("Invalid value: {given}: {why}"),
            )
        };
        if given != 0 && !PORTS.contains(&given) {
            causes.push(invalid(
                "provided port is not in the valid range. The range of valid ports is 30000-32767",
            ));
        } else if given != 0 && !mine.sets.ports.contains(&given) && !shared {
            if sets.ports.insert(given) {
                grant.sets.ports.insert(given);
            } else {
                causes.push(invalid("provided port is already allocated"));
            }
        } else if given == 0
            && wanted
            && let Some(free) = free_port(cluster, sets)
        {
            sets.ports.insert(free);
            grant.sets.ports.insert(free);
            port["nodePort"] = free.into();
        }
        chosen.push((port["nodePort"].as_i64().unwrap_or_default(), protocol(port).to_owned()));
    }
    causes
}

/// Balancers that keep clients' addresses ask each node whether it has an endpoint, on a port of its own.
fn health_port(cluster: &Cluster, sets: &mut Sets, grant: &mut Grant, object: &mut Value) {
    let asked = kind(object) == "LoadBalancer" && object["spec"]["externalTrafficPolicy"] == "Local";
    let given = object["spec"]["healthCheckNodePort"].as_i64().unwrap_or_default();
    if asked
        && given == 0
        && let Some(free) = free_port(cluster, sets)
    {
        sets.ports.insert(free);
        grant.sets.ports.insert(free);
        object["spec"]["healthCheckNodePort"] = free.into();
    }
}

fn free(cluster: &Cluster, sets: &Sets) -> Option<u32> {
    let base = u32::from(NETWORK);
    let size = 1_u32 << HOST_BITS;
    // The first few are for the cluster's own services, the last is the broadcast address.
    let valid = |offset: u32| offset > 16 && offset < size - 1;
    let mut offset = 0;
    for _ in 0..ROLLS {
        let mut bytes = [0_u8; 4];
        cluster.random.fill(&mut bytes);
        offset = u32::from_le_bytes(bytes) % size;
        if valid(offset) && !sets.addresses.contains(&(base + offset)) {
            return Some(base + offset);
        }
    }
    let rest = (offset..size).chain(0..offset);
    rest.filter(|offset| valid(*offset))
        .map(|offset| base + offset)
        .find(|address| !sets.addresses.contains(address))
}

fn free_port(cluster: &Cluster, sets: &Sets) -> Option<i64> {
    let mut bytes = [0_u8; 4];
    cluster.random.fill(&mut bytes);
    let size = PORTS.end() - PORTS.start() + 1;
    let start = i64::from(u32::from_le_bytes(bytes)) % size;
    let order = (start..size).chain(0..start).map(|offset| PORTS.start() + offset);
    order.into_iter().find(|port| !sets.ports.contains(port))
}

/// An address of the range as a number.
fn parse(address: &str) -> Option<u32> {
    let number = u32::from(address.parse::<Ipv4Addr>().ok()?);
    (number >> HOST_BITS == u32::from(NETWORK) >> HOST_BITS).then_some(number)
}

fn kind(service: &Value) -> &str {
    match text(service, "/spec/type") {
        "" => "ClusterIP",
        kind => kind,
    }
}

fn opens_ports(kind: &str) -> bool {
    matches!(kind, "NodePort" | "LoadBalancer")
}

fn protocol(port: &Value) -> &str {
    port["protocol"].as_str().unwrap_or("TCP")
}

fn ports(service: &Value) -> &[Value] {
    service["spec"]["ports"].as_array().map_or(&[], Vec::as_slice)
}

fn drop_fields(object: &mut Value, fields: &[&str]) {
    let empty = &mut Map::new();
    let spec = object["spec"].as_object_mut().unwrap_or(empty);
    for field in fields {
        spec.remove(*field);
    }
}
