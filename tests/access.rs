//! Tenants, roles and users: who is placed where, and what an audience sees.

mod decide;
mod place;
mod view;
