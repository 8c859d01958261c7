//! A function over arbitrary bytes that must hold for every input; the fuzz target calls it with
//! what a fuzzer makes up. And handles made by hand, beyond those that `seal` makes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use relay_bundle::Digest;
use relay_engine::handle::{self, Binding, Key};

pub(crate) const KEY_ID: u8 = 7;
pub(crate) const SECRET: [u8; 32] = [0x5a; 32];
/// How many prompts the bundle has.
pub(crate) const PROMPTS: usize = 300;

pub(crate) fn key() -> Key {
    Key::new(KEY_ID, SECRET)
}

pub(crate) fn binding() -> Binding<'static> {
    Binding {
        principal: "alice@example.com",
        issuer: Some("https://login.example.com"),
        tenant: Some("acme"),
        bundle: Digest::of(b"a bundle"),
        audience: None,
        prompts: PROMPTS,
    }
}

/// Opens what the bytes say: a text, or a handle with a good tag but these bytes in it, since
/// fuzzers miss the tag. A handle that opens equals one of `seal`.
pub(crate) fn handle(bytes: &[u8]) {
    let text = match bytes {
        [0, version, e0, e1, e2, e3, set @ ..] => sealed(*version, [*e0, *e1, *e2, *e3], set),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    let Ok(sent) = handle::open(&[key()], &binding(), 0, &text) else { return };
    let opened = URL_SAFE_NO_PAD.decode(&text).expect("it was read");
    let [_, _, expiry @ ..] = opened.first_chunk::<6>().expect("it was read");
    let again = handle::seal(&key(), &binding(), u32::from_be_bytes(*expiry), &sent);
    assert_eq!(again, text);
}

/// Makes a handle for [`binding`] of a version byte, an expiry and a sent set.
pub(crate) fn sealed(version: u8, expires_min: [u8; 4], set: &[u8]) -> String {
    let Binding { principal, issuer, tenant, bundle: Digest(bundle), audience: _, prompts } =
        binding();
    let [issuer, tenant] = [issuer, tenant].map(|part| part.expect("it has one").as_bytes());
    let caller = [principal.as_bytes(), &[1], issuer, &[1], tenant];
    let [c0, c1, ..] = hmac(&[&[b"relay briefing caller".as_slice()][..], &caller].concat());
    let mut bytes = vec![version, KEY_ID];
    bytes.extend(expires_min);
    bytes.extend([bundle[0], bundle[1], c0, c1]);
    bytes.extend(set);
    let head = [b"relay briefing handle".as_slice(), &bytes];
    let prompts = (prompts as u64).to_be_bytes();
    let tag = hmac(&[&head[..], &caller, &[&bundle, &prompts]].concat());
    bytes.extend(&tag[..16]);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// HMAC-SHA-256 of the fields, each after its length, by RFC 2104.
fn hmac(fields: &[&[u8]]) -> [u8; 32] {
    let message: Vec<u8> = fields
        .iter()
        .flat_map(|field| [&(field.len() as u64).to_be_bytes(), *field].concat())
        .collect();
    let padded = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(SECRET).for_each(|(byte, secret)| *byte ^= secret);
        block
    };
    let Digest(inner) = Digest::of_parts(&[&padded(0x36), &message]);
    let Digest(outer) = Digest::of_parts(&[&padded(0x5c), &inner]);
    outer
}

/// Good inputs to begin with.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let expires = [1, 0xb9, 0x9e, 0xc0];
    let texts = [sealed(1, expires, &[]), sealed(1, expires, &[0b101]), sealed(0x81, expires, &[])];
    let set = |form: u8, set: &[u8]| [&[0, form], &expires[..], set].concat();
    let sets =
        [set(1, &[]), set(1, &[0xff; 37]), set(0x81, &[200, 1]), set(0x81, &[100, 0, 200, 0])];
    texts.map(String::into_bytes).into_iter().chain(sets).collect()
}
