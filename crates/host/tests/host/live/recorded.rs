//! Facts of hardware that a lab host does not have.

use std::io::Write;

use host::live::{ReadError, Request, read};

use crate::sandbox::{Mounts, in_sandbox, shell};

#[test]
fn recorded_facts_take_the_place_of_the_kernels_and_say_so() {
    in_sandbox(module_path!(), "recorded_facts_take_the_place_of_the_kernels_and_say_so", Mounts::Shared, || {
        shell("ip link add eth0 type veth peer name peer0; ethtool -K eth0 tso off");
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let text = "[interfaces.eth0]\ndriver = { name = \"mlx5_core\" }\nrings = { rx = 512, rx_max = 8192 }\n\
                    counters = { rx_missed_errors = 77 }\nbus = { model = \"15b3:1019\" }\n\
                    [interfaces.eth0.features.rx-gro-hw]\nhw = true\nwanted = true\nactive = true\n\
                    [interfaces.eth9.rings]\nrx = 1\n";
        file.write_all(text.as_bytes()).unwrap();
        let request = Request { recorded: Some(file.path().to_owned()), ..Request::default() };
        let snapshot = read(&request).unwrap();
        let eth0 = snapshot.own().unwrap().interface("eth0").unwrap();
        assert_eq!(eth0.driver.value().unwrap().name, "mlx5_core");
        assert_eq!(eth0.rings.value().unwrap().rx, Some(512));
        assert_eq!(eth0.bus.value().unwrap().model.as_deref(), Some("15b3:1019"));
        let features = eth0.features.value().unwrap();
        assert!(features["rx-gro-hw"].active && !features["rx-gro-hw"].is_fixed());
        assert!(!features["tx-tcp-segmentation"].active, "what is not recorded is the kernel's");
        assert_eq!(eth0.counters.value().unwrap()["rx_missed_errors"], 77);
        for source in [&eth0.driver.source, &eth0.rings.source, &eth0.features.source, &eth0.counters.source] {
            assert!(source.is_recorded(), "{source}");
        }
        assert!(!eth0.link.source.is_recorded());
        assert!(snapshot.anomalies.iter().any(|anomaly| anomaly.reason == "there is no interface `eth9`"));

        file.write_all(b"[interfaces.eth8]\nring = { rx = 3 }\n").unwrap();
        let error = read(&request).map(|_| ()).unwrap_err();
        assert!(matches!(error, ReadError::Recorded(_)) && error.to_string().contains("ring"), "{error}");
    });
}
