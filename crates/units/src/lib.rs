//! Quantities of networks as types: rates, bytes, packets, times, and their text form.
