//! `cel.bind` and the two-variable comprehensions, which the interpreter lacks.
//!
//! A binding becomes a comprehension over nothing whose accumulator is the variable; a two-variable comprehension runs
//! over the list of entries and binds both parts of each.

use ::cel::common::ast::{CallExpr, ComprehensionExpr, Expr, ListExpr, LiteralValue, MapExpr, operators};
use ::cel::parser::{Macro, MacroExprHelper, ParseError};
use ::cel::{DeclarationError, Env, IdedExpr};

const ACCUMULATOR: &str = "@result";
const ENTRY: &str = "@entry";

/// Adds the macros to an environment.
pub(super) fn register(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_macro(Macro::receiver("bind", 3, |helper, target, args| {
        if !matches!(target.as_ref().map(|target| &target.expr), Some(Expr::Ident(name)) if name == "cel") {
            return Ok(None);
        }
        let (Some(body), Some(init), Some(variable)) = (args.pop(), args.pop(), args.pop()) else {
            return Ok(None);
        };
        let name = variable_name(helper, &variable)?;
        *target = None;
        Ok(Some(bind(helper, name, init, body)))
    }))?;
    for (name, kind) in [
        ("all", Kind::All),
        ("exists", Kind::Exists),
        ("existsOne", Kind::ExistsOne),
        ("exists_one", Kind::ExistsOne),
        ("transformList", Kind::List),
        ("transformMap", Kind::Map),
    ] {
        env.add_macro(two_variables(name, 3, kind))?;
    }
    env.add_macro(two_variables("transformList", 4, Kind::List))?;
    env.add_macro(two_variables("transformMap", 4, Kind::Map))
}

/// What a two-variable comprehension makes.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    All,
    Exists,
    ExistsOne,
    List,
    Map,
}

fn two_variables(name: &'static str, arguments: usize, kind: Kind) -> Macro {
    Macro::receiver(name, arguments, move |helper, target, args| {
        let body = args.pop();
        let filter = if arguments == 4 { args.pop() } else { None };
        let (Some(body), Some(second), Some(first), Some(range)) =
            (body, args.pop(), args.pop(), target.take())
        else {
            return Err(helper.new_error(helper_id(), "macro called without its arguments"));
        };
        let names = (variable_name(helper, &first)?, variable_name(helper, &second)?);
        Ok(Some(comprehension(helper, kind, range, &names, filter, body)))
    })
}

/// No place of its own: the parser's own node is used.
fn helper_id() -> u64 {
    0
}

fn variable_name(helper: &MacroExprHelper<'_>, variable: &IdedExpr) -> Result<String, ParseError> {
    match &variable.expr {
        Expr::Ident(name) => Ok(name.clone()),
        _ => Err(helper.new_error(variable.id, "argument must be a simple name")),
    }
}

fn ident(helper: &mut MacroExprHelper<'_>, name: &str) -> IdedExpr {
    helper.next_expr(Expr::Ident(name.to_owned()))
}

fn literal(helper: &mut MacroExprHelper<'_>, value: LiteralValue) -> IdedExpr {
    helper.next_expr(Expr::Literal(value))
}

fn call(helper: &mut MacroExprHelper<'_>, function: &str, args: Vec<IdedExpr>) -> IdedExpr {
    helper.next_expr(Expr::Call(CallExpr { func_name: function.to_owned(), target: None, args }))
}

fn bind(helper: &mut MacroExprHelper<'_>, name: String, init: IdedExpr, body: IdedExpr) -> IdedExpr {
    let iter_range = helper.next_expr(Expr::List(ListExpr::new(Vec::new())));
    let loop_cond = literal(helper, LiteralValue::Boolean(false.into()));
    let loop_step = ident(helper, &name);
    helper.next_expr(Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range,
        iter_var: "#unused".to_owned(),
        iter_var2: None,
        accu_var: name,
        accu_init: init,
        loop_cond,
        loop_step,
        result: body,
    })))
}

