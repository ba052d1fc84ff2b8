//! How fast data arrives, measured as it is acknowledged (draft-cheng-iccrg-delivery-rate-estimation; Linux
//! net/ipv4/tcp_rate.c).

use std::time::Duration;

use units::MonoTime;

use super::scoreboard::News;

/// The state of the connection when a segment was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp {
    /// Segments that had arrived by then.
    pub(crate) delivered: u64,
    /// When the last of them was known to have.
    pub(crate) delivered_at: MonoTime,
    /// When the first segment of the flight was sent by which the rate of sending is reckoned.
    pub(crate) first_sent: MonoTime,
    /// Segments held to be lost by then.
    pub(crate) lost: u32,
    /// Segments in flight, itself among them.
    pub(crate) in_flight: u32,
    /// Whether the application, and not the network, had limited what was sent.
    pub(crate) app_limited: bool,
}

/// A rate over about a round trip.
#[derive(Debug, Clone, Copy, Default)]
pub struct RateSample {
    /// Segments that arrived in the interval.
    pub delivered: u32,
    /// The interval; [`None`] where it is too short to say anything.
    pub interval: Option<Duration>,
    /// How many segments had arrived when the latest of them was sent.
    pub prior_delivered: u64,
    /// Segments lost in the interval.
    pub lost: u32,
    /// Segments in flight when the latest of them was sent.
    pub in_flight_at_send: u32,
    /// Whether the application had limited what was sent.
    pub app_limited: bool,
}

impl RateSample {
    /// Segments a second.
    #[must_use]
    pub fn segments_per_second(&self) -> Option<f64> {
        let interval = self.interval?.as_secs_f64();
        (interval > 0.0).then(|| f64::from(self.delivered) / interval)
    }
}

/// Counts what arrives.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) delivered: u64,
    delivered_at: MonoTime,
    first_sent: MonoTime,
    pub(crate) lost: u32,
    /// The application had no more to send until this many segments have arrived.
    app_limited_until: Option<u64>,
}

impl Meter {
    pub(crate) fn new(now: MonoTime) -> Self {
        Self { delivered: 0, delivered_at: now, first_sent: now, lost: 0, app_limited_until: None }
    }

    /// The stamp of segments sent now.
    pub(crate) fn stamp(&mut self, now: MonoTime, in_flight_before: u32, count: u32) -> Stamp {
        if in_flight_before == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Stamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            in_flight: in_flight_before + count,
            app_limited: self.app_limited_until.is_some(),
        }
    }

    /// Notes that there was nothing to send although more could have been.
    pub(crate) fn set_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = Some((self.delivered + u64::from(in_flight)).max(1));
    }

    /// What an acknowledgement says about the rate.
    pub(crate) fn sample(&mut self, now: MonoTime, news: &News, min_rtt: Duration) -> RateSample {
        self.lost += news.lost;
        let Some(latest) = news.latest else { return RateSample { lost: news.lost, ..RateSample::default() } };
        self.delivered += u64::from(news.delivered);
        self.delivered_at = now;
        if self.app_limited_until.is_some_and(|until| self.delivered > until) {
            self.app_limited_until = None;
        }
        let stamp = latest.stamp;
        let sending = latest.sent.since(stamp.first_sent);
        let arriving = now.since(stamp.delivered_at);
        self.first_sent = latest.sent;
        let interval = sending.max(arriving);
        RateSample {
            delivered: u32::try_from(self.delivered - stamp.delivered).unwrap_or(u32::MAX),
            interval: (interval >= min_rtt).then_some(interval),
            prior_delivered: stamp.delivered,
            lost: self.lost - stamp.lost,
            in_flight_at_send: stamp.in_flight,
            app_limited: stamp.app_limited,
        }
    }
}
