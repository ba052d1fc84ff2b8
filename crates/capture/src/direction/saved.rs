//! The state of a direction in a checkpoint. What only its report needs is not in it: that is kept with the index.

use super::*;

saved!(Direction {
    numbers, window, counts, rtt, sender_lag_ns, lag, has_sender_lag, least_lag_ns, stamps, pieces, sacked,
    resent, recovery, recent, budget, rounds, clock, wakes, refills, waits, waited, frames, recall, cost, filled,
    outstanding_total, max_outstanding, span
} without hops, floor, events, losses, series);
saved!(Numbers { has_started, first, next, una, sender_una, marked_until, saw_syn, saw_fin });
saved!(Window { scale, sender_right, right, last, max, min, late, guess });
saved!(Counts {
    packets,
    data_packets,
    segments,
    payload_bytes,
    super_packets,
    retransmits,
    retransmitted_bytes,
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
    stretch_acks,
    compressed_acks,
    advances,
    ce_marks,
    ect_packets,
    ece_acks,
    cwr,
    mark_reductions,
    unseen_bytes,
    max_flight,
    mss,
    largest_payload,
    largest_passed,
    most_times_sent,
    delay_spikes,
    usual
});
saved!(Span { first_data_ns, last_data_ns, last_progress_ns, end_ns, owned_until_ns });
saved!(Piece { from, bytes, tsval, first_ns, last_ns, sent_before, times, ip_id, state });
saved!(Recovery { point, event, by_timeout });
saved!(Recent {
    data_ns,
    ack_frame,
    heard_ns,
    ack_ns,
    ack_advance_ns,
    ack_number,
    duplicate_acks,
    ended_short,
    sack,
    wire_bytes,
    before_ack,
    before_train,
    train_ns,
    behind_data,
    credit,
    heard,
    roomy,
    is_asked,
    is_topping_up,
    begun,
    is_filled,
    is_full,
    held_ns
});
saved_enum!(PieceState { Sent, Sacked, Unseen });
