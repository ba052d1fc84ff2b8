//! Which link speeds count: many virtual drivers report a number that has nothing to do with what they carry.

use units::DataRate;

/// The speed in bit/s that a driver reports, unless it is a number that the driver made up: `veth` reports 10 Gbit/s
/// (drivers/net/veth.c), `tun` 10 Mbit/s unless somebody set it (drivers/net/tun.c), and `virtio_net` what the hypervisor was
/// configured to say, whatever they carry.
pub(super) fn reported(driver: Option<&str>, speed: Option<DataRate>) -> Option<DataRate> {
    speed.filter(|speed| match driver {
        _ if speed.is_zero() => false,
        Some("veth" | "virtio_net") => false,
        Some("tun") => *speed != TUN_UNSET,
        _ => true,
    })
}

const TUN_UNSET: DataRate = DataRate::from_bps(10_000_000);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_that_a_driver_makes_up_is_none() {
        let of = |driver, bps| reported(driver, Some(DataRate::from_bps(bps))).map(DataRate::bps);
        for driver in ["veth", "virtio_net"] {
            assert_eq!(of(Some(driver), 10_000_000_000), None, "{driver}");
        }
        assert_eq!([10_000_000, 1_000_000_000].map(|bps| of(Some("tun"), bps)), [None, Some(1_000_000_000)]);
        assert_eq!([None, Some("mlx5_core")].map(|driver| of(driver, 10_000_000_000)), [Some(10_000_000_000); 2]);
        assert_eq!((of(Some("mlx5_core"), 0), reported(Some("ixgbe"), None)), (None, None));
    }
}
