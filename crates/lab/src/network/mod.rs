//! Namespaces, devices and processes made from a blueprint, and gone without a trace.
