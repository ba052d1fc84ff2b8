//! Whose a socket is, from the kernel's texts.

/// The container that a control group belongs to, from `/proc/PID/cgroup`: the first 12 digits of its id, as `docker ps`
/// and `crictl ps` print them, behind what runs it; of LXC and systemd-nspawn the name. `None` for a process of the host.
#[must_use]
pub fn container(cgroup: &str) -> Option<String> {
    let paths = cgroup.lines().take(MOST_LINES).filter_map(|line| line.splitn(3, ':').nth(2));
    paths.flat_map(|path| path.rsplit('/')).find_map(of_part)
}

fn of_part(part: &str) -> Option<String> {
    let bare = part.strip_suffix(".scope").or_else(|| part.strip_suffix(".service")).unwrap_or(part);
    if let Some(name) = bare.strip_prefix("machine-").or_else(|| bare.strip_prefix("lxc.payload.")) {
        return Some(printable(name));
    }
    let (runtime, id) = bare.rsplit_once('-').unwrap_or(("container", bare));
    let is_id = id.len() == ID_DIGITS && id.bytes().all(|digit| digit.is_ascii_hexdigit());
    let runtime = runtime.strip_prefix("cri-").unwrap_or(runtime);
    is_id.then(|| format!("{} {}", printable(runtime), id.chars().take(SHOWN_DIGITS).collect::<String>()))
}

fn printable(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME).collect()
}

/// The name of a user by number, from `/etc/passwd`.
#[must_use]
pub fn user(passwd: &str, uid: u32) -> Option<String> {
    let mut lines = passwd.lines().map(|line| line.split(':'));
    lines.find_map(|mut fields| {
        let name = fields.next()?;
        let number: u32 = fields.nth(1)?.parse().ok()?;
        (number == uid).then(|| printable(name))
    })
}

/// Of SHA-256, as container engines name containers.
const ID_DIGITS: usize = 64;
const SHOWN_DIGITS: usize = 12;
const LONGEST_NAME: usize = 64;
/// Version 1 has a line for each controller, some fifteen.
const MOST_LINES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_known_by_their_control_group() {
        let id = "4f1c3a2b9e8d7c6b5a493827161504f3e2d1c0b9a8978695a4b3c2d1e0f12345";
        let docker = format!("0::/system.slice/docker-{id}.scope\n");
        assert_eq!(container(&docker).as_deref(), Some("docker 4f1c3a2b9e8d"));
        let old = format!("12:memory:/docker/{id}\n11:cpu:/docker/{id}\n");
        assert_eq!(container(&old).as_deref(), Some("container 4f1c3a2b9e8d"));
        let pod = format!("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{id}.scope");
        assert_eq!(container(&pod).as_deref(), Some("containerd 4f1c3a2b9e8d"));
        assert_eq!(container("0::/machine.slice/machine-vo.scope\n").as_deref(), Some("vo"));
        for host in ["0::/user.slice/user-0.slice/session-1.scope\n", "", "0::/", "garbage", "0::/docker-abc.scope"] {
            assert_eq!(container(host), None, "{host}");
        }
    }

    #[test]
    fn users_are_found_by_number() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbroken\ndtn:x:1001:1001::/srv:/bin/sh\n";
        assert_eq!(user(passwd, 1001).as_deref(), Some("dtn"));
        assert_eq!((user(passwd, 0).as_deref(), user(passwd, 7)), (Some("root"), None));
    }
}
