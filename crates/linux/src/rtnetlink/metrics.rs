//! The metrics that a route may have, as [`route`](super::route) writes them and [`facts`](crate::facts) reads them.

/// How a metric is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    Number,
    Switch,
    /// A time, kept in so many parts of a millisecond.
    Millis {
        per: u8,
    },
    Features,
    Name,
}

/// Names as in ip-route(8), numbers as `RTAX_…` in include/uapi/linux/rtnetlink.h of 6.18, units as in
/// net/ipv4/metrics.c and include/net/tcp.h (`rtt` in eighths, `rttvar` in quarters of a millisecond).
pub(crate) const METRICS: [(&str, u16, Form); 16] = [
    ("mtu", 2, Form::Number),
    ("window", 3, Form::Number),
    ("rtt", 4, Form::Millis { per: 8 }),
    ("rttvar", 5, Form::Millis { per: 4 }),
    ("ssthresh", 6, Form::Number),
    ("cwnd", 7, Form::Number),
    ("advmss", 8, Form::Number),
    ("reordering", 9, Form::Number),
    ("hoplimit", 10, Form::Number),
    ("initcwnd", 11, Form::Number),
    ("features", 12, Form::Features),
    ("rto_min", 13, Form::Millis { per: 1 }),
    ("initrwnd", 14, Form::Number),
    ("quickack", 15, Form::Switch),
    ("congctl", 16, Form::Name),
    ("fastopen_no_cookie", 17, Form::Switch),
];

// include/uapi/linux/rtnetlink.h of 6.18
pub(crate) const RTA_METRICS: u16 = 8;
/// A bit for each metric that the kernel may not change.
pub(crate) const RTAX_LOCK: u16 = 1;
pub(crate) const RTAX_FEATURE_ECN: u32 = 1;
