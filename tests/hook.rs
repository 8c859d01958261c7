//! `relay-hook`: the policy inside agents' own clients.

mod answers;
mod approvals;
mod attacks;
mod corpus;
mod dialect;
mod guard;
mod texts;
