//! The large stored objects as JSON, each read and written in one place.
//!
//! What serde generates for one of them is hundreds of kilobytes of code. A crate that calls `serde_json::from_slice` for
//! itself gets its own copy of that, compiles it, and makes the program larger.

use serde_json::Error;

use crate::host::snapshot::Snapshot;
use crate::round::Round;
use crate::run::Run;
use crate::transfer::Transfer;

macro_rules! json {
    ($($object:ty),*) => {$(
        impl $object {
            /// Reads JSON.
            ///
            /// # Errors
            /// Line, column and what was expected there.
            #[inline(never)]
            pub fn from_json(json: &[u8]) -> Result<Self, Error> {
                serde_json::from_slice(json)
            }

            /// Writes JSON on one line, without its end.
            ///
            /// # Errors
            /// None that these types can have: their keys are texts.
            #[inline(never)]
            pub fn to_json(&self) -> Result<Vec<u8>, Error> {
                serde_json::to_vec(self)
            }
        }
    )*};
}

json!(Run, Round, Snapshot, Transfer);
