//! Jobs and CronJobs: how often pods run, and when that is enough.

use kubeschema::field::FieldError;
use kubeschema::name;
use kubeschema::selector::LabelSelector;
use serde_json::Value;

use super::immutable;
use super::place::{Errors, Place};

/// A Job; most of what makes its pods may not change.
pub(super) fn check(object: &Value, old: Option<&Value>, errors: &mut Errors) {
    for field in [
        "completions",
        "selector",
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ] {
        // An indexed job may be resized together with its parallelism.
        let resized = field == "completions"
            && object["spec"]["completionMode"] == "Indexed"
            && object["spec"]["completions"] == object["spec"]["parallelism"];
        if !resized {
            immutable(&format!("spec.{field}"), &format!("/spec/{field}"), object, old, errors);
        }
    }
    if old.is_none() && object["spec"]["completionMode"] == "Indexed" {
        pod_names(object, errors);
    }
    let spec = Place::new(&object["spec"], "spec");
    spec.at("selector").want("", errors);
    let labels = spec.under("template", "metadata").at("labels");
    let picked =
        LabelSelector::from_json(spec.at("selector").value).is_ok_and(|selector| selector.matches(labels.value));
    if spec.at("selector").empty() || !picked {
        errors.push(labels.invalid("`selector` does not match template `labels`"));
    }
    if old.is_some_and(|old| old["spec"]["suspend"] == true) {
        let fixed = |job: Option<&Value>| {
            let mut spec = job
                .map(|job| job["spec"]["template"]["spec"].clone())
                .unwrap_or_default();
            if let Some(fields) = spec.as_object_mut() {
                fields.retain(|field, _| !SCHEDULING.contains(&field.as_str()));
            }
            spec
        };
        if fixed(old) != fixed(Some(object)) {
            let template = object["spec"]["template"]["spec"].clone();
            errors.push(FieldError::invalid(
                "spec.template.spec",
                template,
                "field is immutable",
            ));
        }
    } else {
        immutable("spec.template", "/spec/template", object, old, errors);
    }
}

/// What a suspended job may still change about where its pods run.
const SCHEDULING: [&str; 4] = ["affinity", "nodeSelector", "schedulingGates", "tolerations"];

/// Pods of an indexed job have its name and their index, as a host name.
fn pod_names(object: &Value, errors: &mut Errors) {
    let last = object["spec"]["completions"].as_i64().unwrap_or_default() - 1;
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let pod = format!("{name}-{last}");
    if !name::dns_label(&pod).is_empty() {
        let why = format!("will not able to create pod with invalid DNS label: {pod}");
        errors.push(FieldError::invalid("metadata.name", name, why));
    }
}

/// What Jobs and the templates of CronJobs have in common.
pub(super) fn spec(spec: &Place<'_>, errors: &mut Errors) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        spec.at(field).natural(errors);
    }
    restart(&spec.at("template"), errors);
    indexes(spec, errors);
    managed(&spec.at("managedBy"), errors);
    if spec.has("podFailurePolicy") {
        let replaced = spec.at("podReplacementPolicy");
        if !replaced.value.is_null() && replaced.own() != "Failed" {
            errors.push(replaced.not_supported(&["Failed"]));
        }
        failures(spec, errors);
    }
    if spec.has("successPolicy") {
        success(spec, errors);
    }
}

fn restart(template: &Place<'_>, errors: &mut Errors) {
    let policy = template.under("spec", "restartPolicy");
    match policy.value.as_str() {
        None | Some("Always") => errors.push(policy.required("valid values: \"OnFailure\", \"Never\"")),
        Some("OnFailure" | "Never") => {}
        Some(_) => errors.push(policy.not_supported(&["OnFailure", "Never"])),
    }
}

/// Settings that only make sense where pods have indexes.
fn indexes(spec: &Place<'_>, errors: &mut Errors) {
    // A mode that is neither is refused as such.
    let indexed = spec.text("completionMode") != "NonIndexed";
    let completions = spec.number("completions");
    if spec.text("completionMode") == "Indexed" && completions.is_none() {
        let why = "when completion mode is Indexed";
        errors.push(spec.at("completions").required(why));
    }
    let (limit, failed) = (spec.at("backoffLimitPerIndex"), spec.at("maxFailedIndexes"));
    if !limit.value.is_null() && !indexed {
        errors.push(limit.invalid("requires indexed completion mode"));
    }
    if let Some(number) = failed.value.as_i64() {
        if limit.value.is_null() {
            errors.push(limit.required("when maxFailedIndexes is specified"));
        }
        if !indexed {
            errors.push(failed.invalid("requires indexed completion mode"));
        } else if completions.is_some_and(|completions| number > completions) {
            errors.push(failed.invalid("must be less than or equal to completions"));
        }
    }
    if spec.has("successPolicy") && spec.text("completionMode") != "Indexed" {
        errors.push(spec.at("successPolicy").invalid("requires indexed completion mode"));
    }
}

