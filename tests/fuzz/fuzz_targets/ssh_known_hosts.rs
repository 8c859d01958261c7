#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| relay_fuzz::ssh_known_hosts(bytes));
