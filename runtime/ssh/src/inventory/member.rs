//! The members of a host, each read with its own rule.

use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Unexpected, Visitor};

use crate::config::{self, Jump};
use crate::{host_name, user_name};

/// The settings of a host, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Member {
    #[serde(alias = "host")]
    pub(crate) hostname: Option<HostName>,
    pub(crate) user: Option<User>,
    pub(crate) port: Option<Port>,
    #[serde(alias = "identityfile")]
    pub(crate) identity_file: Option<IdentityFile>,
    #[serde(alias = "proxyjump")]
    pub(crate) jump: Option<Jumps>,
    pub(crate) known_hosts: Option<KnownHostsRule>,
}

/// The same, from an object alone: derived code reads an array too.
pub(crate) struct MemberObject(pub(crate) Member);

impl<'de> Deserialize<'de> for MemberObject {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Object)
    }
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = MemberObject;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object of settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MemberObject, A::Error> {
        Member::deserialize(MapAccessDeserializer::new(map)).map(MemberObject)
    }
}

/// The values of `known_hosts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownHostsRule {
    /// `strict`: only known keys.
    Strict,
    /// `accept-new`: known keys, and any key of an unknown host.
    AcceptNew,
    /// `ignore`: any key.
    Ignore,
}

/// A value that is read from a string.
trait FromText: Sized {
    /// The strings that are valid.
    const EXPECTED: &'static str;

    fn of_text(text: &str) -> Option<Self>;
}

/// Reads a string as a `T`.
struct Text<T>(PhantomData<T>);

impl<T: FromText> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(T::EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::of_text(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

/// An alias, a plain name.
pub(crate) struct Alias(pub(crate) String);

impl FromText for Alias {
    const EXPECTED: &'static str =
        "an alias of letters, digits, `-`, `.`, `_` and `:`, as in `web-1`";

    fn of_text(text: &str) -> Option<Self> {
        host_name::is_plain(text).then(|| Self(text.to_owned()))
    }
}

/// A name or an address.
pub(crate) struct HostName(pub(crate) String);

impl FromText for HostName {
    const EXPECTED: &'static str = "a host name or an address";

    fn of_text(text: &str) -> Option<Self> {
        host_name::is_plain(text).then(|| Self(text.to_owned()))
    }
}

/// A user.
pub(crate) struct User(pub(crate) String);

impl FromText for User {
    const EXPECTED: &'static str = "a user name";

    fn of_text(text: &str) -> Option<Self> {
        user_name::is_plain(text).then(|| Self(text.to_owned()))
    }
}

/// A path, absolute or below `~/`.
pub(crate) struct IdentityFile(PathBuf);

impl FromText for IdentityFile {
    const EXPECTED: &'static str = "an absolute path, or one below `~/`";

    fn of_text(text: &str) -> Option<Self> {
        let is_valid = (text.starts_with('/') || text.starts_with("~/")) && !text.contains('\0');
        is_valid.then(|| Self(text.into()))
    }
}

impl IdentityFile {
    /// Returns the absolute path; `home` is the folder of `~`.
    pub(crate) fn below(self, home: &str) -> PathBuf {
        match self.0.strip_prefix("~") {
            Ok(rest) => Path::new(home).join(rest),
            Err(_) => self.0,
        }
    }
}

/// A list of jumps.
pub(crate) struct Jumps(pub(crate) Vec<Jump>);

impl FromText for Jumps {
    const EXPECTED: &'static str = "`none`, or a few of `user@host:port` with commas between";

    fn of_text(text: &str) -> Option<Self> {
        config::jumps(text).ok().map(Self)
    }
}

impl FromText for KnownHostsRule {
    const EXPECTED: &'static str = "`strict`, `accept-new` or `ignore`";

    fn of_text(text: &str) -> Option<Self> {
        match text {
            "strict" => Some(Self::Strict),
            "accept-new" => Some(Self::AcceptNew),
            "ignore" => Some(Self::Ignore),
            _ => None,
        }
    }
}

/// Reads each of these types from a string.
macro_rules! from_text {
    ($($name:ident)*) => {
        $(impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                from.deserialize_str(Text(PhantomData))
            }
        })*
    };
}

from_text!(Alias HostName User IdentityFile Jumps KnownHostsRule);

/// The number of a port.
pub(crate) struct Port(pub(crate) u16);

impl<'de> Deserialize<'de> for Port {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_u64(PortNumber)
    }
}

struct PortNumber;

impl Visitor<'_> for PortNumber {
    type Value = Port;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number from 1 to 65535")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Port, E> {
        let port = u16::try_from(number).ok().filter(|port| *port > 0).map(Port);
        port.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
    }
}
