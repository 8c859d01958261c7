//! Reuse of connections.

use std::sync::Arc;
use std::time::Duration;

use relay_ssh::{
    ConnectFailure, End, ForwardRequest, Hop, Limits, Pool, Route, Target, TerminalRequest,
    TransferOptions,
};

use crate::server::Relay;
use crate::support::{Known, Scene, command, ed25519, impatient, limits, never, pool, until};

/// Runs `count` commands at once and returns those that exited with 0.
async fn at_once(pool: &Pool, route: &Route, text: &str, count: usize) -> usize {
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let (pool, route, command) = (pool.clone(), route.clone(), command(text));
            tokio::spawn(async move { pool.run(&route, command, never()).await })
        })
        .collect();
    let mut good = 0;
    for task in tasks {
        good += usize::from(task.await.unwrap().unwrap().end == End::Exited(0));
    }
    good
}

#[tokio::test]
async fn calls_at_once_share_one_login() {
    let scene = Scene::start().await;
    let pool = pool();
    assert_eq!(at_once(&pool, &scene.route(), "true", 8).await, 8);
    assert_eq!((scene.server.logins(), pool.connections()), (1, 1));
    assert_eq!(pool.probe(&scene.route()).await.unwrap().elapsed, Duration::ZERO);
    assert_eq!(scene.server.logins(), 1);
}

#[tokio::test]
async fn a_connection_carries_eight_channels() {
    let scene = Scene::start().await;
    let pool = pool();
    assert_eq!(at_once(&pool, &scene.route(), "sleep 0.5", 20).await, 20);
    assert_eq!(scene.server.logins(), 3);
}

