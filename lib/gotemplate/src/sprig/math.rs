//! Arithmetic: on int64, and on float64 with the suffix `f`.

use super::decimal::Decimal;
use super::number::{to_duration, to_float, to_int64};
use super::text::steps;
use super::{any, int, rest};
use crate::failure::Failure;
use crate::function::Native;
use crate::machine::Machine;
use crate::value::{Element, List, Value};

pub(super) const TABLE: &[(&str, &str, Native)] = &[
    ("int", "a", |_, args| Ok(Value::Int(to_int64(any(args, 0))))),
    ("int64", "a", |_, args| Ok(Value::Int64(to_int64(any(args, 0))))),
    ("float64", "a", |_, args| Ok(Value::Float(to_float(any(args, 0))))),
    ("add1", "a", |_, args| {
        Ok(Value::Int64(to_int64(any(args, 0)).wrapping_add(1)))
    }),
    ("add", "a*", |_, args| {
        Ok(Value::Int64(args.iter().map(to_int64).fold(0, i64::wrapping_add)))
    }),
    ("sub", "aa", |_, args| {
        Ok(Value::Int64(
            to_int64(any(args, 0)).wrapping_sub(to_int64(any(args, 1))),
        ))
    }),
    ("mul", "aa*", |_, args| {
        Ok(Value::Int64(args.iter().map(to_int64).fold(1, i64::wrapping_mul)))
    }),
    ("div", "aa", |_, args| divided(args, i64::checked_div)),
    ("mod", "aa", |_, args| divided(args, i64::checked_rem)),
    ("add1f", "a", |_, args| Ok(Value::Float(to_float(any(args, 0)) + 1.0))),
    ("addf", "a*", |_, args| {
        folded(args, Some(0.0), |sum, next| Some(sum.plus(next)))
    }),
    ("subf", "aa*", |_, args| {
        folded(args, None, |sum, next| Some(sum.minus(next)))
    }),
    ("mulf", "aa*", |_, args| {
        folded(args, None, |sum, next| Some(sum.times(next)))
    }),
    ("divf", "aa*", |_, args| folded(args, None, Decimal::over)),
    ("max", "aa*", |_, args| {
        Ok(Value::Int64(args.iter().map(to_int64).max().unwrap_or(0)))
    }),
    ("biggest", "aa*", |_, args| {
        Ok(Value::Int64(args.iter().map(to_int64).max().unwrap_or(0)))
    }),
    ("min", "aa*", |_, args| {
        Ok(Value::Int64(args.iter().map(to_int64).min().unwrap_or(0)))
    }),
    ("maxf", "aa*", |_, args| {
        Ok(Value::Float(
            args.iter().map(to_float).fold(f64::NEG_INFINITY, f64::max),
        ))
    }),
    ("minf", "aa*", |_, args| {
        Ok(Value::Float(args.iter().map(to_float).fold(f64::INFINITY, f64::min)))
    }),
    ("ceil", "a", |_, args| Ok(Value::Float(to_float(any(args, 0)).ceil()))),
    ("floor", "a", |_, args| Ok(Value::Float(to_float(any(args, 0)).floor()))),
    ("round", "aif*", round),
    ("until", "i", |machine, args| {
        let end = int(args, 0);
        numbers(machine, 0, end, if end < 0 { -1 } else { 1 })
    }),
    ("untilStep", "iii", |machine, args| {
        numbers(machine, int(args, 0), int(args, 1), int(args, 2))
    }),
    ("duration", "a", |_, args| {
        let seconds = match any(args, 0) {
            Value::Str(text) => text.parse().unwrap_or(0),
            Value::Int64(number) => *number,
            _ => 0i64,
        };
        Ok(crate::number::duration(seconds.saturating_mul(1_000_000_000)).into())
    }),
    (
        "durationRound",
        "a",
        |_, args| Ok(rounded_duration(any(args, 0)).into()),
    ),
];

fn divided(args: &[Value], operation: fn(i64, i64) -> Option<i64>) -> Result<Value, Failure> {
    let (left, right) = (to_int64(any(args, 0)), to_int64(any(args, 1)));
    if right == 0 {
        return Err("runtime error: integer divide by zero".into());
    }
    Ok(Value::Int64(operation(left, right).unwrap_or(left)))
}

fn folded(
    args: &[Value],
    start: Option<f64>,
    step: fn(&Decimal, &Decimal) -> Option<Decimal>,
) -> Result<Value, Failure> {
    let mut result = start.and_then(Decimal::from_float);
    for arg in args {
        let number = to_float(arg);
        let Some(next) = Decimal::from_float(number) else {
            return Err(Failure::new(format!(
                "Cannot create a Decimal from {}",
                crate::number::general(number, None)
            )));
        };
        result = Some(match &result {
            None => next,
            Some(sum) => step(sum, &next).ok_or("decimal division by 0")?,
        });
    }
    Ok(Value::Float(result.map_or(0.0, |result| result.to_float())))
}

fn round(_: &mut Machine<'_>, args: &[Value]) -> Result<Value, Failure> {
    let value = to_float(any(args, 0));
    let up_from = rest(args, 2).first().map_or(0.5, to_float);
    let power = 10f64.powi(i32::try_from(int(args, 1)).unwrap_or(0));
    let digit = power * value;
    let fraction = digit.fract();
    let rounded = if digit >= 0.0 {
        if fraction >= up_from {
            digit.ceil()
        } else {
            digit.floor()
        }
    } else if fraction.abs() >= up_from {
        digit.floor()
    } else {
        digit.ceil()
    };
    Ok(Value::Float(rounded / power))
}

fn numbers(machine: &mut Machine<'_>, start: i64, end: i64, step: i64) -> Result<Value, Failure> {
    let items = steps(machine, start, end, step)?;
    Ok(List::typed(Element::Int, items.into_iter().map(Value::Int).collect()).into())
}

fn rounded_duration(value: &Value) -> String {
    let nanos = match value {
        Value::Str(_) => to_duration(value),
        Value::Int64(number) => *number,
        _ => 0,
    };
    let sign = if nanos < 0 { "-" } else { "" };
    let units = [
        (31_536_000, "y"),
        (2_592_000, "mo"),
        (86_400, "d"),
        (3_600, "h"),
        (60, "m"),
        (1, "s"),
    ];
    for (size, unit) in units {
        let size: u64 = size * 1_000_000_000;
        // A whole unit still counts in the smaller one.
        if nanos.unsigned_abs() > size {
            return format!("{sign}{}{unit}", nanos.unsigned_abs() / size);
        }
    }
    "0s".into()
}
