//! Terminals.

use std::sync::atomic::Ordering;

use relay_ssh::{
    ConnectFailure, End, TERMINAL_BYTES_MAX, Terminal, TerminalError, TerminalRequest,
};

use crate::support::{Scene, pool, until};

fn request(text: &str) -> TerminalRequest {
    let command = Some(text.as_bytes().to_vec());
    TerminalRequest { command, name: "xterm-256color".to_owned(), columns: 100, rows: 30 }
}

/// Reads until the output contains `text`.
async fn expect(terminal: &Terminal, text: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(text) {
        let chunk = terminal.read().await.unwrap_or_else(|| panic!("{text} in {seen}"));
        seen.push_str(&String::from_utf8(chunk.bytes).unwrap());
    }
    seen
}

#[tokio::test]
async fn a_terminal_has_a_size_takes_input_and_ends() {
    let scene = Scene::start().await;
    let terminal = pool()
        .terminal(&scene.route(), request("read line; echo got $line; exit 3"))
        .await
        .unwrap();
    expect(&terminal, "size 100x30").await;
    terminal.resize(120, 40).await.unwrap();
    expect(&terminal, "size 120x40").await;
    terminal.write(b"word\n".to_vec()).await.unwrap();
    expect(&terminal, "got word").await;
    assert_eq!(terminal.ended().await, End::Exited(3));
    assert_eq!(terminal.read().await, None);
    assert_eq!(terminal.write(b"more".to_vec()).await, Err(TerminalError::Ended));
}

#[tokio::test]
async fn a_signal_reaches_the_program() {
    let scene = Scene::start().await;
    let terminal = pool().terminal(&scene.route(), request("echo up; sleep 1000")).await.unwrap();
    expect(&terminal, "up").await;
    terminal.signal("TERM").await.unwrap();
    assert_eq!(terminal.ended().await, End::Signalled("TERM".to_owned()));
}

#[tokio::test]
async fn kill_ends_the_program() {
    let scene = Scene::start().await;
    let text = "trap '' TERM; echo up; while :; do sleep 0.1; done";
    let terminal = pool().terminal(&scene.route(), request(text)).await.unwrap();
    expect(&terminal, "up").await;
    assert_eq!(terminal.kill().await, Some(End::Signalled("KILL".to_owned())));
}

#[tokio::test]
async fn a_dropped_terminal_is_closed() {
    let scene = Scene::start().await;
    // Without its pool, the connection would end with the terminal, perhaps before the channel is closed.
    let pool = pool();
    let text = "echo up; sleep 1000";
    let terminal = pool.terminal(&scene.route(), request(text)).await.unwrap();
    expect(&terminal, "up").await;
    drop(terminal);
    let closed = || scene.server.counts.closed_channels.load(Ordering::SeqCst) == 1;
    until("the channel is closed", closed).await;
}

#[tokio::test]
async fn unread_output_is_bounded_and_its_loss_counted() {
    let scene = Scene::start().await;
    let text = "head -c 3000000 /dev/zero; echo end";
    let terminal = pool().terminal(&scene.route(), request(text)).await.unwrap();
    terminal.ended().await;
    let chunk = terminal.read().await.unwrap();
    assert_eq!(chunk.bytes.len(), TERMINAL_BYTES_MAX);
    assert!(chunk.bytes.ends_with(b"end\n") && chunk.dropped > 1_900_000);
}

#[tokio::test]
async fn a_refused_command_is_an_error() {
    let scene = Scene::start().await;
    let refused = pool().terminal(&scene.route(), request("fault:refuse")).await;
    assert_eq!(refused.err().unwrap().cause, ConnectFailure::TerminalRefused);
}

#[tokio::test]
async fn a_lost_connection_ends_the_terminal_as_lost() {
    let scene = Scene::start().await;
    let pool = pool();
    let terminal = pool.terminal(&scene.route(), request("echo up; sleep 1000")).await.unwrap();
    expect(&terminal, "up").await;
    pool.retain(|_| false).await;
    assert_eq!(terminal.ended().await, End::Lost);
}
