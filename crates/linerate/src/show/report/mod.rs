//! `linerate report`: an incident as a post-mortem.
//!
//! * [`sections`]: what the record says, in the sections of Atlassian's template, which account 000 follows
//! * [`document`]: Markdown whose sections people edit, and that grows with the record
//! * [`html`]: the same for a browser and for paper

pub mod document;
pub mod html;
pub mod sections;
