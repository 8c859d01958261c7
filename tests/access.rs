//! Tenants, roles and users: who is placed where, and what an audience sees.

mod place;
mod view;
