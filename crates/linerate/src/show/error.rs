//! Errors: what, why, and the way out.

use model::run::Failure;

use super::wrap::for_standard_error;
use crate::exit::Complaint;

/// A line on standard error, where anybody reads it.
pub fn say(line: std::fmt::Arguments<'_>) {
    use std::io::Write;
    // Nobody is left to be told that nobody is left.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Prints the chain of causes once, then the hints.
pub fn print(error: &anyhow::Error) {
    let mut line = format!("error: {error}");
    for cause in error.chain().skip(1) {
        line.push_str(": ");
        line.push_str(&cause.to_string());
    }
    eprintln!("{}", for_standard_error(&foreign::terminal::indented(&line)));
    if let Some(complaint) = error.downcast_ref::<Complaint>() {
        print_hints(complaint.hints());
    }
}

/// Prints why a run failed.
pub fn print_failure(failure: &Failure, hints: &[String]) {
    let line = format!("error: {}", foreign::terminal::indented(&failure.detail));
    eprintln!("{}", for_standard_error(&line));
    print_hints(hints);
}

fn print_hints(hints: &[String]) {
    for hint in hints {
        let line = format!("hint: {}", foreign::terminal::indented(hint));
        eprintln!("{}", for_standard_error(&line));
    }
}
