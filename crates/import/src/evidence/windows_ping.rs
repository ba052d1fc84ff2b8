//! `ping` of Windows, in the languages of its users.

use std::time::Duration;

use model::measurement::RttSummary;
use model::probe::echo::{EchoAnswer, EchoFate, EchoProbe, EchoSeries, EchoSpec, EchoSummary, Fragments, Stamp};
use model::probe::{Report, ReportKind};
use model::run::Outcome;
use units::PacketCount;

use super::shown::{Found, Shown, command_above};
use super::windows::subject;
use crate::quantity::milliseconds;

/// Reads from `Pinging host [192.0.2.1] with 32 bytes of data:` to `Minimum = 90ms, Maximum = 91ms, Average = 90ms`.
pub(crate) fn read(lines: &[&str], before: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let (target, payload) = header(lines.first()?.trim())?;
    let mut found = series(target, payload, &lines[1..], complaints)?;
    // `ping HOST -f -l 8972`, and what only packets that must not be fragmented are told.
    let forbids = command_above(before, "ping").or_else(|| command_above(before, "ping.exe"));
    let forbids = forbids.is_some_and(|words| words.iter().any(|word| matches!(*word, "-f" | "/f" | "-F")));
    if let [Shown::Echo(echoes)] = found.shows.as_mut_slice()
        && (forbids || echoes.summary.reported > PacketCount::ZERO)
    {
        echoes.spec.fragments = Fragments::Forbidden;
    }
    Some(Found { lines: found.lines + 1, ..found })
}

/// Reads answers whose header is not there.
pub(crate) fn answers(lines: &[&str], _: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?.trim();
    matches!(fate(first)?, EchoFate::Answered(_)).then_some(())?;
    let target = first.split_once(": ")?.0.split_whitespace().last()?;
    let size = first.split_once('=')?.1.split(' ').next()?.parse().ok()?;
    series(target.trim_end_matches(':'), size, lines, complaints)
}

/// Reads statistics whose answers were left out, from `Ping statistics for 192.0.2.1:` on.
pub(crate) fn statistics(lines: &[&str], _: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let title = lines.first()?.trim().strip_suffix(':')?;
    let target = title.split_whitespace().last()?;
    let is_title = title.to_lowercase().contains("ping") && target.contains(['.', ':']);
    (is_title && lines[1..].iter().take(2).any(|line| counts_of(line.trim()).is_some())).then_some(())?;
    series(target, DEFAULT_PAYLOAD, lines, complaints)
}

/// Data of an echo where nothing is asked for.
const DEFAULT_PAYLOAD: u16 = 32;

fn header(line: &str) -> Option<(&str, u16)> {
    HEADERS.iter().find_map(|(before, with)| {
        let (target, size) = line.strip_prefix(before)?.split_once(with)?;
        Some((target.trim(), size.split(' ').next()?.parse().ok()?))
    })
}

/// What stands before the target, and between it and the size.
const HEADERS: [(&str, &str); 9] = [
    ("Pinging ", " with "),
    ("Ping wird ausgeführt für ", " mit "),
    ("Envoi d'une requête 'Ping' ", " avec "),
    ("Envoi d’une requête 'Ping' ", " avec "),
    ("Haciendo ping a ", " con "),
    ("Disparando ", " com "),
    ("Esecuzione di Ping ", " con "),
    ("Pingen naar ", " met "),
    ("Ping ", " mit "),
];

