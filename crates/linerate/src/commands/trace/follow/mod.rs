//! `linerate trace --follow`: transfers as they pass, and all of them explained at the end.
//!
//! | file | what it holds |
//! |---|---|
//! | `device` | packets of a device |
//! | `file` | packets of a capture that somebody else still writes |
//! | `growing` | such a file, as bytes |
//! | `output` | intervals as they come, and the end |

pub mod device;
pub mod file;
mod growing;
mod output;
