//! The account that the server runs as, and with it the commands of agents.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::process::locate;
use crate::settings::Settings;

/// The accounts of the machine; those of a directory service are elsewhere.
const ACCOUNTS: &str = "/etc/passwd";
/// The most bytes that are read of it.
const ACCOUNTS_BYTES_MAX: u64 = 1 << 20;

/// Describes the account: the number of the user, in effect too, the name if it is known, and the
/// program `sudo` if there is one.
pub(super) fn account(settings: &Settings) -> Value {
    let user = rustix::process::getuid();
    let effective = rustix::process::geteuid();
    let sudo = locate("sudo", Path::new("/"), &settings.variables);
    let mut account = json!({
        "uid": user.as_raw(),
        "euid": effective.as_raw(),
        "is_root": effective.is_root(),
    });
    let facts = [
        ("user", name(effective.as_raw())),
        ("sudo_binary", sudo.map(|path| path.display().to_string())),
    ];
    for (key, value) in facts {
        if let (Some(account), Some(value)) = (account.as_object_mut(), value) {
            account.insert(key.to_owned(), json!(value));
        }
    }
    account
}

/// Returns the name of the user with this number.
fn name(uid: u32) -> Option<String> {
    let mut text = Vec::new();
    File::open(ACCOUNTS).ok()?.take(ACCOUNTS_BYTES_MAX).read_to_end(&mut text).ok()?;
    name_in(&String::from_utf8_lossy(&text), uid)
}

/// Returns the name of the user with this number in the text of `/etc/passwd`: passwd(5).
fn name_in(accounts: &str, uid: u32) -> Option<String> {
    let of_line = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let number: u32 = fields.nth(1)?.parse().ok()?;
        (number == uid && !name.is_empty()).then(|| name.to_owned())
    };
    accounts.lines().find_map(of_line)
}

#[cfg(test)]
mod tests {
    use super::name_in;

    #[test]
    fn a_name_is_that_of_the_number() {
        let accounts = "root:x:0:0:root:/root:/bin/bash\nbroken\n:x:7:\nada:x:1000:1000::/:\n";
        assert_eq!(name_in(accounts, 0).as_deref(), Some("root"));
        assert_eq!(name_in(accounts, 1000).as_deref(), Some("ada"));
        assert_eq!(name_in(accounts, 7), None);
        assert_eq!(name_in(accounts, 100), None);
        assert_eq!(name_in("", 0), None);
    }
}
