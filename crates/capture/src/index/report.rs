//! What is reported of a trace, as an index keeps it.

use crate::Owner;
use crate::direction::event::EventType;
use crate::report::{
    BudgetShare, CapturePoint, ConnectionReport, EventReport, PacketCounts, RttReport, TraceReport, TransferCounts,
    TransferReport, WindowReport,
};
use crate::verdict::Cause;

saved!(PacketCounts { tcp, other, fragments, fragments_apart, cut_short, unknown_link, first_unknown_link });
saved!(TraceReport { packets, counts, order, drops, connections, left_out } without damage);
saved!(ConnectionReport {
    client,
    server,
    outer,
    tags,
    first_ns,
    last_ns,
    first_frame,
    packets,
    duplicates,
    cut_options,
    has_handshake,
    was_reset,
    transfers
});
saved!(TransferReport {
    from, to, captured_at, first_ns, duration_ns, delivered_bytes, counts, rtt, window, outstanding_mean_bytes,
    outstanding_max_bytes, held_max_ns, flight_max_bytes, budget, events, events_left_out, verdicts
} without series, losses);
saved!(BudgetShare { owner, time_ns });
saved!(TransferCounts {
    data_packets,
    segments,
    payload_bytes,
    mss_bytes,
    super_packets,
    retransmits,
    spurious,
    dsacks,
    reordered,
    timeouts,
    tail_probes,
    recoveries,
    keep_alives,
    acks,
    duplicate_acks,
    zero_windows,
    ce_marks,
    ece_acks,
    unseen_bytes,
    held_packets
});
saved!(RttReport { samples, min_ns, median_ns, p95_ns, max_ns });
saved!(WindowReport { min_bytes, max_bytes, scale });
saved!(EventReport {
    number,
    event,
    from_ns,
    to_ns,
    first_frame,
    last_frame,
    retransmits,
    spurious,
    flight_bytes,
    cost_bytes,
    cost_ns
});
saved_enum!(CapturePoint { Sender, Receiver, Between, Unknown });
saved_enum!(EventType { Recovery, Timeout, ZeroWindow, Pause, DelaySpike });
saved_enum!(Owner {
    Handshake,
    Timeout,
    Recovery,
    ZeroWindow,
    ReceiverWindow,
    Application,
    SendBuffer,
    ApplicationOrSendBuffer,
    SlowStart,
    CongestionWindow,
    Unknown
});
saved_enum!(Cause {
    ReceiverWindow,
    ZeroWindow,
    SendBuffer,
    Application,
    PacingRate,
    SlowStartOvershoot,
    Bottleneck,
    DeepBuffer,
    ShallowBuffer,
    Policer,
    RandomLoss,
    Reordering,
    SpuriousRetransmission,
    DelayedPackets,
    Timeout,
    EcnMarking,
    AckThinning,
    MtuBlackHole,
    PathChange,
    CaptureLoss
});
