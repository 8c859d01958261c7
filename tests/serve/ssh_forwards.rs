//! Forwards: ports that lead through a host, and the rules about their targets.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS};
use super::house::{self, House};
use super::server::wait_until;
use super::ssh::{house_of, house_with, web};
use super::ssh_server::Host;
use super::tool_reference::{AS_OPERATOR, operator, said};
use super::web::{Request, Web};

/// A service on the loopback interface that sends back what it gets; returns its port. It lives as long as
/// its test.
fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            thread::spawn(move || std::io::copy(&mut socket.try_clone().unwrap(), &mut socket));
        }
    });
    port
}

/// Sends a word to a port of the loopback interface, and returns whether it comes back.
fn echoes(port: u16) -> bool {
    let Ok(socket) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    echoed(socket)
}

fn echoed(mut socket: TcpStream) -> bool {
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut word = [0; 4];
    let sent = socket.write_all(b"word");
    sent.is_ok() && socket.read_exact(&mut word).is_ok() && word == *b"word"
}

fn forward(agent: &mut Agent, spec: &str) -> String {
    said(agent, "ssh_forward", json!({ "host": "web", "spec": spec }))
}

/// Opens a forward, and returns its id and its port.
fn open(agent: &mut Agent, spec: &str) -> (String, u16) {
    let answer = forward(agent, spec);
    let kind = &spec[..1];
    let middle = format!(" active: {kind} {spec} listening on port ");
    assert!(answer.starts_with("forward fwd-") && answer.contains(&middle), "{answer}");
    let id = answer.split(' ').nth(1).unwrap().to_owned();
    (id, answer.rsplit(' ').next().unwrap().parse().unwrap())
}

fn list(agent: &mut Agent) -> Value {
    serde_json::from_str(&said(agent, "ssh_forward_list", json!({}))).expect("JSON")
}

fn close(agent: &mut Agent, id: &str) -> String {
    said(agent, "ssh_forward_close", json!({ "forward_id": id }))
}

/// Asks a SOCKS5 proxy for a target by name; returns its answer's code, and the connection.
fn socks(port: u16, host: &str, target: u16) -> (u8, TcpStream) {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.write_all(&[5, 1, 0]).unwrap();
    let mut chosen = [0; 2];
    socket.read_exact(&mut chosen).unwrap();
    assert_eq!(chosen, [5, 0]);
    let mut request = vec![5, 1, 0, 3, u8::try_from(host.len()).unwrap()];
    request.extend(host.as_bytes());
    request.extend(target.to_be_bytes());
    socket.write_all(&request).unwrap();
    let mut answer = [0; 10];
    socket.read_exact(&mut answer).unwrap();
    (answer[1], socket)
}

const CONNECTED: u8 = 0;
const NOT_ALLOWED: u8 = 2;

#[test]
fn each_kind_of_forward_carries_bytes_until_it_is_closed() {
    let (host, target) = (Host::start(), echo());
    for protocol in PROTOCOLS {
        let house = house_with(&host, "");
        let mut agent = Agent::with(&house, protocol, AS_OPERATOR);
        assert_eq!(list(&mut agent), json!([]));
        let (local, port) = open(&mut agent, &format!("L:0:localhost:{target}"));
        assert!(echoes(port));
        let (remote, far) = open(&mut agent, &format!("R:0:127.0.0.1:{target}"));
        assert!(echoes(far));
        let (dynamic, proxy) = open(&mut agent, "D:0");
        let (code, socket) = socks(proxy, "localhost", target);
        assert!(code == CONNECTED && echoed(socket));
        assert_eq!(host.open_connections(), 3, "each has a connection of its own");
        let listed = list(&mut agent);
        let shown = listed.as_array().unwrap().iter().find(|it| it["id"] == local).unwrap();
        assert_eq!(
            (&shown["kind"], &shown["host"], &shown["port"]),
            (&json!("L"), &json!("web"), &json!(port))
        );
        assert_eq!(
            (&shown["served"], &shown["spec"]),
            (&json!(1), &json!(format!("L:0:localhost:{target}")))
        );
        for id in [&local, &remote, &dynamic] {
            assert_eq!(close(&mut agent, id), format!("closed forward {id}"));
            let again = close(&mut agent, id);
            assert!(again.starts_with(&format!("[ERROR: unknown forward: {id}")), "{again}");
        }
        assert_eq!(list(&mut agent), json!([]));
        wait_until(|| host.open_connections() == 0);
        wait_until(|| !echoes(port) && !echoes(proxy));
    }
}