fn series(target: &str, payload: u16, lines: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let mut probes: Vec<EchoProbe> = Vec::new();
    let mut counted = None;
    let mut printed = None;
    let mut used = 0;
    for line in lines.iter().take(MAX_LINES) {
        let line = line.trim();
        let is_ended = counted.is_some();
        if let Some(fate) = fate(line).filter(|_| !is_ended) {
            let sequence = u32::try_from(probes.len()).ok()?;
            probes.push(EchoProbe { sequence, sent: Duration::from_secs(u64::from(sequence)), fate });
        } else if let Some(counts) = counts_of(line).filter(|_| !is_ended) {
            counted = Some(counts);
        } else if is_times(line) {
            printed = least_and_most(line);
            used += 1;
            break;
        } else if !is_between(line, counted) {
            break;
        }
        used += 1;
    }
    let mut rtts: Vec<u64> = probes.iter().filter_map(rtt_us).collect();
    rtts.sort_unstable();
    let answered = u64::try_from(rtts.len()).ok()?;
    let (sent, received) = counted.unwrap_or((u64::try_from(probes.len()).ok()?, answered));
    (sent > 0).then_some(())?;
    // Of lines that were left out nobody knows which number they had.
    if u64::try_from(probes.len()).ok()? < sent {
        probes.clear();
    }
    if received < answered || sent < received {
        complaints.push(format!("statistics of ping that count at least the {answered} answers above them"));
        return None;
    }
    let rtt = RttSummary {
        sent: PacketCount::new(sent),
        lost: PacketCount::new(sent - received),
        min_us: rtts.first().copied().or(printed.map(|[least, _]| least)),
        median_us: rtts.get(rtts.len() / 2).copied().filter(|_| answered == received),
        max_us: rtts.last().copied().or(printed.map(|[_, most]| most)),
        ..RttSummary::default()
    };
    let spec = EchoSpec {
        count: u32::try_from(sent).unwrap_or(u32::MAX),
        interval: Duration::from_secs(1),
        payload_bytes: payload,
        ..EchoSpec::default()
    };
    let reported = probes.iter().filter(|probe| matches!(probe.fate, EchoFate::Reported(_))).count();
    let reported = PacketCount::new(u64::try_from(reported).ok()?);
    let summary = EchoSummary { rtt, reported, ..EchoSummary::default() };
    let subject = subject(target);
    let echoes = EchoSeries { subject, spec, outcome: Outcome::Complete, access: None, summary, probes };
    Some(Found { shows: vec![Shown::Echo(echoes)], lines: used })
}

/// A day of one echo a second.
const MAX_LINES: usize = 100_000;

fn rtt_us(probe: &EchoProbe) -> Option<u64> {
    match &probe.fate {
        EchoFate::Answered(answer) => u64::try_from(answer.rtt.as_micros()).ok(),
        _ => None,
    }
}

/// `Reply from 192.0.2.1: bytes=32 time=90ms TTL=52`, `Antwort von 192.0.2.1: Bytes=32 Zeit<1ms TTL=58`, `Request timed out.`
fn fate(line: &str) -> Option<EchoFate> {
    if TOO_LARGE.iter().any(|said| line.contains(said)) {
        return Some(EchoFate::Reported(Report { kind: ReportKind::TooBig { mtu_bytes: None }, reporter: None }));
    }
    if LOSSES.iter().any(|loss| line.contains(loss)) && !line.contains('=') {
        return Some(EchoFate::Lost);
    }
    let is_reply = REPLIES.iter().any(|reply| line.starts_with(reply));
    let (_, rest) = line.split_once(": ").filter(|_| is_reply)?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    // The time is the value in milliseconds, with or without a blank; below one it is `time<1ms`.
    let time = words.iter().enumerate().find_map(|(at, word)| {
        let value = word.split_once(['=', '<'])?.1;
        value.strip_suffix("ms").or_else(|| (words.get(at + 1) == Some(&"ms")).then_some(value))
    });
    let hop_limit = words.iter().find_map(|word| word.strip_prefix("TTL=")?.parse().ok());
    Some(EchoFate::Answered(EchoAnswer {
        rtt: milliseconds(time?)?,
        stamped_by: Stamp::Process,
        hop_limit,
        other_address: None,
        reordered: false,
        duplicates: 0,
    }))
}

const REPLIES: [&str; 7] =
    ["Reply from ", "Antwort von ", "Réponse de ", "Respuesta desde ", "Resposta de ", "Risposta da ", "Antwoord van "];

/// `Packet needs to be fragmented but DF set.`
const TOO_LARGE: [&str; 5] = [
    "fragmented but DF",
    "DF-Flag ist jedoch",
    "paquet doit \u{ea}tre fragment",
    "fragmentar el paquete",
    "ser fragmentado",
];

/// Parts of what stands in the place of an answer, without the letters that code pages lose.
const LOSSES: [&str; 16] = [
    "Request timed out",
    "Destination host unreachable",
    "General failure.",
    "berschreitung der Anforderung",
    "Zielhost nicht erreichbar",
    "attente de la demande d",
    "Impossible de joindre l",
    "Tiempo de espera agotado",
    "Host de destino inaccesible",
    "Esgotado o tempo limite",
    "Host de destino inacess",
    "Richiesta scaduta",
    "Host di destinazione non raggiungibile",
    "Time-out bij opdracht",
    "Doelhost is niet bereikbaar",
    "Zielnetz nicht erreichbar",
];

