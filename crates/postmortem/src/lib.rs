//! An incident as a post-mortem: what its record says, what people have written, and what was measured, as one document. Pure.
//!
//! * [`sections`]: what the record says, in the sections of a post-mortem
//! * [`document`]: Markdown whose sections people edit, and that grows with the record
//! * [`figures`]: the series that an incident has moved most, as pictures
//! * [`html`]: the document for a browser and for paper

pub mod document;
pub mod figures;
pub mod html;
pub mod sections;
