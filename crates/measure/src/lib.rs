//! Test sessions on real sockets: the engine, the iperf3 protocol, telemetry, STAMP.
