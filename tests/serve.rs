//! `relay-serve` as its clients and its operators see it: the program itself, run on a bundle.

mod agent;
mod audit;
mod audit_trouble;
mod auth;
mod crowd;
mod gate;
mod hangup;
mod homelab;
mod house;
mod http;
mod issuers;
mod legacy;
mod metrics;
mod modern;
mod preview;
mod reference;
mod reload;
mod revoke;
mod robust;
mod server;
mod sessions;
mod start;
mod tokens;
mod tools;
mod web;
