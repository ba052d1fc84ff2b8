//! Errors: what, why, and the way out.

use model::run::Failure;

use crate::exit::Complaint;

/// Prints the chain of causes once, then the hints.
pub fn print(error: &anyhow::Error) {
    let mut line = format!("error: {error}");
    for cause in error.chain().skip(1) {
        line.push_str(": ");
        line.push_str(&cause.to_string());
    }
    eprintln!("{line}");
    if let Some(complaint) = error.downcast_ref::<Complaint>() {
        print_hints(complaint.hints());
    }
}

/// Prints why a run failed.
pub fn print_failure(failure: &Failure, hints: &[String]) {
    eprintln!("error: {}", failure.detail);
    print_hints(hints);
}

fn print_hints(hints: &[String]) {
    for hint in hints {
        eprintln!("hint: {hint}");
    }
}
