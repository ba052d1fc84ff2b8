//! The link speeds that count.

use units::DataRate;

use crate::host;

/// The link speed that an interface reports, if its driver does not make it up.
#[must_use]
pub fn reported_speed(device: &model::host::Device) -> Option<DataRate> {
    device.speed.filter(|speed| host::is_reported(device.driver.as_deref(), *speed))
}
