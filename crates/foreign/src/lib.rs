//! Text that others wrote, on its way to a terminal, a command line or a file.
//!
//! Names of hosts, devices and users, error texts of other programs, values of files: whoever wrote them may have meant
//! them for us. Three places make a command of a text, so nothing foreign reaches them but through here:
//!
//! * [`terminal`]: control sequences move the cursor or rename the window, and a line break begins a line of its own
//! * [`shell`]: `$(…)`, quotes, blanks and `;` are the shell's
//! * [`mod@file`]: a line break begins another setting
//!
//! [`device`] has the kernel's rules for names of devices, which is where most foreign names begin.

pub mod device;
pub mod file;
pub mod shell;
pub mod terminal;