/// Who runs the job instead of the usual controller.
fn managed(by: &Place<'_>, errors: &mut Errors) {
    const MAXIMUM: usize = 63;
    if by.value.is_null() {
        return;
    }
    by.want("", errors);
    let parts = by.own().split_once('/');
    let fits = parts.is_some_and(|(domain, path)| {
        name::dns_subdomain(domain).is_empty() && !path.is_empty() && path.bytes().all(|b| b > b' ' && b < 0x7f)
    });
    if !by.empty() && !fits {
        errors.push(by.invalid("must be a domain-prefixed path (such as \"acme.io/foo\")"));
    }
    if by.own().len() > MAXIMUM {
        errors.push(FieldError::too_long(by.path.as_str(), MAXIMUM));
    }
}

/// What to do when pods fail.
fn failures(spec: &Place<'_>, errors: &mut Errors) {
    let pod = spec.under("template", "spec");
    let containers: Vec<&str> = ["containers", "initContainers"]
        .iter()
        .flat_map(|list| pod.each(list))
        .map(|container| container.value["name"].as_str().unwrap_or_default())
        .collect();
    for rule in spec.under("podFailurePolicy", "rules").items() {
        let action = rule.at("action");
        action.want("valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]", errors);
        let (codes, conditions) = (rule.at("onExitCodes"), rule.at("onPodConditions"));
        match (codes.value.is_object(), !conditions.empty()) {
            (true, true) => {
                let why = "specifying both OnExitCodes and OnPodConditions is not supported";
                errors.push(FieldError::invalid(rule.path.as_str(), Value::Null, why));
            }
            (false, false) => {
                let why = "specifying one of OnExitCodes and OnPodConditions is required";
                errors.push(FieldError::invalid(rule.path.as_str(), Value::Null, why));
            }
            (true, false) => exit_codes(&codes, &containers, errors),
            (false, true) => {
                for condition in conditions.items() {
                    condition.at("type").named(name::qualified, errors);
                }
            }
        }
    }
}

fn exit_codes(codes: &Place<'_>, containers: &[&str], errors: &mut Errors) {
    let operator = codes.at("operator");
    operator.want("valid values: [\"In\" \"NotIn\"]", errors);
    let container = codes.at("containerName");
    if !container.value.is_null() && !containers.contains(&container.own()) {
        let why = "must be one of the container or initContainer names in the pod template";
        errors.push(container.invalid(why));
    }
    let values = codes.at("values");
    let numbers: Vec<i64> = values.items().filter_map(|value| value.value.as_i64()).collect();
    if numbers.is_empty() {
        errors.push(values.invalid("at least one value is required"));
    }
    for (position, value) in values.items().enumerate() {
        let number = value.value.as_i64().unwrap_or_default();
        if numbers.iter().take(position).any(|other| *other == number) {
            errors.push(value.duplicate());
        }
        if number == 0 && operator.own() == "In" {
            errors.push(value.invalid("must not be 0 for the In operator"));
        }
    }
    if !numbers.is_sorted() {
        errors.push(values.invalid("must be ordered"));
    }
}

/// When some of the indexes are enough.
fn success(spec: &Place<'_>, errors: &mut Errors) {
    let rules = spec.under("successPolicy", "rules");
    let why = "at least one rules must be specified when the successPolicy is specified";
    rules.want(why, errors);
    let completions = spec.number("completions").unwrap_or_default();
    for rule in rules.items() {
        let (count, list) = (rule.at("succeededCount"), rule.at("succeededIndexes"));
        if count.value.is_null() && list.value.is_null() {
            let why = "at least one of succeededCount or succeededIndexes must be specified";
            errors.push(rule.required(why));
        }
        let mut named = None;
        if !list.value.is_null() {
            match indexes_of(list.own(), completions) {
                Ok(number) => named = Some(number),
                Err(why) => {
                    errors.push(list.invalid(format!("error parsing succeededIndexes: {why}")));
                    named = Some(0);
                }
            }
        }
        if let Some(number) = count.value.as_i64() {
            if number < 0 {
                errors.push(count.invalid("must be greater than or equal to 0"));
            }
            if number > completions {
                let why = format!("must be less than or equal to {completions} (the number of specified completions)");
                errors.push(count.invalid(why));
            }
            if named.is_some_and(|named| number > named) {
                let why = format!(
                    "must be less than or equal to {} (the number of indexes in the specified succeededIndexes field)",
                    named.unwrap_or_default()
                );
                errors.push(count.invalid(why));
            }
        }
    }
}

