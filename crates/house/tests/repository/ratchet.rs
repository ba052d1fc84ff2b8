//! Rules that came after the code: the places that break them may only become fewer.

use std::collections::BTreeMap;

use anyhow::Result;
use house::tolerated::{TABLE, Tolerated};
use house::tree::{self, Tree};
use house::violation::{Violation, assert_none};
use house::words::Words;
use house::{circles, signatures, terms};

/// Every rule by the name that it has in the table.
fn found() -> Result<BTreeMap<&'static str, Vec<Violation>>> {
    let (tree, words) = (Tree::of_repository()?, Words::table()?.term);
    let mixable = signatures::check(&tree);
    Ok(BTreeMap::from([
        ("field-words-in-texts", terms::check_texts(&words, &tree)),
        ("field-words-in-names", terms::check_names(&words, &tree)),
        ("comments-that-say-nothing", terms::check_comments(&tree)),
        ("circles-of-files", circles::check(&tree)),
        ("tuple-arguments", mixable.tuples),
        ("bool-arguments", mixable.bools),
        ("neighbouring-primitives", mixable.neighbours),
    ]))
}

#[test]
fn rules_that_came_after_the_code_are_broken_in_fewer_and_fewer_places() -> Result<()> {
    let (tolerated, found) = (Tolerated::table()?, found()?);
    if std::env::var_os("LOWER_TOLERATED").is_some() {
        std::fs::write(tree::root().join(TABLE), tolerated.lowered(&found))?;
        return Ok(());
    }
    for (rule, violations) in found {
        assert_none(&tolerated.beyond(rule, violations));
    }
    Ok(())
}
