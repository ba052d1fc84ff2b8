//! Robust statistics over measurements: steady state, summaries, rank tests.
