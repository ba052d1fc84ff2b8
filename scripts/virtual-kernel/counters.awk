# What the counters of /proc/net/snmp and /proc/net/netstat rose by between two readings: `counter NAME COUNT`.
$1 == "Tcp:" || $1 == "TcpExt:" {
    if ($2 ~ /^[A-Za-z]/) { split($0, names); next }
    for (i = 2; i <= NF; i++) {
        if (FILENAME ~ /before/) before[names[i]] = $i
        else if ($i > before[names[i]] && names[i] !~ /^(InSegs|OutSegs|CurrEstab|PureAcks|TCPHPAcks|TCPHPHits)$/)
            print "counter", names[i], $i - before[names[i]]
    }
}
