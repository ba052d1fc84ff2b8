//! Faults, each with what it does to a network from barely visible to total (docs/incidents.md, "What is wrong").
//!
//! * `ground`: what a fault is, and what it is drawn in
//! * `path`: between hosts
//! * `hosts`: settings and programs of hosts, and what tests ask for
//! * `hardware`: NICs
//! * `routes`: ways
//! * `services`: proxies

mod ground;
mod hardware;
mod hosts;
mod path;
mod routes;
mod services;

pub(super) use ground::{Claim, Ground, Planted};

type Recipe = fn(&mut Ground<'_>, f64) -> Option<Planted>;

/// All that can be drawn. One that a network cannot have gives nothing, and another is drawn.
pub(super) const RECIPES: &[Recipe] = &[
    path::random_loss,
    path::loss_on_segment,
    path::dirty_fibre,
    path::duplex_mismatch,
    path::lag_member,
    path::reordering,
    path::policer,
    path::slow_segment,
    path::rate_limit,
    path::shallow_queue,
    path::bufferbloat,
    path::cross_traffic,
    path::microburst,
    path::firewall,
    path::mtu_black_hole,
    path::mtu_mismatch,
    path::mtu_overlay,
    path::conntrack_timeout,
    path::ecn_marking,
    hosts::receive_window,
    hosts::send_buffer,
    hosts::host_untuned,
    hosts::tuning_reset,
    hosts::congestion_control,
    hosts::sender_cpu,
    hosts::receiver_slow,
    hosts::udp_sender_drops,
    hosts::udp_sender_held,
    hosts::udp_receiver_drops,
    hosts::device_queue_drops,
    hosts::window_scaling_off,
    hosts::sack_off,
    hosts::sender_unpaced,
    hosts::start_window,
    hosts::ecn_forced,
    hosts::test_limit,
    hardware::ring_small,
    hardware::ring_small_send,
    hardware::receive_offload,
    hardware::link_slow,
    hardware::emulated_nic,
    hardware::nic_errors,
    hardware::pause_frames,
    hardware::bus_narrow,
    hardware::unknown_vlan,
    routes::asymmetric_route,
    routes::route_change,
    services::rerouted_requests,
];
