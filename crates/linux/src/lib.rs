//! The Linux kernel's interfaces that linerate uses; the only crate with unsafe code.
#![allow(unsafe_code)]
