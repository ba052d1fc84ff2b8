//! What a command puts on standard output.

use std::io::{self, Write};

use anyhow::Context;

use crate::exit::{Complaint, Exit};

/// Puts text on standard output, in lines that fit where it is a terminal.
pub fn print_text(text: &str) -> anyhow::Result<Exit> {
    match crate::show::wrap::terminal_width() {
        Some(width) => print(crate::show::wrap::fitted(text, width).as_bytes()),
        None => print(text.as_bytes()),
    }
}

/// Puts text on standard output. What a terminal would obey is shown instead: names in it may be a stranger's. JSON has no
/// such characters ([`crate::show::json`]), and what is no text goes out as it is.
pub fn print(data: &[u8]) -> anyhow::Result<Exit> {
    match std::str::from_utf8(data) {
        Ok(text) => print_as_it_is(foreign::terminal::lines(text).as_bytes()),
        Err(_) => print_as_it_is(data),
    }
}

/// Puts data on standard output, with colours that this program has put in. A reader that has seen enough, as `head`, is
/// no failure.
pub fn print_as_it_is(data: &[u8]) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    match out.write_all(data).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context(Complaint::new(Exit::Local, "cannot write to standard output"))
        }
        _ => Ok(Exit::Success),
    }
}
