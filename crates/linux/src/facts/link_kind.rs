//! What is particular to a kind of device: VLAN, VXLAN, bond (`IFLA_LINKINFO`).

use model::host::interface::link::{Bond, Link, Vxlan};

use crate::netlink::{Attribute, NetlinkError, value};

/// Reads it into `link`, and gives the number of the device under it where only its kind tells that.
pub(super) fn read(info: &Attribute<'_>, link: &mut Link) -> Result<Option<u32>, NetlinkError> {
    let mut lower = None;
    value::for_nested(info, |part| {
        match part.kind {
            IFLA_INFO_KIND => link.kind = Some(value::text(part)),
            // The kind comes first (net/core/rtnetlink.c, rtnl_link_info_fill).
            IFLA_INFO_DATA => match link.kind.as_deref() {
                Some("vlan") => vlan(part, link)?,
                Some("vxlan") => link.vxlan = Some(vxlan(part, &mut lower)?),
                Some("bond") => link.bond = Some(bond(part)?),
                _ => {}
            },
            _ => {}
        }
        Ok(())
    })?;
    Ok(lower)
}

fn vlan(data: &Attribute<'_>, link: &mut Link) -> Result<(), NetlinkError> {
    value::for_nested(data, |part| {
        if part.kind == IFLA_VLAN_ID {
            link.vlan = value::u16(part);
        }
        Ok(())
    })
}

fn vxlan(data: &Attribute<'_>, lower: &mut Option<u32>) -> Result<Vxlan, NetlinkError> {
    let mut vxlan = Vxlan::default();
    value::for_nested(data, |part| {
        let address = || value::ip(part.value).filter(|address| !address.is_unspecified());
        match part.kind {
            IFLA_VXLAN_ID => vxlan.vni = value::u32(part).unwrap_or_default(),
            IFLA_VXLAN_GROUP | IFLA_VXLAN_GROUP6 => vxlan.remote = address(),
            IFLA_VXLAN_LINK => *lower = value::u32(part).filter(|&index| index != 0),
            IFLA_VXLAN_LOCAL | IFLA_VXLAN_LOCAL6 => vxlan.local = address(),
            IFLA_VXLAN_PORT => vxlan.port = value::be16(part),
            _ => {}
        }
        Ok(())
    })?;
    Ok(vxlan)
}

fn bond(data: &Attribute<'_>) -> Result<Bond, NetlinkError> {
    let mut bond = Bond::default();
    value::for_nested(data, |part| {
        match part.kind {
            IFLA_BOND_MODE => bond.mode = value::u8(part).map(|mode| name(mode, &BOND_MODES)).unwrap_or_default(),
            IFLA_BOND_XMIT_HASH_POLICY => bond.transmit_hash = value::u8(part).map(|policy| name(policy, &HASHES)),
            _ => {}
        }
        Ok(())
    })?;
    Ok(bond)
}

fn name(number: u8, names: &[&str]) -> String {
    names.get(usize::from(number)).map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

// include/uapi/linux/if_link.h of 6.18; the names of modes are those of drivers/net/bonding/bond_options.c.
const BOND_MODES: [&str; 7] =
    ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"];
const HASHES: [&str; 6] = ["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"];
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const IFLA_VLAN_ID: u16 = 1;
const IFLA_VXLAN_ID: u16 = 1;
const IFLA_VXLAN_GROUP: u16 = 2;
const IFLA_VXLAN_LINK: u16 = 3;
const IFLA_VXLAN_LOCAL: u16 = 4;
const IFLA_VXLAN_PORT: u16 = 15;
const IFLA_VXLAN_GROUP6: u16 = 16;
const IFLA_VXLAN_LOCAL6: u16 = 17;
const IFLA_BOND_MODE: u16 = 1;
const IFLA_BOND_XMIT_HASH_POLICY: u16 = 14;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::{Request, attributes};

    /// This kernel has neither VLAN devices nor bonds, so their attributes are written here as the kernel writes them.
    fn link_of(kind: &str, data: impl FnOnce(&mut Request)) -> Link {
        let mut request = Request::new(&[]);
        request.nest(18, |info| {
            info.put_text(IFLA_INFO_KIND, kind).nest(IFLA_INFO_DATA, data);
        });
        let mut link = Link::default();
        let info = attributes(request.bytes(), 0).next().unwrap().unwrap();
        read(&info, &mut link).unwrap();
        link
    }

    #[test]
    fn number_of_a_vlan_and_mode_of_a_bond_are_read() {
        let vlan = link_of("vlan", |data| {
            data.put(IFLA_VLAN_ID, &96u16.to_ne_bytes());
        });
        assert_eq!((vlan.kind.as_deref(), vlan.vlan), (Some("vlan"), Some(96)));
        let bond = link_of("bond", |data| {
            data.put(IFLA_BOND_MODE, &[4]).put(IFLA_BOND_XMIT_HASH_POLICY, &[1]);
        });
        let expected = Bond { mode: "802.3ad".to_owned(), transmit_hash: Some("layer3+4".to_owned()) };
        assert_eq!(bond.bond, Some(expected));
    }
}
