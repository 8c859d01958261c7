//! Ports that lead through a host.

use std::sync::Arc;
use std::time::Duration;

use relay_ssh::{ConnectFailure, End, Forward, ForwardError, ForwardRequest, Limits, Pool, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::support::{Scene, command, limits, never, pool, until};

/// Starts a server that sends back what it gets, and returns its port.
async fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut read, mut write) = socket.split();
                let _ = tokio::io::copy(&mut read, &mut write).await;
                let _ = write.shutdown().await;
            });
        }
    });
    port
}

fn target(port: u16) -> Target {
    Target { host: "127.0.0.1".to_owned(), port }
}

async fn open(pool: &Pool, scene: &Scene, request: ForwardRequest) -> Forward {
    pool.forward(&scene.route(), request).await.unwrap()
}

/// Sends bytes, ends the input, and returns what comes back.
async fn exchange(socket: &mut TcpStream, bytes: Vec<u8>) -> Vec<u8> {
    let (mut read, mut write) = socket.split();
    let sending = async {
        let _ = write.write_all(&bytes).await;
        let _ = write.shutdown().await;
    };
    let mut back = Vec::new();
    let (_, ()) = tokio::join!(read.read_to_end(&mut back), sending);
    back
}

async fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).await.unwrap()
}

#[tokio::test]
async fn a_local_port_leads_to_the_target() {
    let scene = Scene::start().await;
    let pool = pool();
    let forward =
        open(&pool, &scene, ForwardRequest::Local { listen: 0, target: target(echo().await) })
            .await;
    let bytes = vec![7; 3_000_000];
    assert!(exchange(&mut connect(forward.port()).await, bytes.clone()).await == bytes);
    assert_eq!(exchange(&mut connect(forward.port()).await, b"again".to_vec()).await, b"again");
    until("the clients are gone", || forward.clients() == 0).await;
    assert_eq!(forward.clients_served(), 2);
}

#[tokio::test]
async fn a_refused_target_closes_the_client() {
    let scene = Scene::start().await;
    let forward =
        open(&pool(), &scene, ForwardRequest::Local { listen: 0, target: target(1) }).await;
    assert!(exchange(&mut connect(forward.port()).await, b"x".to_vec()).await.is_empty());
}

#[tokio::test]
async fn a_forward_has_a_connection_of_its_own() {
    let scene = Scene::start().await;
    let pool = pool();
    pool.probe(&scene.route()).await.unwrap();
    let forward =
        open(&pool, &scene, ForwardRequest::Local { listen: 0, target: target(echo().await) })
            .await;
    assert_eq!((scene.server.logins(), pool.connections()), (2, 2));
    // A client that sends and never reads stops its own connection alone.
    let mut silent = connect(forward.port()).await;
    let (stuck, stops) = oneshot::channel();
    let flood = tokio::spawn(async move {
        let block = [0; 65536];
        let pause = Duration::from_millis(300);
        while let Ok(sent) = timeout(pause, silent.write_all(&block)).await {
            sent.unwrap();
        }
        stuck.send(()).unwrap();
        while silent.write_all(&block).await.is_ok() {}
    });
    stops.await.unwrap();
    assert_eq!(forward.clients(), 1);
    let finished = pool.run(&scene.route(), command("exit 0"), never()).await.unwrap();
    assert_eq!((finished.end, scene.server.logins()), (End::Exited(0), 2));
    drop(forward);
    until("the client is cut off", || flood.is_finished()).await;
    until("its connection ends", || scene.server.open_connections() == 1).await;
}

#[tokio::test]
async fn a_dropped_forward_closes_its_port_and_its_clients() {
    let scene = Scene::start().await;
    let pool = pool();
    let forward =
        open(&pool, &scene, ForwardRequest::Local { listen: 0, target: target(echo().await) })
            .await;
    let mut client = connect(forward.port()).await;
    client.write_all(b"x").await.unwrap();
    client.read_exact(&mut [0]).await.unwrap();
    let port = forward.port();
    drop(forward);
    assert!(!matches!(client.read(&mut [0]).await, Ok(1..)));
    until("the connection ends", || pool.connections() == 0).await;
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
}

/// Speaks SOCKS5 and returns the code of the answer.
async fn socks(port: u16, name: &str, target: u16) -> (TcpStream, u8) {
    let mut socket = connect(port).await;
    socket.write_all(&[5, 2, 2, 0]).await.unwrap();
    let mut method = [0; 2];
    socket.read_exact(&mut method).await.unwrap();
    assert_eq!(method, [5, 0]);
    let mut request = vec![5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
    request.extend(name.as_bytes());
    request.extend(target.to_be_bytes());
    socket.write_all(&request).await.unwrap();
    let mut answer = [0; 10];
    let code = match socket.read_exact(&mut answer).await {
        Ok(_) => answer[1],
        Err(_) => 0xff,
    };
    (socket, code)
}

#[tokio::test]
async fn a_dynamic_port_asks_about_each_target() {
    let scene = Scene::start().await;
    let echo = echo().await;
    let allow = Arc::new(move |target: &Target| target.host != "forbidden.example");
    let pool = pool();
    let forward = open(&pool, &scene, ForwardRequest::Dynamic { listen: 0, allow }).await;
    let (mut socket, code) = socks(forward.port(), "localhost", echo).await;
    assert_eq!(code, 0);
    assert_eq!(exchange(&mut socket, b"through".to_vec()).await, b"through");
    assert_eq!(socks(forward.port(), "forbidden.example", echo).await.1, 2);
    assert_eq!(socks(forward.port(), "localhost", 1).await.1, 5);
    assert_eq!(socks(forward.port(), "a b", echo).await.1, 8);
    // Another protocol is closed.
    let mut socket = connect(forward.port()).await;
    assert!(exchange(&mut socket, b"GET / HTTP/1.0\r\n\r\n".to_vec()).await.is_empty());
}

#[tokio::test]
async fn a_remote_port_leads_here() {
    let scene = Scene::start().await;
    let bind = "localhost".to_owned();
    let request =
        ForwardRequest::Remote { bind: bind.clone(), port: 0, target: target(echo().await) };
    let pool = pool();
    let forward = open(&pool, &scene, request).await;
    assert_eq!(exchange(&mut connect(forward.port()).await, b"back".to_vec()).await, b"back");
    let taken = ForwardRequest::Remote { bind, port: forward.port(), target: target(1) };
    let refused = pool.forward(&scene.route(), taken).await.err().unwrap();
    assert!(matches!(refused, ForwardError::Refused { .. }), "{refused}");
    until("no connection is left of it", || scene.server.open_connections() == 1).await;
}

#[tokio::test]
async fn a_taken_port_here_is_an_error() {
    let scene = Scene::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listen = listener.local_addr().unwrap().port();
    let refused =
        pool().forward(&scene.route(), ForwardRequest::Local { listen, target: target(1) }).await;
    assert!(matches!(refused.err().unwrap(), ForwardError::Listen { .. }));
    until("no connection is left", || scene.server.open_connections() == 0).await;
}

#[tokio::test]
async fn a_forward_sees_the_end_of_its_connection_and_counts_in_the_pool() {
    let scene = Scene::start().await;
    let pool = Pool::new(Limits { connections_max: 1, ..limits() });
    let forward = open(&pool, &scene, ForwardRequest::Local { listen: 0, target: target(1) }).await;
    let busy = pool.probe(&scene.route()).await.unwrap_err();
    assert_eq!(busy.cause, ConnectFailure::Busy { limit: 1 });
    pool.retain(|_| false).await;
    forward.ended().await;
    assert_eq!(pool.connections(), 0);
}
