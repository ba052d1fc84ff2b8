# Of iperf3's JSON: one line an interval and stream: `client|server STREAM START END BYTES RETRANSMITS CWND RTT_US`,
# and one line a stream with the sums: `client-total|server-total STREAM SECONDS BYTES RETRANSMITS`. What an end does
# not report is -.
function value(line) { sub(/^[^:]*:[ \t]*/, "", line); sub(/,?[ \t\r]*$/, "", line); gsub(/"/, "", line); return line }
BEGIN { retransmits = "-"; cwnd = "-"; rtt = "-" }
function flush_stream() {
    if (stream == "" || bytes == "") return
    if (in_intervals)
        printf "%s %s %.3f %.3f %s %s %s %s\n", end, stream, begin, finish, bytes, retransmits, cwnd, rtt
    else if (in_end && sums == 0)
        printf "%s-total %s %s %.3f %s %s\n", end, stream, direction, finish, bytes, retransmits
    stream = ""; bytes = ""; retransmits = "-"; cwnd = "-"; rtt = "-"
}
/"intervals":/ { in_intervals = 1 }
/^\t"end":/ { in_intervals = 0; in_end = 1 }
/"error":/ { print "error", value($0) }
/"sum/ { flush_stream(); sums = 1 }
/"streams":/ { sums = 0 }
/"sender":[ \t]*\{/ { flush_stream(); direction = "sent"; sums = 0 }
/"receiver":[ \t]*\{/ { flush_stream(); direction = "received"; sums = 0 }
/"socket":/ { flush_stream(); stream = value($0) }
/"start":/ { begin = value($0) }
/"end":[ \t]*[0-9]/ { finish = value($0) }
/"bytes":/ { bytes = value($0) }
/"retransmits":/ { retransmits = value($0) }
/"snd_cwnd":/ { cwnd = value($0) }
/"rtt":/ { rtt = value($0) }
/\}/ { flush_stream() }
