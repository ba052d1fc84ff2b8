//! Claims about small made-up runs.