/// The expression with both variables bound to the parts of the entry.
fn with_entry(helper: &mut MacroExprHelper<'_>, names: &(String, String), body: IdedExpr) -> IdedExpr {
    let part = |i: i64, helper: &mut MacroExprHelper<'_>| {
        let entry = ident(helper, ENTRY);
        let index = literal(helper, LiteralValue::Int(i.into()));
        call(helper, operators::INDEX, vec![entry, index])
    };
    let (key, value) = (part(0, helper), part(1, helper));
    let inner = bind(helper, names.1.clone(), value, body);
    bind(helper, names.0.clone(), key, inner)
}

fn comprehension(
    helper: &mut MacroExprHelper<'_>,
    kind: Kind,
    range: IdedExpr,
    names: &(String, String),
    filter: Option<IdedExpr>,
    body: IdedExpr,
) -> IdedExpr {
    let iter_range = call(helper, "@entries", vec![range]);
    let body = with_entry(helper, names, body);
    let accu_init = initial(helper, kind);
    let loop_cond = condition(helper, kind);
    let mut loop_step = step(helper, kind, body);
    if let Some(filter) = filter {
        let filter = with_entry(helper, names, filter);
        let unchanged = ident(helper, ACCUMULATOR);
        loop_step = call(helper, operators::CONDITIONAL, vec![filter, loop_step, unchanged]);
    }
    let accumulator = ident(helper, ACCUMULATOR);
    let result = if kind == Kind::ExistsOne {
        let one = literal(helper, LiteralValue::Int(1.into()));
        call(helper, operators::EQUALS, vec![accumulator, one])
    } else {
        accumulator
    };
    helper.next_expr(Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range,
        iter_var: ENTRY.to_owned(),
        iter_var2: None,
        accu_var: ACCUMULATOR.to_owned(),
        accu_init,
        loop_cond,
        loop_step,
        result,
    })))
}

fn initial(helper: &mut MacroExprHelper<'_>, kind: Kind) -> IdedExpr {
    match kind {
        Kind::All => literal(helper, LiteralValue::Boolean(true.into())),
        Kind::Exists => literal(helper, LiteralValue::Boolean(false.into())),
        Kind::ExistsOne => literal(helper, LiteralValue::Int(0.into())),
        Kind::List => helper.next_expr(Expr::List(ListExpr::new(Vec::new()))),
        Kind::Map => helper.next_expr(Expr::Map(MapExpr { entries: Vec::new() })),
    }
}

fn condition(helper: &mut MacroExprHelper<'_>, kind: Kind) -> IdedExpr {
    let accumulator = ident(helper, ACCUMULATOR);
    match kind {
        Kind::All => call(helper, operators::NOT_STRICTLY_FALSE, vec![accumulator]),
        Kind::Exists => {
            let not = call(helper, operators::LOGICAL_NOT, vec![accumulator]);
            call(helper, operators::NOT_STRICTLY_FALSE, vec![not])
        }
        Kind::ExistsOne | Kind::List | Kind::Map => literal(helper, LiteralValue::Boolean(true.into())),
    }
}

fn step(helper: &mut MacroExprHelper<'_>, kind: Kind, body: IdedExpr) -> IdedExpr {
    let accumulator = ident(helper, ACCUMULATOR);
    match kind {
        Kind::All => call(helper, operators::LOGICAL_AND, vec![accumulator, body]),
        Kind::Exists => call(helper, operators::LOGICAL_OR, vec![accumulator, body]),
        Kind::ExistsOne => {
            let one = literal(helper, LiteralValue::Int(1.into()));
            let more = call(helper, operators::ADD, vec![accumulator, one]);
            let unchanged = ident(helper, ACCUMULATOR);
            call(helper, operators::CONDITIONAL, vec![body, more, unchanged])
        }
        Kind::List => {
            let item = helper.next_expr(Expr::List(ListExpr::new(vec![body])));
            call(helper, operators::ADD, vec![accumulator, item])
        }
        Kind::Map => {
            let entry = ident(helper, ENTRY);
            let zero = literal(helper, LiteralValue::Int(0.into()));
            let key = call(helper, operators::INDEX, vec![entry, zero]);
            call(helper, "@insert", vec![accumulator, key, body])
        }
    }
}