#[tokio::test]
async fn a_host_with_fewer_sessions_gets_more_connections() {
    let scene = Scene::with(|settings| settings.sessions_max = Some(2)).await;
    let pool = pool();
    assert_eq!(at_once(&pool, &scene.route(), "sleep 0.3", 6).await, 6);
    assert!(scene.server.logins() >= 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_calls_than_places_wait_for_their_turn() {
    let scene = Scene::start().await;
    assert_eq!(at_once(&pool(), &scene.route(), "sleep 0.2", 100).await, 100);
    assert!(scene.server.logins() <= 8);
}

#[tokio::test]
async fn another_user_key_or_trust_has_another_connection() {
    let scene = Scene::start().await;
    let pool = pool();
    let mut ways: Vec<Hop> = vec![scene.hop(); 3];
    ways[1].trust = Arc::new(Known { revoked: vec![vec![1]], ..Known::keys(&[&scene.host_key]) });
    ways[2].known_as = "other.example".to_owned();
    for hop in ways {
        pool.probe(&Route { hops: vec![hop] }).await.unwrap();
    }
    assert_eq!(scene.server.logins(), 3);
    let mut stranger = scene.hop();
    stranger.trust = Arc::new(Known::keys(&[&ed25519()]));
    stranger.known_as = "third.example".to_owned();
    pool.probe(&Route { hops: vec![stranger] }).await.unwrap_err();
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_to_a_host_with_few_sessions_all_run() {
    let scene = Scene::with(|settings| settings.sessions_max = Some(1)).await;
    assert_eq!(at_once(&pool(), &scene.route(), "true", 60).await, 60);
}

#[tokio::test]
async fn an_unused_connection_ends() {
    let scene = Scene::start().await;
    let pool = Pool::new(Limits { idle: Duration::from_millis(200), ..limits() });
    pool.probe(&scene.route()).await.unwrap();
    until("the server sees the end", || scene.server.open_connections() == 0).await;
    assert_eq!(pool.connections(), 0);
    pool.probe(&scene.route()).await.unwrap();
    assert_eq!(scene.server.logins(), 2);
}

#[tokio::test]
async fn a_connection_in_use_is_not_idle() {
    let scene = Scene::start().await;
    let pool = Pool::new(Limits { idle: Duration::from_millis(100), ..limits() });
    assert_eq!(at_once(&pool, &scene.route(), "sleep 1", 1).await, 1);
}

#[tokio::test]
async fn the_longest_unused_connection_makes_room() {
    let scenes = [Scene::start().await, Scene::start().await, Scene::start().await];
    let pool = Pool::new(Limits { connections_max: 2, ..limits() });
    for scene in &scenes {
        pool.probe(&scene.route()).await.unwrap();
        until("its channel is closed", || {
            scene.server.counts.closed_channels.load(std::sync::atomic::Ordering::SeqCst) == 1
        })
        .await;
    }
    assert_eq!(pool.connections(), 2);
    until("the first ended", || scenes[0].server.open_connections() == 0).await;
    assert_eq!(scenes[1].server.open_connections(), 1);
}

#[tokio::test]
async fn a_full_pool_in_use_is_busy() {
    let scenes = [Scene::start().await, Scene::start().await];
    let pool = Pool::new(Limits { connections_max: 1, ..limits() });
    let running = tokio::spawn({
        let (pool, route) = (pool.clone(), scenes[0].route());
        async move { pool.run(&route, command("sleep 1000"), never()).await }
    });
    until("the command runs", || !scenes[0].server.commands().is_empty()).await;
    let error = pool.probe(&scenes[1].route()).await.unwrap_err();
    assert_eq!(error.cause, ConnectFailure::Busy { limit: 1 });
    running.abort();
}

#[tokio::test]
async fn a_dead_connection_is_replaced() {
    let scene = Scene::start().await;
    let relay = Relay::start(scene.server.address).await;
    let pool = Pool::new(impatient());
    let route = Route { hops: vec![scene.hop_at(relay.address)] };
    pool.probe(&route).await.unwrap();
    relay.freeze();
    until("the keepalive finds it", || pool.connections() == 0).await;
    // Another relay stands for the network that works again.
    pool.probe(&scene.route()).await.unwrap();
    assert_eq!(scene.server.logins(), 2);
}

#[tokio::test]
async fn connections_to_hosts_that_are_no_longer_allowed_end() {
    let (kept, ended) = (Scene::start().await, Scene::start().await);
    let pool = pool();
    pool.probe(&kept.route()).await.unwrap();
    let running = tokio::spawn({
        let (pool, route) = (pool.clone(), ended.route());
        async move { pool.run(&route, command("sleep 1000"), never()).await }
    });
    until("the command runs", || !ended.server.commands().is_empty()).await;
    let port = kept.server.address.port();
    pool.retain(|route| route.hops.last().unwrap().port == port).await;
    assert_eq!(running.await.unwrap().unwrap().end, End::Lost);
    assert_eq!(pool.connections(), 1);
    until("the server sees the end", || ended.server.open_connections() == 0).await;
}

#[tokio::test]
async fn a_connect_ends_with_its_last_caller() {
    let scene = Scene::start().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let route = Route { hops: vec![scene.hop_at(listener.local_addr().unwrap())] };
    let pool = pool();
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let (pool, route) = (pool.clone(), route.clone());
            tokio::spawn(async move { pool.probe(&route).await })
        })
        .collect();
    let (mut socket, _) = listener.accept().await.unwrap();
    calls.iter().for_each(tokio::task::JoinHandle::abort);
    // Ends when the socket is closed.
    while let Ok(1..) = tokio::io::AsyncReadExt::read(&mut socket, &mut [0; 4096]).await {}
}

#[tokio::test]
async fn nothing_is_left_of_what_ended() {
    let scene = Scene::start().await;
    let pool = pool();
    let route = scene.route();
    pool.run(&route, command("true"), never()).await.unwrap();
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for _ in 0..10 {
        assert_eq!(at_once(&pool, &route, "true", 8).await, 8);
        let given_up = pool.run(&route, command("sleep 1000"), never());
        let _ = tokio::time::timeout(Duration::from_millis(20), given_up).await;
        let request = TerminalRequest {
            command: Some(b"cat".to_vec()),
            name: "xterm".to_owned(),
            columns: 80,
            rows: 24,
        };
        drop(pool.terminal(&route, request).await.unwrap());
        let request = ForwardRequest::Local {
            listen: 0,
            target: Target { host: "127.0.0.1".to_owned(), port: 1 },
        };
        drop(pool.forward(&route, request).await.unwrap());
        let source = scene.folder.path().join("source");
        std::fs::write(&source, "x").unwrap();
        let to = scene.folder.path().join("copy");
        let options = TransferOptions {
            recursive: false,
            entries_max: 1,
            bytes_max: 10,
            timeout: Duration::from_secs(60),
        };
        pool.upload(&route, (&source, to.to_str().unwrap()), &options, never()).await.unwrap();
    }
    until("the tasks have ended", || tasks() <= before + 1).await;
    assert_eq!(pool.connections(), 1);
    drop(pool);
    until("the connection has ended", || scene.server.open_connections() == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_logins_at_once_go_to_one_address() {
    let scene = Scene::start().await;
    let pool = pool();
    let tasks: Vec<_> = (0..40)
        .map(|at| {
            let mut hop = scene.hop();
            hop.known_as = format!("host-{at}.example");
            let pool = pool.clone();
            tokio::spawn(async move { pool.probe(&Route { hops: vec![hop] }).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(scene.server.logins(), 40);
    assert!(scene.server.counts.strangers_max.load(std::sync::atomic::Ordering::SeqCst) <= 8);
}