#[test]
fn a_wrong_forward_says_its_form() {
    let (host, target) = (Host::start(), echo());
    let house = house_with(&host, "");
    let mut agent = operator(&house);
    for spec in [
        "",
        "L",
        "L:1",
        "X:1:db:2",
        "L:0:db",
        "L:0:db:0",
        "L:0:-oX:2",
        "D:1:db:2",
        "L:0:a b:2",
        "L:*:0:db:2",
    ] {
        let answer = forward(&mut agent, spec);
        assert!(answer.starts_with("[ERROR: `spec` is L:PORT:HOST:PORT"), "{spec}: {answer}");
    }
    let taken = forward(&mut agent, &format!("L:{target}:localhost:1"));
    assert!(taken.starts_with(&format!("[ERROR: port {target} cannot be opened here")), "{taken}");
    let taken = forward(&mut agent, &format!("R:{target}:localhost:1"));
    assert!(taken.starts_with(&format!("[ERROR: the host does not open port {target}")), "{taken}");
    assert_eq!(list(&mut agent), json!([]));
}

/// Each way of writing a denied target, by a forward and through the proxy of one.
#[test]
fn a_denied_target_is_out_of_reach_by_each_spelling() {
    let (host, target) = (Host::start(), echo());
    let hosts = format!(
        "hosts outside=permit {{ groups edge; {}; host db address=\"10.1.2.3\" }}",
        web(&host, &host.pin())
    );
    let spellings = [
        "db",
        "DB",
        "db.",
        "10.1.2.3",
        "10.1.2.3.",
        "10.1.515",
        "10.66051",
        "167838211",
        "0xa010203",
        "0x0a.1.2.3",
        "012.1.2.3",
        "::ffff:10.1.2.3",
        "::ffff:a01:203",
        "0:0:0:0:0:ffff:0a01:0203",
    ];
    for rule in ["host db", "connects db", "host \"10.1.2.3\"", "connects \"10.1.2.3\""] {
        let house = house_of("open", &hosts, &format!("deny no-db {{ {rule} }}"));
        host.admit(&house);
        let mut agent = operator(&house);
        let (_, proxy) = open(&mut agent, "D:0");
        for spelling in spellings {
            let bracketed =
                if spelling.contains(':') { format!("[{spelling}]") } else { spelling.to_owned() };
            for kind in ["L", "R"] {
                let answer = forward(&mut agent, &format!("{kind}:0:{bracketed}:5432"));
                assert!(answer.starts_with("[DENIED"), "{rule}: {kind} {spelling}: {answer}");
            }
            assert_eq!(socks(proxy, spelling, 5432).0, NOT_ALLOWED, "{rule}: {spelling}");
        }
        // Names that a host might read otherwise than rules do.
        for name in ["a:b", "10.1.2.3:22", "::ffff:10.1.2.3%1", "[db]"] {
            let mut socket = TcpStream::connect(("127.0.0.1", proxy)).unwrap();
            socket.write_all(&[5, 1, 0, 5, 1, 0, 3, u8::try_from(name.len()).unwrap()]).unwrap();
            socket.write_all(name.as_bytes()).unwrap();
            socket.write_all(&5432_u16.to_be_bytes()).unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            let mut answer = [0; 4];
            socket.read_exact(&mut answer).unwrap();
            assert_ne!(answer[3], CONNECTED, "{name}");
        }
        let (code, socket) = socks(proxy, "localhost", target);
        assert!(code == CONNECTED && echoed(socket), "the host itself is open");
        let records = house.read("audit.jsonl");
        let of = |action: &str| {
            let is = |line: &&str| line.contains("\"forward:target\"") && line.contains(action);
            records.lines().filter(is).count()
        };
        assert_eq!((of("\"served\""), of("\"refused\"") > spellings.len()), (1, true), "{records}");
    }
}

/// A host outside the project is out of reach for a forward too.
#[test]
fn a_target_outside_the_project_is_refused() {
    let (host, target) = (Host::start(), echo());
    let house =
        house_of("open", &format!("hosts {{ groups edge; {} }}", web(&host, &host.pin())), "");
    host.admit(&house);
    let mut agent = operator(&house);
    let (_, proxy) = open(&mut agent, "D:0");
    for outside in ["db", "10.1.2.3", "0.0.0.0", "[fe80::1]", "169.254.169.254"] {
        for kind in ["L", "R"] {
            let answer = forward(&mut agent, &format!("{kind}:0:{outside}:80"));
            assert!(answer.starts_with("[DENIED"), "{kind} {outside}: {answer}");
        }
        assert_eq!(socks(proxy, outside.trim_matches(['[', ']']), 80).0, NOT_ALLOWED, "{outside}");
    }
    let (code, socket) = socks(proxy, "localhost", target);
    assert!(code == CONNECTED && echoed(socket));
}

