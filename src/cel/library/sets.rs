//! Sets: `sets.contains`, `sets.equivalent`, `sets.intersects`.

use ::cel::Value;

use crate::cel::functions::Shape::{Bool, List};
use crate::cel::functions::{Overload, overload};
use crate::cel::library::list;

pub(in crate::cel) const OVERLOADS: &[Overload] = &[
    overload!("sets.contains" (List, List) -> Bool, contains),
    overload!("sets.equivalent" (List, List) -> Bool, equivalent),
    overload!("sets.intersects" (List, List) -> Bool, intersects),
];

fn holds(list: &[Value], others: &[Value]) -> bool {
    others.iter().all(|other| list.contains(other))
}

fn contains(args: &[Value]) -> Result<Value, String> {
    Ok(Value::Bool(holds(list(args.first())?, list(args.get(1))?)))
}

fn equivalent(args: &[Value]) -> Result<Value, String> {
    let (a, b) = (list(args.first())?, list(args.get(1))?);
    Ok(Value::Bool(holds(a, b) && holds(b, a)))
}

fn intersects(args: &[Value]) -> Result<Value, String> {
    let (a, b) = (list(args.first())?, list(args.get(1))?);
    Ok(Value::Bool(b.iter().any(|item| a.contains(item))))
}
