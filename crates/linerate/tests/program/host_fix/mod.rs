//! `linerate host fix` and `linerate host undo`, in namespaces.
//!
//! * [`plants`]: misconfigurations of the catalogue: named first, fixed, and every byte back
//! * [`ends`]: how a fix ends: kept, not confirmed, called off, refused
//! * [`proof`]: kept only where tests show the gain
//! * [`files`]: what keeps it over the next start
//! * [`stages`]: several hosts

mod ends;
mod files;
mod plants;
mod proof;
mod stages;
