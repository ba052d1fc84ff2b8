//! The file that describes a network, its faults, its tests and the truth.
