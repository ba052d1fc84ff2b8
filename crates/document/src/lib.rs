//! Files of TOML that people write by hand: where in them something stands, what is wrong with it, and what may have been
//! meant.
//!
//! * [`Source`]: the text of a file; [`Key`] and [`FilePosition`] say where in it
//! * [`Reading`]: from the text to a type, past what does not fit it
//! * [`Complaints`]: reading goes on after a [`Complaint`], so that a person sees all of them at once
//! * [`DocumentError`]: what can be wrong with any such file; a format adds problems of its own
//! * [`nearest`]: the word that somebody may have meant
//!
//! Pure: a text comes in, values or complaints with file, line, key and hint go out.

mod complaint;
mod complaints;
mod error;
mod nearest;
mod reading;
mod source;

pub use complaint::{Complaint, Hint, hints, shown};
pub use complaints::{Complaints, Entry, NewName, Reference};
pub use error::{DocumentError, suggestion};
pub use nearest::nearest;
pub use reading::Reading;
pub use source::{FilePosition, Key, Source};