#[test]
fn a_guarded_forward_needs_a_rule_for_its_target() {
    let (host, target) = (Host::start(), echo());
    let hosts = format!("hosts outside=permit {{ groups edge; {} }}", web(&host, &host.pin()));
    let rule = "allow tunnels { tool ssh_forward; host web }";
    let house = house_of("guarded", &hosts, rule);
    host.admit(&house);
    let mut agent = operator(&house);
    let (_, port) = open(&mut agent, &format!("L:0:localhost:{target}"));
    assert!(echoes(port));
    let answer = forward(&mut agent, "L:0:db:80");
    assert!(answer.starts_with("[DENIED"), "{answer}");
    let (_, proxy) = open(&mut agent, "D:0");
    assert_eq!(socks(proxy, "db", 80).0, NOT_ALLOWED);
    let (code, socket) = socks(proxy, "localhost", target);
    assert!(code == CONNECTED && echoed(socket));
}

#[test]
fn forwards_are_limited_in_all_and_for_each_caller() {
    let (host, target) = (Host::start(), echo());
    let house = house_with(&host, "limits forwards=2");
    let mut agent = operator(&house);
    let spec = format!("L:0:localhost:{target}");
    let (first, _) = open(&mut agent, &spec);
    open(&mut agent, &spec);
    let answer = forward(&mut agent, &spec);
    assert!(answer.starts_with("[ERROR: the limit of 2 forwards of this server"), "{answer}");
    close(&mut agent, &first);
    open(&mut agent, &spec);
    let house = house_with(&host, "");
    let settings = house.read("server.toml");
    house.write("server.toml", format!("{settings}\n[ssh]\nprincipal-forwards-max = 1\n"));
    let mut agent = operator(&house);
    open(&mut agent, &spec);
    let answer = forward(&mut agent, &spec);
    assert!(answer.starts_with("[ERROR: the limit of 1 of your forwards"), "{answer}");
}

#[test]
fn a_new_bundle_and_a_lost_host_end_forwards() {
    let (host, target) = (Host::start(), echo());
    let project = |epoch: u32, rule: &str| {
        house::bundle_of(&format!(
            "project fleet epoch={epoch}\ntools {{ ssh; diagnostics }}\n\
             roles {{ role operator tier=3 }}\nusers {{ user op role=operator }}\n\
             hosts {{ groups edge; {} }}\npolicy open {{ {rule} }}\n",
            web(&host, &host.pin())
        ))
    };
    let house = House::of(&project(1, ""));
    host.admit(&house);
    let mut agent = operator(&house);
    let (_, port) = open(&mut agent, &format!("L:0:localhost:{target}"));
    let (_, proxy) = open(&mut agent, "D:0");
    assert!(echoes(port));
    let ended = |count: usize| {
        wait_until(|| house.read("audit.jsonl").matches("\"forward:ended\"").count() == count);
    };
    // The proxy stays, and asks the new rules.
    let rule = "deny no-local { tool ssh_forward; connects localhost }";
    house.replace(&project(2, rule));
    ended(1);
    wait_until(|| !echoes(port));
    assert_eq!(socks(proxy, "localhost", target).0, NOT_ALLOWED);
    drop(host);
    ended(2);
    assert_eq!(list(&mut agent), json!([]));
}

/// Metrics count by where a host is described, and have no text of a caller.
#[test]
fn connections_forwards_and_transfers_are_counted() {
    let (host, target) = (Host::start(), echo());
    let house = house_with(&host, "");
    house.write("file", "twelve bytes");
    let web = Web::start(&house, AS_OPERATOR);
    let call = |tool: &str, arguments: Value| {
        web.send(&Request::modern("tools/call", json!({ "name": tool, "arguments": arguments })))
    };
    let spec = format!("L:0:localhost:{target}");
    call("ssh_forward", json!({ "host": "web", "spec": spec }));
    let [from, to] = ["file", "there"].map(|name| house.path(name).display().to_string());
    let answer =
        call("ssh_upload", json!({ "host": "web", "local_path": from, "remote_path": to }));
    assert!(answer.body.contains("(12 bytes)"), "{answer:?}");
    call("ssh_download", json!({ "host": "web", "local_path": from, "remote_path": "/missing" }));
    let page = web.get("/metrics").body;
    for line in [
        "relay_ssh_connections{source=\"project\"} 2",
        "relay_ssh_connections{source=\"outside\"} 0",
        "relay_ssh_forwards{source=\"project\"} 1",
        "relay_ssh_transfers_total{source=\"project\",result=\"uploaded\"} 1",
        "relay_ssh_transfers_total{source=\"project\",result=\"failed\"} 1",
        "relay_ssh_transfers_total{source=\"project\",result=\"downloaded\"} 0",
        "relay_ssh_transferred_bytes_total{source=\"project\",result=\"uploaded\"} 12",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}: {page}");
    }
}
