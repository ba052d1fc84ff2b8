//! Results: what each side counted, exchanged at the end.

use serde::{Deserialize, Serialize};

use super::extension::Report;
use super::lenient::{signed, whole};

/// One side's results as they stand on the wire.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Results {
    /// Per cent of one processor.
    pub cpu_util_total: f64,
    /// Per cent of one processor, in the process.
    pub cpu_util_user: f64,
    /// Per cent of one processor, in the kernel.
    pub cpu_util_system: f64,
    /// 1 where this side sends and counts retransmissions, 0 where it does not count, -1 where it does not send.
    #[serde(deserialize_with = "signed")]
    pub sender_has_retransmits: i64,
    /// Congestion control that this side's streams used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    /// What the server printed, where the client asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_output_text: Option<String>,
    /// The same from a server that prints JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_output_json: Option<serde_json::Value>,
    /// Each stream.
    pub streams: Vec<StreamResult>,
    /// linerate's extra key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linerate: Option<Box<Report>>,
}

/// One side's view of one stream.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamResult {
    /// iperf3's number of the stream: 1, 3, 4, 5, ….
    #[serde(deserialize_with = "signed")]
    pub id: i64,
    /// Payload sent by a sender, received by a receiver.
    #[serde(deserialize_with = "signed")]
    pub bytes: i64,
    /// Segments sent again; -1 of a receiver.
    #[serde(deserialize_with = "signed")]
    pub retransmits: i64,
    /// Seconds.
    pub jitter: f64,
    /// Datagrams taken as lost; may be negative by an old iperf3's arithmetic.
    #[serde(deserialize_with = "signed")]
    pub errors: i64,
    /// Highest datagram sequence seen by a receiver, datagrams sent by a sender.
    #[serde(deserialize_with = "signed")]
    pub packets: i64,
    /// Datagrams lost while the start was left out (iperf 3.14 and later).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub omitted_errors: Option<u64>,
    /// Datagrams seen while the start was left out (iperf 3.14 and later).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub omitted_packets: Option<u64>,
    /// Seconds from the start.
    #[serde(default)]
    pub start_time: f64,
    /// Seconds from the start.
    #[serde(default)]
    pub end_time: f64,
}

/// iperf3's number of the stream created as the `index`-th: 1, 3, 4, 5, … A historic slip that every version keeps,
/// since the two sides match streams by it.
#[must_use]
pub fn stream_id(index: usize) -> i64 {
    match i64::try_from(index) {
        Ok(0) => 1,
        Ok(index) => index + 2,
        Err(_) => i64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_numbers_skip_two() {
        assert_eq!([0, 1, 2, 3].map(stream_id), [1, 3, 4, 5]);
    }

    #[test]
    fn what_iperf3_3_12_sends_is_understood() {
        // Recorded from `iperf3 -s` (3.12) at the end of `iperf3 -c ::1 -n 1M`.
        let text = r#"{"cpu_util_total":4.2,"cpu_util_user":0.1,"cpu_util_system":4.1,"sender_has_retransmits":-1,
            "congestion_used":"bbr","streams":[{"id":1,"bytes":1048576,"retransmits":-1,"jitter":0,"errors":0,
            "packets":0,"start_time":0,"end_time":0.001}]}"#;
        let results: Results = serde_json::from_str(text).unwrap();
        assert_eq!(results.streams[0].bytes, 1_048_576);
        assert_eq!(results.linerate, None);
    }
}
