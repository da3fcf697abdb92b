//! CEL as Kubernetes speaks it: the `cel` crate's language plus the Kubernetes libraries, errors in cel-go's words.

mod check;
mod decl;
mod error;
mod escape;
mod functions;
mod library;
mod macros;
mod program;
mod values;

pub use ::cel::Value;
pub use check::{Checked, check};
pub use decl::{Decl, MAX_REQUEST};
pub use error::EvalError;
pub use escape::{escape, is_reserved};
pub use program::Program;
pub use values::{decode_base64, duration, list, map, optional, text, timestamp};

#[cfg(test)]
mod tests {
    use super::{Program, Value};

    #[test]
    fn speaks_the_kubernetes_libraries() {
        let truths = [
            "quantity('1.5Gi').isGreaterThan(quantity('1G'))",
            "isQuantity('1e3') && !isQuantity('abc')",
            "quantity('50k').add(quantity('20k')).asInteger() == 70000",
            "quantity('1500m').sub(1) == quantity('0.5')",
            "url('https://a.example:8080/p?q=1').getPort() == '8080'",
            "isURL('/x') && !isURL('x')",
            "url('https://a.example/p?q=1').getQuery()['q'] == ['1']",
            "ip('10.0.0.1').family() == 4 && isIP('::1') && !isIP('::ffff:1.2.3.4')",
            "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
            "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
            "ip.isCanonical('::1')",
            "'a1b22'.find('[0-9]+') == '1' && 'a1b22'.findAll('[0-9]+') == ['1', '22']",
            "'a1b22'.findAll('[0-9]+', 1) == ['1']",
            "[1, 2, 3].isSorted() && [1, 2].sum() == 3",
            "[3, 1, 2].min() == 1 && [3, 1, 2].max() == 3",
            "[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2",
            "sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && sets.intersects([1], [1, 2])",
            "semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('1.0.0-rc.1') && !isSemver('1.0')",
            "semver('v1.2', true).minor() == 2",
            "semver('1.0.0').isGreaterThan(semver('1.0.0-rc.1'))",
            "!format.dns1123Label().validate('a-b').hasValue() && format.dns1123Label().validate('A').hasValue()",
            "format.named('uuid').hasValue() && !format.named('nope').hasValue()",
            "cel.bind(x, 1 + 1, x * x == 4)",
            "[10, 20].all(i, v, v == (i + 1) * 10)",
            "{'a': 1}.exists(k, v, k == 'a' && v == 1)",
            "[5, 6].transformList(i, v, v + i) == [5, 7]",
            "[1, 2, 3].transformList(i, v, v > 1, v) == [2, 3]",
            "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
            "[1, 2].existsOne(i, v, v == 2)",
            "'%s is %d'.format(['a', 1]) == 'a is 1'",
            "[2, 1].sort() == [1, 2]",
            "size('é') == 1",
            "1 == 1.0",
            "'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b'",
            "'AbC'.lowerAscii() == 'abc'",
            "optional.of(1).orValue(2) == 1 && {'a': 1}.?b.orValue(7) == 7",
            "'abc'.matches('^a.c$')",
        ];
        for rule in truths {
            let program = Program::compile(rule).unwrap_or_else(|why| panic!("{rule}: {why}"));
            assert_eq!(program.evaluate(&[]), Ok(Value::Bool(true)), "{rule}");
        }
    }

    #[test]
    fn unknown_functions_are_never_true() {
        let program = Program::compile("authorizer.path('/x').check('get').allowed()").unwrap();
        assert!(matches!(program.evaluate(&[]), Err(super::EvalError::Unsupported(_))));
    }
}
