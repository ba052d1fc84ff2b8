//! Which difference of configuration separates bad hosts from good ones, and which change came before the rate changed.
//! `docs/localisation.md` tells how.
//!
//! * [`attribute`]: what goes in: attributes of hosts, and which hosts are bad
//! * [`class`]: kinds of settings, and how likely each is to cost rate
//! * [`rank`]: the attributes that separate, and the change to try
//! * [`split`]: what bad hosts have and good ones have not
//! * [`history`]: entries of the change log before each change of the rate
//! * `text`: all of it in words

pub mod attribute;
pub mod class;
pub mod history;
pub mod rank;
pub mod split;
mod text;
