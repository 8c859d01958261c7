//! Commands and their ends.

use std::time::Duration;

use relay_ssh::{Command, ConnectFailure, End, Fate, Finished, Pool};

use crate::server::Relay;
use crate::support::{Scene, command, impatient, never, pool, until};

async fn run(scene: &Scene, command: Command) -> Finished {
    pool().run(&scene.route(), command, never()).await.unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn both_outputs_and_the_code_come_back() {
    let scene = Scene::start().await;
    let finished = run(&scene, command("echo out; echo err >&2; exit 7")).await;
    assert_eq!(text(&finished.stdout), "out\n");
    assert_eq!(text(&finished.stderr), "err\n");
    assert_eq!(finished.end, End::Exited(7));
}

#[tokio::test]
async fn merged_output_is_one_stream() {
    let scene = Scene::start().await;
    let finished = run(&scene, Command { merge: true, ..command("echo err >&2") }).await;
    assert_eq!((text(&finished.stdout), text(&finished.stderr)), ("err\n", ""));
}

#[tokio::test]
async fn input_is_sent_whole_and_ends() {
    let scene = Scene::start().await;
    let input = vec![b'x'; 3_000_000];
    let finished = run(&scene, Command { input, ..command("wc -c") }).await;
    assert_eq!(text(&finished.stdout).trim(), "3000000");
    let finished = run(&scene, command("cat; echo end")).await;
    assert_eq!(text(&finished.stdout), "end\n");
}

#[tokio::test]
async fn a_command_that_reads_nothing_ends_with_much_input() {
    let scene = Scene::start().await;
    let input = vec![b'x'; 8_000_000];
    let finished = run(&scene, Command { input, ..command("exit 4") }).await;
    assert_eq!(finished.end, End::Exited(4));
}

#[tokio::test]
async fn output_beyond_the_limit_is_counted() {
    let scene = Scene::start().await;
    let finished = run(
        &scene,
        Command { output_bytes_max: 10, ..command("head -c 5000000 /dev/zero; exit 2") },
    )
    .await;
    assert_eq!((finished.stdout.len(), finished.stdout_bytes), (10, 5_000_000));
    assert_eq!(finished.end, End::Exited(2));
}

#[tokio::test]
async fn a_signal_has_its_name() {
    let scene = Scene::start().await;
    assert_eq!(run(&scene, command("kill -9 $$")).await.end, End::Signalled("KILL".to_owned()));
}

#[tokio::test]
async fn a_status_after_the_end_of_output_counts() {
    let scene = Scene::start().await;
    let finished = run(&scene, command("fault:status-after-eof")).await;
    assert_eq!((text(&finished.stdout), finished.end), ("out", End::Exited(5)));
}

#[tokio::test]
async fn output_held_open_after_the_status_ends_the_call() {
    let scene = Scene::start().await;
    let finished = run(&scene, command("fault:held-open")).await;
    assert_eq!((text(&finished.stdout), finished.end), ("late", End::Exited(3)));
}

#[tokio::test]
async fn a_close_without_status_is_no_success() {
    let scene = Scene::start().await;
    assert_eq!(run(&scene, command("fault:no-status")).await.end, End::NoStatus);
}

#[tokio::test]
async fn a_refused_command_is_refused() {
    let scene = Scene::start().await;
    assert_eq!(run(&scene, command("fault:refuse")).await.end, End::Refused);
}

#[tokio::test]
async fn a_lost_connection_is_an_unknown_outcome_and_the_command_is_sent_once() {
    let scene = Scene::start().await;
    assert_eq!(run(&scene, command("fault:disconnect")).await.end, End::Lost);
    assert_eq!(scene.server.commands(), ["fault:disconnect"]);
}

#[tokio::test]
async fn a_dead_link_is_found_in_the_middle_of_a_command() {
    let scene = Scene::start().await;
    let relay = Relay::start(scene.server.address).await;
    let route = relay_ssh::Route { hops: vec![scene.hop_at(relay.address)] };
    let pool = Pool::new(impatient());
    let running = tokio::spawn({
        let pool = pool.clone();
        async move { pool.run(&route, command("fault:stall"), never()).await }
    });
    until("the command arrives", || !scene.server.commands().is_empty()).await;
    relay.freeze();
    assert_eq!(running.await.unwrap().unwrap().end, End::Lost);
    until("the connection is gone", || pool.connections() == 0).await;
}

#[tokio::test]
async fn a_dead_link_is_found_in_the_middle_of_input() {
    let scene = Scene::start().await;
    let relay = Relay::start(scene.server.address).await;
    let route = relay_ssh::Route { hops: vec![scene.hop_at(relay.address)] };
    let pool = Pool::new(impatient());
    let input = vec![0; 100_000_000];
    let running = tokio::spawn(async move {
        pool.run(&route, Command { input, ..command("cat >/dev/null") }, never()).await
    });
    until("the command arrives", || !scene.server.commands().is_empty()).await;
    relay.freeze();
    assert_eq!(running.await.unwrap().unwrap().end, End::Lost);
}

#[tokio::test]
async fn a_timeout_ends_the_command_on_the_host() {
    let scene = Scene::start().await;
    let timeout = Duration::from_millis(300);
    let finished = run(&scene, Command { timeout, ..command("echo begun; sleep 1000") }).await;
    assert_eq!((text(&finished.stdout), finished.end), ("begun\n", End::TimedOut(Fate::Ended)));
}

#[tokio::test]
async fn a_command_that_ignores_sigterm_is_killed() {
    let scene = Scene::start().await;
    let timeout = Duration::from_millis(300);
    let text = "trap '' TERM; while :; do sleep 0.1; done";
    let finished = run(&scene, Command { timeout, ..command(text) }).await;
    assert_eq!(finished.end, End::TimedOut(Fate::Ended));
}

#[tokio::test]
async fn a_host_that_refuses_signals_leaves_the_command_running() {
    let scene = Scene::with(|settings| settings.deaf = true).await;
    let timeout = Duration::from_millis(100);
    let pool = pool();
    let finished = pool
        .run(&scene.route(), Command { timeout, ..command("fault:stall") }, never())
        .await
        .unwrap();
    assert_eq!((text(&finished.stdout), finished.end), ("half", End::TimedOut(Fate::MayStillRun)));
    let closed =
        || scene.server.counts.closed_channels.load(std::sync::atomic::Ordering::SeqCst) == 1;
    until("the channel is closed", closed).await;
    // The connection goes on.
    assert_eq!(
        pool.run(&scene.route(), command("exit 0"), never()).await.unwrap().end,
        End::Exited(0)
    );
    assert_eq!(scene.server.logins(), 1);
}

#[tokio::test]
async fn a_stop_ends_the_command_on_the_host() {
    let scene = Scene::start().await;
    let stop = async { until("the command arrives", || !scene.server.commands().is_empty()).await };
    let finished = pool().run(&scene.route(), command("sleep 1000"), stop).await.unwrap();
    assert_eq!(finished.end, End::Stopped(Fate::Ended));
}

#[tokio::test]
async fn a_stop_before_the_connection_sends_nothing() {
    let scene = Scene::start().await;
    let error = pool().run(&scene.route(), command("true"), async {}).await.unwrap_err();
    assert_eq!(error.cause, ConnectFailure::Stopped);
    assert!(scene.server.commands().is_empty());
}

#[tokio::test]
async fn a_caller_that_goes_away_ends_its_command() {
    let scene = Scene::start().await;
    let pool = pool();
    let route = scene.route();
    let running =
        tokio::spawn(async move { pool.run(&route, command("sleep 1000"), never()).await });
    until("the command runs", || !scene.server.commands().is_empty()).await;
    running.abort();
    let ended =
        || scene.server.counts.ended_commands.load(std::sync::atomic::Ordering::SeqCst) == 1;
    until("the command ends", ended).await;
}

#[tokio::test]
async fn a_flood_beside_a_command_does_not_stop_it() {
    let scene = Scene::start().await;
    let pool = pool();
    let (route, flooding) = (scene.route(), pool.clone());
    let flood =
        tokio::spawn(async move { flooding.run(&route, command("fault:flood"), never()).await });
    until("the flood runs", || !scene.server.commands().is_empty()).await;
    let finished = pool.run(&scene.route(), command("echo ok"), never()).await.unwrap();
    assert_eq!(text(&finished.stdout), "ok\n");
    assert_eq!(scene.server.logins(), 1);
    flood.abort();
}

#[tokio::test]
async fn channels_that_the_server_opens_are_rejected() {
    let scene = Scene::start().await;
    run(&scene, command("fault:open-channels")).await;
    let said = scene.server.counts.opened_unasked.lock().unwrap().clone();
    assert_eq!(
        said,
        ["agent false", "session false", "direct false", "forwarded false", "x11 false"]
    );
}

#[tokio::test]
async fn a_command_that_gets_no_terminal_is_not_sent() {
    let scene = Scene::with(|settings| settings.no_terminals = true).await;
    let finished = run(&scene, Command { terminal: true, ..command("echo ran") }).await;
    assert_eq!(finished.end, End::Refused);
    assert!(scene.server.commands().is_empty());
}

#[tokio::test]
async fn a_flooding_command_is_ended_by_its_timeout() {
    let scene = Scene::start().await;
    let timeout = Duration::from_millis(300);
    let flood = Command { timeout, input: vec![b'x'; 50_000_000], ..command("yes") };
    assert_eq!(run(&scene, flood).await.end, End::TimedOut(Fate::Ended));
}

#[tokio::test]
async fn new_keys_in_the_middle_do_no_harm() {
    let scene = Scene::with(|settings| {
        settings.limits.rekey_write_limit = 1 << 20;
        settings.limits.rekey_read_limit = 1 << 20;
    });
    let scene = scene.await;
    let input = vec![b'x'; 10_000_000];
    let finished = run(&scene, Command { input, ..command("cat") }).await;
    assert_eq!((finished.stdout_bytes, finished.end), (10_000_000, End::Exited(0)));
}