/// `Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),`: sent and received.
fn counts_of(line: &str) -> Option<(u64, u64)> {
    COUNTS.iter().any(|count| line.starts_with(count)).then_some(())?;
    let mut numbers = line.split(" = ").skip(1).map(|part| part.split([',', ' ']).next()?.parse::<u64>().ok());
    Some((numbers.next()??, numbers.next()??))
}

const COUNTS: [&str; 7] = ["Packets: ", "Pakete: ", "Paquets", "Paquetes: ", "Pacotes: ", "Pacchetti: ", "Pakketten: "];

/// `Minimum = 90ms, Maximum = 91ms, Average = 90ms`.
fn is_times(line: &str) -> bool {
    line.starts_with('M') && line.matches(" = ").count() == 3 && line.matches("ms").count() == 3
}

/// Of `Minimum = 3ms, Maximum = 412ms, Average = 61ms`, in microseconds.
fn least_and_most(line: &str) -> Option<[u64; 2]> {
    let mut times =
        line.split(" = ").skip(1).map(|part| part.trim_start().split("ms").next()?.trim().parse::<u64>().ok());
    Some([times.next()??.checked_mul(1_000)?, times.next()??.checked_mul(1_000)?])
}

/// Blank lines and titles between the answers and the numbers: `Ping statistics for …:`, `(0% loss),`.
fn is_between(line: &str, counted: Option<(u64, u64)>) -> bool {
    if crate::transcript::is_left_out(line) {
        return true;
    }
    let is_ended = counted.is_some();
    let is_title = line.ends_with(':') && line.len() < 120 && header(line).is_none();
    line.is_empty()
        || (is_title && (is_ended || line.to_lowercase().contains("ping")))
        || (is_ended && line.contains("),"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echoes(text: &str) -> EchoSeries {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(found.lines, lines.len(), "{text}");
        match found.shows.into_iter().next() {
            Some(Shown::Echo(echoes)) => echoes,
            other => panic!("{other:?}"),
        }
    }

    /// As `chcp 65001` leaves them.
    const OF_LANGUAGES: [&str; 7] = [
        "Pinging a.example [192.0.2.1] with 32 bytes of data:\nReply from 192.0.2.1: bytes=32 time=24ms TTL=58\nRequest timed out.\n\n\
         Ping statistics for 192.0.2.1:\n    Packets: Sent = 2, Received = 1, Lost = 1 (50% loss),\nApproximate round trip times in \
         milli-seconds:\n    Minimum = 24ms, Maximum = 24ms, Average = 24ms",
        "Ping wird ausgeführt für a.example [192.0.2.1] mit 32 Bytes Daten:\nAntwort von 192.0.2.1: Bytes=32 Zeit=24ms TTL=58\n\
         Zeitüberschreitung der Anforderung.\n\nPing-Statistik für 192.0.2.1:\n    Pakete: Gesendet = 2, Empfangen = 1, Verloren = 1\n    \
         (50% Verlust),\nCa. Zeitangaben in Millisek.:\n    Minimum = 24ms, Maximum = 24ms, Mittelwert = 24ms",
        "Envoi d'une requête 'Ping'  a.example [192.0.2.1] avec 32 octets de données :\nRéponse de 192.0.2.1 : octets=32 temps=24 ms TTL=58\n\
         Délai d'attente de la demande dépassé.\n\nStatistiques Ping pour 192.0.2.1:\n    Paquets : envoyés = 2, reçus = 1, perdus = 1 (perte \
         50%),\nDurée approximative des boucles en millisecondes :\n    Minimum = 24ms, Maximum = 24ms, Moyenne = 24ms",
        "Haciendo ping a a.example [192.0.2.1] con 32 bytes de datos:\nRespuesta desde 192.0.2.1: bytes=32 tiempo=24ms TTL=58\nTiempo de espera \
         agotado para esta solicitud.\n\nEstadísticas de ping para 192.0.2.1:\n    Paquetes: enviados = 2, recibidos = 1, perdidos = 1\n    (50% \
         perdidos),\nTiempos aproximados de ida y vuelta en milisegundos:\n    Mínimo = 24ms, Máximo = 24ms, Media = 24ms",
        "Disparando a.example [192.0.2.1] com 32 bytes de dados:\nResposta de 192.0.2.1: bytes=32 tempo=24ms TTL=58\nEsgotado o tempo limite do \
         pedido.\n\nEstatísticas do Ping para 192.0.2.1:\n    Pacotes: Enviados = 2, Recebidos = 1, Perdidos = 1 (50% de\n             \
         perda),\nAproximar um número redondo de vezes em milissegundos:\n    Mínimo = 24ms, Máximo = 24ms, Média = 24ms",
        "Esecuzione di Ping a.example [192.0.2.1] con 32 byte di dati:\nRisposta da 192.0.2.1: byte=32 durata=24ms TTL=58\nRichiesta \
         scaduta.\n\nStatistiche Ping per 192.0.2.1:\n    Pacchetti: Trasmessi = 2, Ricevuti = 1,\n    Persi = 1 (50% persi),\nTempo \
         approssimativo percorsi andata/ritorno in millisecondi:\n    Minimo = 24ms, Massimo =  24ms, Medio =  24ms",
        "Pingen naar a.example [192.0.2.1] met 32 bytes aan gegevens:\nAntwoord van 192.0.2.1: bytes=32 tijd<1ms TTL=58\nTime-out bij \
         opdracht.\n\nPing-statistieken voor 192.0.2.1:\n    Pakketten: verzonden = 2, ontvangen = 1, verloren = 1\n    (50% verlies),\nDe \
         gemiddelde tijd voor het uitvoeren van één bewerking in milliseconden:\n    Minimum = 0ms, Maximum = 0ms, Gemiddelde = 0ms",
    ];

    #[test]
    fn each_language_has_the_same_numbers() {
        for text in OF_LANGUAGES {
            let series = echoes(text);
            let rtt = series.summary.rtt;
            assert_eq!((rtt.sent.get(), rtt.lost.get(), series.probes.len()), (2, 1, 2), "{text}");
            assert!(matches!(rtt.min_us, Some(24_000 | 1_000)), "{text}");
            assert_eq!((series.subject.target.as_str(), series.spec.payload_bytes), ("a.example", 32));
        }
    }

    #[test]
    fn statistics_without_answers_are_a_series() {
        let text = "Ping statistics for 192.0.2.1:\n    Packets: Sent = 50, Received = 47, Lost = 3 (6% loss),\nApproximate round trip times in \
                    milli-seconds:\n    Minimum = 3ms, Maximum = 412ms, Average = 61ms";
        let lines: Vec<&str> = text.lines().collect();
        let found = statistics(&lines, &[], &mut Vec::new()).expect("statistics");
        let Shown::Echo(series) = &found.shows[0] else { panic!("{:?}", found.shows) };
        let rtt = series.summary.rtt;
        assert_eq!((rtt.sent.get(), rtt.lost.get(), rtt.min_us, rtt.max_us), (50, 3, Some(3_000), Some(412_000)));
        assert!(statistics(&["what ping says of 192.0.2.1:", "nothing"], &[], &mut Vec::new()).is_none());
    }

    #[test]
    fn packets_that_are_too_large_are_reported() {
        let before = ["C:\\>ping 192.0.2.9 -f -l 1473", ""];
        let text = "Pinging 192.0.2.9 with 1473 bytes of data:\nPacket needs to be fragmented but DF set.\nPacket needs to be fragmented but DF set.\n\n\
                    Ping statistics for 192.0.2.9:\n    Packets: Sent = 2, Received = 0, Lost = 2 (100% loss),";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &before, &mut Vec::new()).unwrap();
        let Shown::Echo(series) = &found.shows[0] else { panic!("{:?}", found.shows) };
        assert_eq!((series.spec.fragments, series.summary.reported.get()), (Fragments::Forbidden, 2));
    }

    #[test]
    fn answers_without_their_header_are_a_series() {
        let text = "Antwort von 192.0.2.1: Bytes=32 Zeit=412ms TTL=58\nAntwort von 192.0.2.1: Bytes=32 Zeit=877ms TTL=58\n\nWas ist das?";
        let lines: Vec<&str> = text.lines().collect();
        let found = answers(&lines, &[], &mut Vec::new()).unwrap();
        let Shown::Echo(series) = &found.shows[0] else { panic!("{:?}", found.shows) };
        assert_eq!((series.subject.target.as_str(), series.summary.rtt.max_us), ("192.0.2.1", Some(877_000)));
        let prose: Vec<&str> = "Antwort von Peter: er ist im Urlaub".lines().collect();
        assert!(answers(&prose, &[], &mut Vec::new()).is_none());
    }
}