/// How many indexes a list such as `0-2,5` names.
fn indexes_of(list: &str, completions: i64) -> Result<i64, String> {
    let mut number = 0;
    let mut last = -1;
    for range in list.split(',').filter(|_| !list.is_empty()) {
        let (first, end) = range.split_once('-').unwrap_or((range, range));
        let parse = |text: &str| -> Result<i64, String> {
            let index: i64 = text
                .parse()
                .map_err(|_| format!("cannot convert string to integer for index: {text:?}"))?;
            if index >= completions {
                return Err(format!("too large index: {text:?}"));
            }
            Ok(index)
        };
        let (low, high) = (parse(first)?, parse(end)?);
        if low <= last || (low >= high && first != end) {
            return Err(format!("non-increasing order, previous: {last}, current: {low}"));
        }
        number += high - low + 1;
        last = high;
    }
    Ok(number)
}

/// A CronJob's times.
pub(super) fn cron(object: &Place<'_>, old: Option<&Value>, errors: &mut Errors) {
    const NAME: usize = 52;
    let spec = object.at("spec");
    schedule(&spec.at("schedule"), errors);
    for field in [
        "startingDeadlineSeconds",
        "successfulJobsHistoryLimit",
        "failedJobsHistoryLimit",
    ] {
        spec.at(field).natural(errors);
    }
    if !spec.has("concurrencyPolicy") {
        errors.push(spec.at("concurrencyPolicy").required(""));
    }
    zone(&spec.at("timeZone"), errors);
    let name = object.under("metadata", "name");
    if old.is_none() && name.own().len() > NAME {
        errors.push(name.invalid(format!("must be no more than {NAME} characters")));
    }
}

fn zone(zone: &Place<'_>, errors: &mut Errors) {
    let given = zone.own();
    if zone.value.is_null() {
        return;
    }
    if given.is_empty() {
        errors.push(zone.invalid("timeZone must be nil or non-empty string"));
    } else if given.eq_ignore_ascii_case("local") {
        errors
            .push(zone.invalid("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"));
    } else if jiff::tz::TimeZone::get(given).is_err() {
        errors.push(zone.invalid(format!("unknown time zone {given}")));
    }
}

fn schedule(place: &Place<'_>, errors: &mut Errors) {
    let given = place.own();
    if given.is_empty() {
        errors.push(place.required(""));
        return;
    }
    if given.contains("TZ=") {
        let why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        errors.push(place.invalid(why));
        return;
    }
    if let Some(descriptor) = given.strip_prefix('@') {
        const KNOWN: [&str; 7] = ["yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"];
        if !KNOWN.contains(&descriptor) && !descriptor.starts_with("every ") {
            errors.push(place.invalid(format!("unrecognized descriptor: {given}")));
        }
        return;
    }
    let fields: Vec<&str> = given.split_whitespace().collect();
    if fields.len() != 5 {
        let why = format!("expected exactly 5 fields, found {}: {fields:?}", fields.len());
        errors.push(place.invalid(why));
        return;
    }
    const RANGES: [(i64, i64); 5] = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)];
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
    for (position, (field, (low, high))) in fields.iter().zip(RANGES).enumerate() {
        let names: &[&str] = match position {
            3 => &MONTHS,
            4 => &DAYS,
            _ => &[],
        };
        if let Err(why) = field.split(',').try_for_each(|part| times(part, low, high, names)) {
            errors.push(place.invalid(why));
            return;
        }
    }
}

/// One of the comma-separated parts of a field: `*/5`, `1-5/2`, `mon`.
fn times(part: &str, low: i64, high: i64, names: &[&str]) -> Result<(), String> {
    let first_name = low;
    let number = |text: &str| -> Result<i64, String> {
        let lower = text.to_ascii_lowercase();
        if let Some(position) = names.iter().position(|name| *name == lower) {
            return Ok(first_name + i64::try_from(position).unwrap_or_default());
        }
        text.parse::<i64>()
            .map_err(|_| format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax"))
    };
    let (range, step) = match part.split_once('/') {
        Some((range, step)) => (range, Some(step)),
        None => (part, None),
    };
    if let Some(step) = step
        && number(step)? < 1
    {
        return Err(format!("step of range should be a positive number: {part}"));
    }
    if matches!(range, "*" | "?") {
        return Ok(());
    }
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last) = (number(first)?, number(last)?);
    if first < low {
        return Err(format!("beginning of range ({first}) below minimum ({low}): {part}"));
    }
    if last > high {
        return Err(format!("end of range ({last}) above maximum ({high}): {part}"));
    }
    if first > last {
        return Err(format!(
            "beginning of range ({first}) beyond end of range ({last}): {part}"
        ));
    }
    Ok(())
}
