//! The language as CEL's specification has it, on facts with holes.

use super::*;
use crate::fact::{FactMap, Reason};
use crate::scope::{HostFacts, Scope};
use crate::vocabulary::Vocabulary;

/// The value of an expression on a host of which nothing is known.
fn value(source: &str) -> Result<Fact, String> {
    let mut language = Language::new(Vocabulary::built_in());
    let expression = language.compile(source, Per::Host).map_err(|fault| fault.message)?;
    let (host, inputs) = (HostFacts::default(), FactMap::new());
    let scope = Scope::of_host(&host, None, &inputs);
    expression.evaluate(&language.ground(&scope)).map_err(|unvalued| match unvalued {
        Unvalued::Lacks { why, .. } => format!("lacks {why}"),
        Unvalued::Failed(why) => why,
    })
}

fn is_true(source: &str) -> bool {
    value(source) == Ok(Fact::Bool(true))
}

#[test]
fn operators_bind_as_in_cel() {
    for source in [
        "1 + 2 * 3 == 7 && 10 - 4 - 3 == 3 && 7 / 2 * 2 == 6 && -7 % 3 == -1",
        "!false && true || false",
        "true || true && false",
        "false ? 1 == 2 : true ? true : false",
        "1 < 2 == true",
        "-(2 + 3) == -5 && - 5 == -5 && !!true",
        "1 in [1, 2,] && !(3 in [1, 2]) && \"a\" in {\"a\": 1}",
        "[1, 2] + [3] == [1, 2, 3] && \"a\" + 'b' == \"ab\"",
        "{\"a\": [5, 6]}.a[1] == 6 && {\"a\": 1}[\"a\"] == 1",
    ] {
        assert!(is_true(source), "{source}: {:?}", value(source));
    }
}

#[test]
fn numbers_compare_by_worth_and_do_not_mix() {
    assert!(is_true("1 == 1.0 && 1 < 1.5 && 2.5 > 2 && 1 in [1.0] && 1 != 'a'"));
    assert_eq!(
        value("1 + 1.5").unwrap_err(),
        "`+` does not go with a whole number and a number: write double(…) around the whole number"
    );
    assert!(is_true("double(1) + 1.5 == 2.5 && int(2.9) == 2 && int('7') == 7 && string(5) == '5'"));
    assert_eq!(value("9223372036854775807 + 1").unwrap_err(), "9223372036854775807 + 1 has more than 63 bits");
    assert_eq!(value("1 / 0").unwrap_err(), "1 / 0 is a division by zero");
    assert_eq!(value("int(1e19)").unwrap_err(), "int() wants a number of 63 bits, or a text of one");
}

#[test]
fn what_decides_spares_what_is_not_known() {
    let lacking = "[{\"a\": 1}][0][\"b\"]";
    assert_eq!(value(lacking).unwrap_err(), "lacks b is absent");
    for source in [
        format!("true || {lacking} == 1"),
        format!("{lacking} == 1 || true"),
        format!("!({lacking} == 1 && false)"),
        format!("[1, 2].exists(x, x == 2 || {lacking} == 1)"),
        format!("true ? true : {lacking}"),
    ] {
        assert!(is_true(&source), "{source}: {:?}", value(&source));
    }
    for source in
        [format!("{lacking} == 1 && true"), format!("[1, 2].all(x, {lacking} == x)"), format!("{lacking} ? 1 : 1")]
    {
        assert_eq!(value(&source).unwrap_err(), "lacks b is absent", "{source}");
    }
}

#[test]
fn lists_are_gone_through_as_in_cel() {
    for source in [
        "[1, 2, 3].all(x, x > 0) && ![1, 2].all(x, x > 1) && [].all(x, false)",
        "[1, 2].exists(x, x == 2) && ![].exists(x, true)",
        "[1, 2, 3].exists_one(x, x > 2) && ![2, 3].exists_one(x, x > 1)",
        "[1, 2, 3].filter(x, x != 2) == [1, 3]",
        "[1, 2, 3].map(x, x * 2) == [2, 4, 6] && [1, 2, 3].map(x, x > 1, x * 2) == [4, 6]",
        "[[1, 2], [3]].exists(row, row.exists(x, x == size(row)))",
        "size([1, 2]) == 2 && 'héé'.size() == 3 && size({}) == 0",
        "'fq_codel'.startsWith('fq') && 'fq_codel'.contains('_co') && 'fq_codel'.endsWith('del')",
    ] {
        assert!(is_true(source), "{source}: {:?}", value(source));
    }
    let missing = Fact::Missing(crate::fact::Missing::new(Reason::Denied, ""));
    let listed = operators::apply(tree::Binary::In, &Fact::Int(1), &Fact::List(vec![missing]));
    assert_eq!(listed, Err(Unvalued::Lacks { slot: None, why: "an element is denied".to_owned() }));
}

#[test]
fn what_is_no_condition_is_refused_with_its_place() {
    for (source, line, column, message) in [
        ("1 +", 0, 3, "a value is expected here, not the end"),
        ("(1 + 2", 0, 6, "`)` is expected here, not the end"),
        ("true &&\n  && false", 1, 2, "a value is expected here, not `&&`"),
        ("1 2", 0, 2, "an operator or the end is expected here, not a number"),
        ("nothing.there > 1", 0, 0, "there is no fact `nothing.there`; docs/rules.md lists those there are"),
        ("null == 1", 0, 0, "there is no null: a fact that is missing makes a rule unknown"),
        ("has(a.b)", 0, 0, "has() is not for facts: a missing fact makes a rule unknown, it is no answer"),
        ("[1].exists(1, true)", 0, 4, "the first argument of exists() names the element"),
        ("least(1)", 0, 0, "least() has 2 arguments, not 1"),
        ("rate(1)", 0, 0, "rate() wants the name of one counter"),
        ("a.1", 0, 1, "an operator or the end is expected here, not a number"),
    ] {
        let fault = Language::new(Vocabulary::built_in()).compile(source, Per::Host).unwrap_err();
        assert_eq!((fault.line, fault.column, fault.message.as_str()), (line, column, message), "{source}");
    }
    let unknown = value("'a'.matches('b')").unwrap_err();
    assert!(unknown.starts_with("there is no function `matches`; there are size, contains,"), "{unknown}");
}

#[test]
fn no_text_goes_deeper_than_the_stack() {
    for source in [format!("{}1", "!".repeat(240)), format!("[1]{}", "[0]".repeat(1_200)), "1 in ".repeat(700) + "1"] {
        assert!(value(&source).is_err(), "{source}");
    }
    assert!(is_true(&format!("1{} == 200", " + 1".repeat(199))));
}
