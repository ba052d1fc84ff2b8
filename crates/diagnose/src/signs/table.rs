//! All signs.

use super::{Sign, State};

macro_rules! is_direct {
    () => {
        false
    };
    (direct) => {
        true
    };
}

// `direct` stands behind an answer that shows a fault outright: only causes that name the sign bring it about.
macro_rules! signs {
    ($($name:literal asks $asks:literal { $($state:literal $usual:literal $($direct:ident)?,)* })*) => {
        /// All signs, in the order in which they are told.
        pub const ALL: &[Sign] = &[$(Sign {
            name: $name,
            asks: $asks,
            states: &[$(State { name: $state, usual: $usual, is_direct: is_direct!($($direct)?) },)*],
        },)*];
    };
}

signs! {
    "limit" asks "What took most of the line rate, headers and start-up aside?" {
        "receive-window" 0.12,
        "send-buffer" 0.10,
        "sending-program" 0.07,
        "receiving-program" 0.05,
        "loss" 0.34,
        "congestion-window" 0.18,
        "path-capacity" 0.06,
        "configured" 0.02 direct,
        "start-up" 0.03,
        "nothing" 0.03,
    }
    "allowed" asks "Did it attain what its path and the buffers of its hosts allow, where nobody saw what it waited for?" {
        "send-buffer" 0.10 direct,
        "receive-window" 0.10 direct,
        "requested" 0.02 direct,
        "path" 0.08,
        "less" 0.22,
        "far-less" 0.48,
    }
    "window-share" asks "How much of what it is short of did the receiver's window take?" {
        "nothing" 0.75,
        "some" 0.12,
        "most" 0.13,
    }
    "buffer-share" asks "How much of what it is short of did the room in the send buffer take?" {
        "nothing" 0.78,
        "some" 0.10,
        "most" 0.12,
    }
    "loss" asks "Which part of the packets was lost or retransmitted?" {
        "none" 0.34,
        "rare" 0.12,
        "some" 0.24,
        "heavy" 0.20,
        "severe" 0.10,
    }
    "episodes" asks "How often did losses come?" {
        "never" 0.34,
        "once" 0.14,
        "seldom" 0.14,
        "again-and-again" 0.38,
    }
    "bunches" asks "How many packets were lost at a time?" {
        "single" 0.40,
        "few" 0.30,
        "many" 0.30,
    }
    "clustering" asks "Were packets lost more at once than chance would have it?" {
        "by-chance" 0.35,
        "together" 0.40,
        "all-at-once" 0.25,
    }
    "lost-at" asks "How much was under way when packets were lost, compared with what the flow carries at other times?" {
        "far-below" 0.15,
        "below" 0.35,
        "at-the-largest" 0.50,
    }
    "queue-at-loss" asks "How long was the queue when packets were lost, compared with the longest that the flow saw?" {
        "no-queue" 0.45,
        "empty" 0.10,
        "between" 0.10,
        "full" 0.35,
    }
    "queue-size" asks "How many packets did the longest queue hold that the flow saw?" {
        "none" 0.25,
        "few" 0.15,
        "tens" 0.25,
        "hundreds" 0.35,
    }
    "ceiling" asks "How often is the rate near the best that the flow reaches?" {
        "always" 0.35,
        "mostly" 0.30,
        "seldom" 0.35,
    }
    "best" asks "How much of what it should do did it reach at its best?" {
        "all" 0.40,
        "most" 0.20,
        "part" 0.25,
        "little" 0.15,
    }
    "control" asks "How does its congestion control grow a window as large as this path needs?" {
        "in-time" 0.90,
        "in-minutes" 0.10,
    }
    "members" asks "Do the streams of one run fare alike?" {
        "alike" 0.95,
        "some-only" 0.05 direct,
    }
    "vanished" asks "Between the ends of how many segments did packets vanish, by the counters of the hosts there?" {
        "none" 0.15,
        "one" 0.65,
        "several" 0.20,
    }
    "lost-where" asks "Did packets vanish where a queue of the flow can have dropped them?" {
        "at-a-slower-link" 0.50,
        "at-a-queue" 0.20,
        "elsewhere" 0.30,
    }
    "vanished-back" asks "On the segment where most packets vanished, did some vanish in the other direction as well?" {
        "no" 0.80,
        "yes" 0.20,
    }
    "timeouts" asks "Did the flow wait for its retransmission timer?" {
        "no" 0.75,
        "some" 0.15,
        "mostly" 0.10,
    }
    "queue" asks "By how much did RTTs grow under load?" {
        "none" 0.62,
        "standing" 0.30,
        "deep" 0.08 direct,
    }
    "queue-way" asks "On which path did RTTs grow under load?" {
        "forward" 0.90,
        "reverse" 0.10 direct,
    }
    "marks" asks "Did the path mark packets instead of dropping them?" {
        "no" 0.94,
        "yes" 0.06 direct,
    }
    "order" asks "Did packets overtake each other?" {
        "kept" 0.90,
        "broken" 0.10 direct,
    }
    "spurious" asks "Did receivers report that most retransmitted segments had arrived already (DSACK)?" {
        "few" 0.90,
        "most" 0.10 direct,
    }
    "window-scale" asks "Could the receiver offer more than 64 KiB?" {
        "agreed" 0.97,
        "missing" 0.03 direct,
    }
    "sack" asks "Did both ends agree on selective acknowledgements?" {
        "agreed" 0.99,
        "missing" 0.01 direct,
    }
    "initial-window" asks "With how large a window did it begin?" {
        "usual" 0.99,
        "small" 0.01 direct,
    }
    "segments" asks "How large were the segments, compared with what the sender's device takes?" {
        "full" 0.95,
        "small" 0.05,
    }
    "unread" asks "How much of the window that it offers lay unread in the receiver's socket at times?" {
        "little" 0.80,
        "much" 0.20,
    }
    "cpu" asks "Which end used up its CPU?" {
        "neither" 0.88,
        "sender" 0.07,
        "receiver" 0.05,
    }
    "sender-runs" asks "Did the sending program run all the time?" {
        "all-the-time" 0.93,
        "with-stops" 0.07 direct,
    }
    "receiver-runs" asks "Did the receiving program run all the time?" {
        "all-the-time" 0.93,
        "with-stops" 0.07 direct,
    }
    "contention" asks "Did somebody else use the CPUs of an end: steal, run-queue delay, a throttled cgroup?" {
        "none" 0.86,
        "sender" 0.07,
        "receiver" 0.07,
    }
    "level" asks "Did the rate go down once, and stay?" {
        "as-before" 0.94,
        "stepped-down" 0.06 direct,
    }
    "course" asks "How did the rate go over time?" {
        "even" 0.78,
        "fell" 0.14,
        "rtt-jumped" 0.08 direct,
    }
    "silence" asks "Was there one time in which nothing got through?" {
        "none" 0.96,
        "once" 0.04 direct,
    }
    "base-rtt" asks "Is the RTT without load the same as in other tests of the pair?" {
        "same" 0.92,
        "changed" 0.08 direct,
    }
    "loss-allows" asks "Do the losses explain the rate, by models of TCP, where nobody saw what the flow waited for?" {
        "the-rate" 0.40,
        "more" 0.40,
        "less" 0.20,
    }
    "attained" asks "How much of what it should do did the flow attain?" {
        "all" 0.04,
        "most" 0.26,
        "part" 0.45,
        "little" 0.17,
        "next-to-nothing" 0.08,
    }
    "offered" asks "Did the sender hand over as many datagrams as were asked for?" {
        "as-asked" 0.90,
        "less" 0.10,
    }
    "datagrams" asks "Where were datagrams lost?" {
        "nowhere" 0.30,
        "sender" 0.20,
        "path" 0.35,
        "receiver" 0.15,
    }
    "first-datagrams" asks "Did the first datagrams of a run pass faster than later ones?" {
        "lost-as-later" 0.90,
        "passed-faster" 0.10 direct,
    }
    "arrivals" asks "Does what arrives of datagrams vary as chance would have it?" {
        "even" 0.40,
        "by-chance" 0.40,
        "together" 0.10,
        "in-gusts" 0.10,
    }
    "datagram-loss" asks "Does the part of datagrams that is lost grow with their rate?" {
        "same-at-any-rate" 0.40,
        "grows" 0.60,
    }
    "datagram-rate" asks "What do datagrams of the pair reach beside TCP?" {
        "all" 0.50,
        "as-much" 0.20,
        "as-many-packets" 0.05 direct,
        "more-with-loss" 0.25,
    }
    "carried" asks "How much did flows of the pair carry, however they were sent, since it is affected?" {
        "all" 0.15,
        "most" 0.20,
        "part" 0.40,
        "little" 0.25,
    }
    "reverse" asks "How does the same pair do in the other direction?" {
        "good" 0.60,
        "bad" 0.40,
    }
    "other-sender" asks "How do other hosts do that send to the same receiver?" {
        "good" 0.55,
        "bad" 0.45,
    }
    "other-receiver" asks "How does the sender do with other receivers?" {
        "good" 0.55,
        "bad" 0.45,
    }
    "other-network" asks "How does the same pair do outside of the overlay, or in it?" {
        "good" 0.40,
        "bad" 0.60,
    }
    "streams" asks "Are several streams together faster?" {
        "faster" 0.60,
        "not" 0.40,
    }
    "small-packets" asks "Do smaller packets arrive better?" {
        "better" 0.20,
        "not" 0.65,
        "worse" 0.15,
    }
    "other-control" asks "Is another congestion control better?" {
        "better" 0.30,
        "not" 0.70,
    }
    "paced" asks "Does a paced flow do what it asked for?" {
        "better" 0.45,
        "not" 0.55,
    }
    "same-again" asks "Do equal flows of the pair fare alike?" {
        "alike" 0.85,
        "differently" 0.15,
    }
    "before" asks "How did the pair do earlier?" {
        "good" 0.25,
        "bad" 0.75,
    }
    "after" asks "How did the pair do later?" {
        "good" 0.25,
        "bad" 0.75,
    }
    "small-probes" asks "Were small packets beside it lost as often as its own?" {
        "as-often" 0.30,
        "less-often" 0.70,
    }
    "echoes" asks "Which echoes came back?" {
        "all" 0.42,
        "all-of-small-ones" 0.30,
        "few-lost" 0.10,
        "many-lost" 0.06,
        "large-ones-lost" 0.05,
        "no-large-one" 0.07 direct,
    }
    "packet-time" asks "Do large packets take so much longer than small ones that a link is as slow as the flow?" {
        "as-slow" 0.30,
        "faster" 0.70,
    }
    "mtu" asks "How large may packets be?" {
        "as-the-device" 0.80,
        "less-and-reported" 0.08,
        "less-and-silent" 0.12 direct,
    }
    "routes" asks "Do both directions take the same way, and always the same?" {
        "same" 0.80,
        "differ" 0.12,
        "changed" 0.08 direct,
    }
    "served-by" asks "Who served what was downloaded?" {
        "who-was-asked" 0.95,
        "somebody-else" 0.05 direct,
    }
    "gateway-requests" asks "Between reports, does one gateway of several get most of the requests, and then another one?" {
        "spread" 0.90,
        "one-at-a-time" 0.10 direct,
    }
    "gateway-after-pause" asks "What did the gateway get after a time without requests?" {
        "its-share" 0.90,
        "nearly-all" 0.10 direct,
    }
    "gateway-share" asks "Does the gateway get its share of the requests, by capacity?" {
        "alike" 0.70,
        "more" 0.20,
        "less" 0.10,
    }
    "gateway-transfers" asks "How many transfers are in flight at the gateway per capacity, beside the others?" {
        "alike" 0.60,
        "more" 0.30,
        "less" 0.10,
    }
    "gateway-transfer-rate" asks "How fast is a transfer at the gateway, beside those at the others?" {
        "alike" 0.70,
        "slower" 0.30,
    }
    "gateway-nic" asks "How much of its NIC's rate does the gateway move?" {
        "free" 0.60,
        "full" 0.40,
    }
    "gateway-memory-use" asks "How full is the memory of the gateway's service?" {
        "below" 0.70,
        "near-limit" 0.20,
        "restarted" 0.10,
    }
    "gateway-deletion-time" asks "How long do deletions take at the gateway, beside the fastest one?" {
        "alike" 0.70,
        "slow" 0.30,
    }
}
