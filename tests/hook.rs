//! `relay-hook`: the policy inside agents' own clients.

mod answers;
mod approvals;
mod attacks;
mod corpus;
mod dialect;
mod entry;
mod guard;
mod mutation;
mod stats;
mod texts;
