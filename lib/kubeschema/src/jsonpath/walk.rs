//! A parsed path and a document → the values it reaches. Missing keys reach nothing.

use serde_json::Value;

use super::{Comparison, Operand, Origin, Step};

pub(super) fn walk<'a>(steps: &[Step], root: &'a Value, start: &'a Value) -> Vec<&'a Value> {
    let mut reached = vec![start];
    for step in steps {
        let mut next = Vec::new();
        for value in reached {
            take(step, root, value, &mut next);
        }
        reached = next;
    }
    reached
}

fn take<'a>(step: &Step, root: &'a Value, value: &'a Value, found: &mut Vec<&'a Value>) {
    match step {
        Step::Field(name) => {
            if let Some(child) = value.get(name.as_str()) {
                found.push(child);
            }
        }
        Step::Wildcard => found.extend(children(value)),
        Step::Descend => descend(value, found),
        Step::Index(index) => {
            if let Some(item) = value
                .as_array()
                .and_then(|list| position(*index, list.len()).and_then(|p| list.get(p)))
            {
                found.push(item);
            }
        }
        Step::Slice { start, end, step } => {
            if let Some(list) = value.as_array() {
                let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
                let absolute = |bound: i64| if bound < 0 { bound + length } else { bound }.clamp(0, length);
                let (from, to) = (absolute(start.unwrap_or(0)), absolute(end.unwrap_or(length)));
                let width = usize::try_from(*step).unwrap_or(1).max(1);
                let from = usize::try_from(from).unwrap_or(0);
                let to = usize::try_from(to).unwrap_or(0);
                found.extend(list.iter().take(to).skip(from).step_by(width));
            }
        }
        Step::Union(parts) => {
            for part in parts {
                take(part, root, value, found);
            }
        }
        Step::Filter { left, comparison } => {
            found.extend(
                children(value)
                    .into_iter()
                    .filter(|child| passes(left, comparison.as_ref(), root, child)),
            );
        }
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(list) => list.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

fn descend<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    found.push(value);
    for child in children(value) {
        descend(child, found);
    }
}

fn position(index: i64, length: usize) -> Option<usize> {
    if index < 0 {
        length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
    } else {
        usize::try_from(index).ok()
    }
}

fn passes(left: &Operand, comparison: Option<&(Comparison, Operand)>, root: &Value, item: &Value) -> bool {
    let left = operand(left, root, item);
    let Some((comparison, right)) = comparison else {
        return left.is_some();
    };
    let (Some(left), Some(right)) = (left, operand(right, root, item)) else {
        return false;
    };
    let order = match (left, right) {
        (Value::Number(a), Value::Number(b)) => a.as_f64().partial_cmp(&b.as_f64()),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        _ => None,
    };
    match comparison {
        Comparison::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
        Comparison::NotEqual => order.is_none_or(std::cmp::Ordering::is_ne),
        Comparison::Less => order.is_some_and(std::cmp::Ordering::is_lt),
        Comparison::LessOrEqual => order.is_some_and(std::cmp::Ordering::is_le),
        Comparison::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
        Comparison::GreaterOrEqual => order.is_some_and(std::cmp::Ordering::is_ge),
    }
}

fn operand<'a>(operand: &'a Operand, root: &'a Value, item: &'a Value) -> Option<&'a Value> {
    match operand {
        Operand::Literal(value) => Some(value),
        Operand::Path(steps, origin) => {
            let start = if *origin == Origin::Root { root } else { item };
            walk(steps, root, start).into_iter().next()
        }
    }
}
