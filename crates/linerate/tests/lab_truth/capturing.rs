//! Transfers over an emulated path, captured where they are sent: what `linerate trace` makes of them, beside the clocks of the sender's
//! kernel and the waterfall of the same run.

use anyhow::ensure;

use super::narrow::{APART, Distance, Explained, alike, shows, shows_over};

/// Both pace, and have no queue most of the time: only one of them finds that no more arrives when it sends more.
#[test]
fn bbr_at_its_bottleneck_has_no_slow_application_and_bbr_with_one_has() {
    shows(
        |_| (),
        &["-C", "bbr"],
        |busy| {
            ensure!(busy.main_owner() == "congestion-window", "{}", busy.shown());
            ensure!(busy.verdict()["cause"] != "application", "{}", busy.shown());
            Ok(())
        },
    );
    shows(
        |_| (),
        &["-C", "bbr", "--rate", "20Mbit/s"],
        |slow| {
            ensure!(slow.main_owner() == "application", "{}", slow.shown());
            ensure!(slow.verdict()["cause"] == "application", "{}", slow.shown());
            Ok(())
        },
    );
}

#[test]
fn a_small_receive_buffer_has_the_time_that_the_kernel_and_the_waterfall_give_it() {
    shows(
        |narrow| narrow.set("east", "net.ipv4.tcp_rmem=4096 65536 65536"),
        &[],
        |explained| {
            let owned = explained.owned(&["receiver-window"]);
            alike(explained, owned, explained.clock("receive_window"))?;
            alike(explained, owned, explained.fell("receive_window"))?;
            ensure!(explained.verdict()["cause"] == "receiver-window", "{}", explained.shown());
            Ok(())
        },
    );
}

#[test]
fn a_slow_writer_has_the_time_that_the_waterfall_gives_it() {
    let claim = |slow: &Explained| alike(slow, slow.owned(&["application"]), slow.fell("configured_cap"));
    shows(|_| (), &["--rate", "10Mbit/s"], claim);
}

/// Packets that leave evenly may be written or paced so; that nobody waits for room in a buffer shows.
#[test]
fn a_pacing_rate_is_no_send_buffer_and_is_named() {
    shows(
        |_| (),
        &["--pace", "20Mbit/s"],
        |paced| {
            ensure!(paced.owned(&["congestion-window", "application"]) > 0.8, "{}", paced.shown());
            ensure!(paced.verdict()["rivals"].to_string().contains("pac"), "{}", paced.shown());
            Ok(())
        },
    );
}

#[test]
fn a_busy_bottleneck_has_the_time_that_the_waterfall_gives_to_the_path() {
    shows(
        |_| (),
        &[],
        |busy| {
            // What slow start took is the path's as well, from when on a queue stands.
            let owned = busy.owned(&["congestion-window", "recovery", "slow-start"]);
            let beyond = owned - busy.fell("path_capacity");
            ensure!((0.0..=2.0 * APART).contains(&beyond), "{owned}: {}", busy.shown());
            Ok(())
        },
    );
}

/// While the pacing timer holds back what a woken writer has just written, no buffer limits, by the kernel's clock and by the packets.
#[test]
fn a_small_send_buffer_has_the_time_that_the_kernel_gives_it() {
    for distance in [Distance::Near, Distance::Far] {
        for (buffer, options) in [(65_536, ["--pace", "1Gbit/s"]), (131_072, ["-C", "bbr"])] {
            shows_over(
                distance,
                |narrow| narrow.set("west", &format!("net.ipv4.tcp_wmem=4096 {buffer} {buffer}")),
                &options,
                |explained| {
                    ensure!(explained.verdict()["cause"] == "send-buffer", "{}", explained.shown());
                    alike(explained, explained.owned_of_run("send-buffer"), explained.clock("send_buffer"))
                },
            );
        }
    }
}

/// Without pacing all that is written leaves before its writer begins to wait, and the kernel's clock of the full buffer does not start.
#[test]
fn a_send_buffer_of_a_sender_that_does_not_pace_is_named() {
    for buffer in [65_536, 262_144] {
        shows(
            |narrow| narrow.set("west", &format!("net.ipv4.tcp_wmem=4096 {buffer} {buffer}")),
            &[],
            |explained| {
                ensure!(explained.main_owner() == "send-buffer", "{}", explained.shown());
                ensure!(explained.verdict()["cause"] == "send-buffer", "{}", explained.shown());
                Ok(())
            },
        );
    }
}
