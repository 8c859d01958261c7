//! The bundle in force: loaded, verified, judged again, and seen by a caller; and the keys of this
//! server.

pub(crate) mod keyring;
pub(crate) mod load;
pub(crate) mod loaded;
pub(crate) mod named;
pub(crate) mod placed;
pub(crate) mod standing;
