//! The repository's rules about itself, as tests over its crates and its source tree.
//!
//! * [`levels`]: which crate may know which
//! * [`purity`]: what crates below the line must not mention
//! * [`words`]: words that do not belong here, each with what to write instead
//! * [`terms`]: the field's words in texts and public names
//! * [`circles`]: files of a crate that need each other
//! * [`commits`]: subjects of commits
//! * [`signatures`]: arguments that a caller can mix up
//! * [`tolerated`]: how many places may still break the rules that came after the code
//! * [`sizes`]: files that have grown too long
//! * [`manifests`]: what every `Cargo.toml` says
//! * [`dependencies`]: licences, and crates compiled in two versions
//! * [`documents`]: links, decisions, change log, crate documentation
//! * [`pages`]: blocks of code on worked pages
//! * [`formats`]: the JSON schemas under `docs/formats/`
//!
//! and what the rules look at:
//!
//! * [`tree`]: the files of the repository
//! * [`rust`]: a Rust source split into code, comments and literals
//! * [`violation`]: a place where a rule is broken, and what to do there
//!
//! The rules that are lists are data, in `rules/`. A rule is a function from what it looks at to violations, so each has
//! tests of its own; `tests/repository/` applies them to this repository.

pub mod circles;
pub mod commits;
pub mod dependencies;
pub mod documents;
pub mod formats;
pub mod levels;
pub mod manifests;
pub mod pages;
pub mod purity;
pub mod rust;
pub mod signatures;
pub mod sizes;
pub mod terms;
pub mod tolerated;
pub mod tree;
pub mod violation;
pub mod words;
