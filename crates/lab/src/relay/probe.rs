//! What this machine's relay can carry.
