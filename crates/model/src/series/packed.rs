//! The packed form of samples.
