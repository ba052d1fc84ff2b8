//! Which settings of two hosts keep a deadline most often, on a path where bursts come that nobody foresees.
//!
//! * [`question`]: the path, what is drawn of it, the settings as they are and what they may become, as written in a file;
//!   [`wanted`]: what was typed besides
//! * [`dial`]: a setting that may be changed; [`distribution`]: what is not known beforehand
//! * [`candidate`]: one choice of settings; [`trial`]: one transfer with them, and what came of it; [`ledger`]: all of these;
//!   `alike`: transfers that are the same as one that was simulated
//! * [`search`]: from many candidates to the best; `simplify`: from there to the least change that does as well
//! * [`confirm`]: the best, held against draws that no choice was made by
//! * [`front`]: what fewer changes would cost
//! * [`answer`] and [`split`]: what is said of it; [`fixes`]: the settings as plans for `linerate host fix`
//!
//! Nothing here owns a thread, a clock or a file: whoever asks gives a [`trial::Runner`], and the same question has the same
//! answer however many transfers that simulates at once.

mod alike;
pub mod answer;
pub mod candidate;
pub mod confirm;
pub mod dial;
pub mod distribution;
pub mod fixes;
pub mod front;
pub mod ledger;
pub mod question;
pub mod search;
mod simplify;
pub mod split;
pub mod trial;
pub mod wanted;

pub use answer::{Answer, Verdict};
pub use confirm::{TunedSettings, tune};
pub use question::{Question, QuestionError};
pub use trial::{Halt, Runner, Score, Trial};
pub use wanted::Wanted;
