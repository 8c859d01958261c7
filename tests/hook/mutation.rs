//! Mutated events of each dialect, through the whole hook.

use super::dialect::{CLIENTS, Play};
use super::entry::event;
use super::guard::Guard;
use crate::random::Random;

const ROUNDS: usize = 60;

#[test]
fn no_mutation_of_an_event_breaks_an_answer() {
    let guard = Guard::new();
    let config = guard.path("hook.toml");
    let cwd = guard.text("work");
    let plays = [
        Play::Shell("echo x > /etc/motd"),
        Play::Shell("ls -l 'a b' | head"),
        Play::Write("/etc/motd"),
        Play::Server("notes", "note-drop", serde_json::json!({ "name": "n" })),
    ];
    let mut random = Random(29);
    let mut denied = 0;
    for (number, client) in CLIENTS.into_iter().enumerate() {
        for play in &plays {
            let Some(good) = play.event(client, &cwd) else { continue };
            let good = good.to_string().into_bytes();
            for _ in 0..ROUNDS {
                let mut bytes = vec![u8::try_from(number).unwrap()];
                bytes.extend(&good);
                for _ in 0..=random.below(3) {
                    let place = 1 + random.below(bytes.len() - 1);
                    match random.below(4) {
                        0 => bytes[place] ^= 1 << random.below(8),
                        1 => _ = bytes.remove(place),
                        2 => bytes.insert(place, b"{}[]\",:\\0aZ"[random.below(11)]),
                        _ => bytes.truncate(place + 1),
                    }
                    if bytes.len() < 3 {
                        break;
                    }
                }
                let output = event(&bytes, &config).expect("a client");
                denied += usize::from(output.code == 2);
            }
        }
    }
    assert!(denied > 500, "{denied}");
}
