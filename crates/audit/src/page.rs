//! docs/rules.md, from the rules.
