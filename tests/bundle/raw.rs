//! A second writer of format 1, made from its description instead of the encoder, that writes
//! impossible bundles: a bundle taken apart, edited, and put together and signed again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use relay_bundle::envelope::{
    Envelope, PAYLOAD_TYPE, PREDICATE_TYPE, Predicate, STATEMENT_TYPE, Statement, Subject,
    SubjectDigest,
};
use relay_bundle::{Digest, Kind};

use super::sample;

const PAGE_BYTES: usize = 4096;
const ALIGN: usize = 64;

/// A bundle taken apart. What is `None` is worked out from the rest.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub(crate) magic: [u8; 16],
    pub(crate) major: u16,
    pub(crate) minor: u16,
    pub(crate) section_count: Option<u32>,
    pub(crate) content_length: Option<u64>,
    pub(crate) epoch: u64,
    pub(crate) features: u64,
    pub(crate) reserved: [u8; 16],
    pub(crate) rows: Vec<Row>,
    /// Bytes after the last section that the content's length counts.
    pub(crate) trailing: Vec<u8>,
    /// Bytes that are overwritten before the bundle is signed.
    pub(crate) patches: Vec<(usize, u8)>,
}

/// A section with its row of the table.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) kind: u32,
    pub(crate) flags: u32,
    pub(crate) offset: Option<u64>,
    pub(crate) length: Option<u64>,
    pub(crate) digest: Option<Digest>,
    pub(crate) reserved: u64,
    pub(crate) data: Vec<u8>,
}

impl Raw {
    /// Takes a good bundle apart.
    pub(crate) fn of(bundle: &[u8]) -> Self {
        let count = u32::from_le_bytes(array(bundle, 20)) as usize;
        let row = |index| {
            let at = 64 + 64 * index;
            let offset = u64::from_le_bytes(array(bundle, at + 8)) as usize;
            let length = u64::from_le_bytes(array(bundle, at + 16)) as usize;
            Row {
                kind: u32::from_le_bytes(array(bundle, at)),
                flags: u32::from_le_bytes(array(bundle, at + 4)),
                offset: None,
                length: None,
                digest: None,
                reserved: 0,
                data: bundle[offset..offset + length].to_vec(),
            }
        };
        Self {
            magic: array(bundle, 0),
            major: u16::from_le_bytes(array(bundle, 16)),
            minor: u16::from_le_bytes(array(bundle, 18)),
            section_count: None,
            content_length: None,
            epoch: u64::from_le_bytes(array(bundle, 32)),
            features: u64::from_le_bytes(array(bundle, 40)),
            reserved: array(bundle, 48),
            rows: (0..count).map(row).collect(),
            trailing: Vec::new(),
            patches: Vec::new(),
        }
    }

    /// The section of this kind.
    pub(crate) fn row(&mut self, kind: Kind) -> &mut Row {
        let row = self.rows.iter_mut().find(|row| row.kind == kind.number());
        row.unwrap_or_else(|| panic!("the sample has a {} section", kind.name()))
    }

    /// Puts it together: all but the envelope.
    pub(crate) fn content(&self) -> Vec<u8> {
        let front = 64 + 64 * self.rows.len();
        let mut file = vec![0; front];
        let mut table = Vec::new();
        for Row { kind, flags, offset, length, digest, reserved, data } in &self.rows {
            let begin = file.len() as u64;
            let mut level = data.clone();
            pad_with(&mut file, &level);
            while level.len() > PAGE_BYTES {
                level = level.chunks(PAGE_BYTES).flat_map(|page| Digest::of(page).0).collect();
                pad_with(&mut file, &level);
            }
            table.extend(kind.to_le_bytes());
            table.extend(flags.to_le_bytes());
            table.extend(offset.unwrap_or(begin).to_le_bytes());
            table.extend(length.unwrap_or(data.len() as u64).to_le_bytes());
            table.extend(digest.unwrap_or_else(|| Digest::of(&level)).0);
            table.extend(reserved.to_le_bytes());
        }
        file.extend(&self.trailing);
        let count = self.section_count.unwrap_or(self.rows.len() as u32);
        let length = self.content_length.unwrap_or(file.len() as u64);
        let mut header = self.magic.to_vec();
        header.extend(self.major.to_le_bytes());
        header.extend(self.minor.to_le_bytes());
        header.extend(count.to_le_bytes());
        header.extend(length.to_le_bytes());
        header.extend(self.epoch.to_le_bytes());
        header.extend(self.features.to_le_bytes());
        header.extend(self.reserved);
        file[..64].copy_from_slice(&header);
        file[64..front].copy_from_slice(&table);
        for (at, byte) in &self.patches {
            file[*at] = *byte;
        }
        file
    }

    /// Puts it together and signs it with key 1.
    pub(crate) fn sealed(&self) -> Vec<u8> {
        seal(self.content())
    }
}

/// Signs the bytes of `content` with key 1: the digest is taken of what its header calls the
/// front, as far as there is any.
pub(crate) fn seal(content: Vec<u8>) -> Vec<u8> {
    let count = u32::from_le_bytes(array(&content, 20)) as usize;
    let front = content.len().min(64 + 64 * count);
    let envelope = signed(&statement(Digest::of(&content[..front])), 1);
    with_envelope(content, &envelope.to_json().expect("an envelope is JSON"))
}

/// The statement about a bundle with this digest.
pub(crate) fn statement(digest: Digest) -> Statement {
    Statement {
        statement_type: STATEMENT_TYPE.into(),
        subject: vec![Subject {
            name: "sample".into(),
            digest: SubjectDigest { sha256: digest.hex() },
        }],
        predicate_type: PREDICATE_TYPE.into(),
        predicate: Predicate {
            format: "1.0".into(),
            project: "sample".into(),
            version: None,
            epoch: 0,
            compiler: "0.1.0".into(),
        },
    }
}

/// An envelope around a statement, signed by one key.
pub(crate) fn signed(statement: &Statement, key: u8) -> Envelope {
    let json = serde_json::to_vec(statement).expect("a statement is JSON");
    let mut envelope = Envelope {
        payload_type: PAYLOAD_TYPE.into(),
        payload: STANDARD.encode(json),
        signatures: Vec::new(),
    };
    envelope.sign(&sample::key(key)).expect("the payload is base64");
    envelope
}

/// Appends an envelope's length and bytes.
pub(crate) fn with_envelope(mut content: Vec<u8>, envelope: &[u8]) -> Vec<u8> {
    content.extend((envelope.len() as u64).to_le_bytes());
    content.extend(envelope);
    content
}

fn pad_with(file: &mut Vec<u8>, bytes: &[u8]) {
    file.extend(bytes);
    file.resize(file.len().next_multiple_of(ALIGN), 0);
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("the range has N bytes")
}
