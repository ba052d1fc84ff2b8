//! The pages that people look at: grids, diagnoses, runs, pairs and hosts, each with its JSON and a link of its own.
//!
//! * [`source`]: where the data of pages come from: an archive, or files
//! * [`view`]: what each page shows, as JSON
//! * [`site`]: from a request to a response, without a socket
//! * [`exchange`]: requests and responses
//! * `guard`: which requests are answered at all
//! * `query`: names and numbers in addresses
//! * `assets`: scripts and styles, compiled in
//! * [`server`]: the site on a socket of this machine
//!
//! A page is a shell without data, the same for every address; its script asks for the JSON and puts it in as text, never
//! as markup. Nothing is fetched from elsewhere.

mod assets;
pub mod exchange;
mod guard;
mod query;
pub mod server;
pub mod site;
pub mod source;
pub mod view;
