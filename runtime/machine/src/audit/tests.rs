//! Several writers of one file, rotations, and files that end in the middle of a line.

use std::fs::{self, OpenOptions};
use std::thread;

use relay_engine::audit_record::OutputHash;

use super::*;

fn record(tool: &str) -> AuditRecord<'static> {
    let (output_sha256, output_len) = OutputHash::default().finish();
    AuditRecord {
        tool: tool.to_owned(),
        output_sha256,
        output_len,
        principal: "p",
        ..AuditRecord::default()
    }
}

/// Returns the numbers of the records of a file, each of which follows the one before.
fn numbers(path: &Path, mut last: Link) -> Vec<u64> {
    let text = fs::read_to_string(path).expect("the file");
    let mut numbers = Vec::new();
    for line in text.lines() {
        let Ok(read) = audit_chain::read(line) else { continue };
        assert_eq!(read.prev, last.hash, "{line}");
        last = read.link;
        numbers.push(last.seq);
    }
    numbers
}

#[test]
fn many_writers_of_one_file_write_one_chain() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let mut file = AuditFile::open(&path).expect("the file");
                    file.append(&record("one")).expect("a record");
                    file.append(&record("two")).expect("a record");
                }
            });
        }
    });
    assert_eq!(numbers(&path, START), (1..=200).collect::<Vec<_>>());
}

#[test]
fn a_part_of_a_line_and_a_long_line_break_no_chain() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let mut file = AuditFile::open(&path).expect("the file");
    file.append(&record("one")).expect("a record");
    let mut raw = OpenOptions::new().append(true).open(&path).expect("the file");
    raw.write_all(b"{\"ts\":\"half of a rec").expect("a part");
    file.append(&record("two")).expect("a record");
    raw.write_all(&vec![b'x'; 100_000]).expect("a long line");
    AuditFile::open(&path).expect("the file").append(&record("three")).expect("a record");
    assert_eq!(numbers(&path, START), [1, 2, 3]);
    assert_eq!(fs::read_to_string(&path).expect("the file").lines().count(), 5);
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the file")
}

/// Asserts that files are one chain of all numbers.
fn is_one_chain(files: &[PathBuf], records: u64) {
    let text: String = files.iter().map(|path| read(path)).collect();
    let mut last = START;
    for line in text.lines() {
        let next = audit_chain::read(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!((next.link.seq, next.prev), (last.seq + 1, last.hash), "{line}");
        last = next.link;
    }
    assert_eq!(last.seq, records);
}

#[test]
fn a_new_file_goes_on_with_the_chain_of_the_rotated_one() {
    for (name, pack) in [("audit.jsonl.1", false), ("audit.jsonl-20270131.gz", true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        AuditFile::open(&path).expect("the file").append(&record("one")).expect("a record");
        let first = read(&path);
        let rotated = folder.path().join(name);
        if pack {
            let file = File::create(&rotated).expect("a file");
            let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
            gzip.write_all(first.as_bytes()).expect("a text");
            gzip.finish().expect("a file");
            fs::remove_file(&path).expect("a rotation");
        } else {
            fs::rename(&path, &rotated).expect("a rotation");
        }
        AuditFile::open(&path).expect("the file").append(&record("two")).expect("a record");
        let link = audit_chain::read(first.trim_end()).expect("a record").link;
        assert_eq!(numbers(&path, link), [2], "{name}");
    }
}

/// Tells writers to end when it is dropped.
struct Stop<'s>(&'s std::sync::atomic::AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn writers_go_on_with_one_chain_while_the_file_is_rotated() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let rotated = |number: u32| folder.path().join(format!("audit.jsonl.{number}"));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (records, rotations) = thread::scope(|scope| {
        let write = |is_fresh: bool| {
            let (path, stop) = (&path, &stop);
            move || {
                let mut file = AuditFile::open(path).expect("the file");
                let mut written = 0;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    if is_fresh {
                        file = AuditFile::open(path).expect("the file");
                    }
                    // On a busy machine the others may hold the file for a second.
                    written += u64::from(file.append(&record("one")).is_ok());
                }
                written
            }
        };
        let writers: Vec<_> =
            [false, false, true].into_iter().map(|it| scope.spawn(write(it))).collect();
        // Writers end with the test, however it ends.
        let _stopped = Stop(&stop);
        let mut rotations = 0;
        for _ in 0..20 {
            thread::sleep(std::time::Duration::from_millis(15));
            // The writers may not have made the next file yet.
            if !path.exists() {
                continue;
            }
            for number in (1..=rotations).rev() {
                fs::rename(rotated(number), rotated(number + 1)).expect("a rotation");
            }
            fs::rename(&path, rotated(1)).expect("a rotation");
            rotations += 1;
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let written: u64 = writers.into_iter().map(|it| it.join().expect("a writer")).sum();
        (written, rotations)
    });
    let mut files: Vec<_> = (1..=rotations).rev().map(rotated).collect();
    files.extend(path.exists().then_some(path));
    is_one_chain(&files, records);
}

#[test]
fn an_emptied_file_goes_on_with_the_chain_of_its_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let copy = folder.path().join("audit.jsonl.1");
    let (mut one, mut two) =
        (AuditFile::open(&path).expect("the file"), AuditFile::open(&path).expect("the file"));
    one.append(&record("one")).expect("a record");
    two.append(&record("two")).expect("a record");
    fs::copy(&path, &copy).expect("a copy");
    OpenOptions::new().write(true).truncate(true).open(&path).expect("an empty file");
    // The end of the chain that this one knows is an earlier one.
    one.append(&record("three")).expect("a record");
    two.append(&record("four")).expect("a record");
    is_one_chain(&[copy.clone(), path.clone()], 4);
    // Without a copy, a running program knows the end.
    fs::remove_file(&copy).expect("a copy");
    OpenOptions::new().write(true).truncate(true).open(&path).expect("an empty file");
    two.append(&record("five")).expect("a record");
    assert!(read(&path).contains("\"seq\":5,"));
}

#[test]
fn a_batch_is_whole_and_follows_the_record_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let mut file = AuditFile::open(&path).expect("the file");
    file.append_all(["{\"a\":1}", "{\"a\":2}"]).expect("two records");
    let link =
        file.append_after(|last| Ok(format!("{{\"after\":{}}}", last.seq))).expect("a record");
    assert_eq!((link.seq, file.last), (3, Some(link)));
    assert!(read(&path).contains("{\"after\":2,\"seq\":3,"));
    is_one_chain(&[path], 3);
    assert_eq!(file.take_unflushed().len(), 1);
    assert!(file.take_unflushed().is_empty());
}

#[test]
fn a_writer_that_holds_the_file_is_waited_for_and_not_for_ever() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let mut file = AuditFile::open(&path).expect("the file");
    let other = Arc::new(File::open(&path).expect("the file"));
    let held = Locked::of(&other).expect("the lock");
    let error = file.append(&record("one")).expect_err("it is held");
    assert_eq!(error.to_string(), "another program held it for a second");
    drop(held);
    file.append(&record("one")).expect("a record");
    assert_eq!(numbers(&path, START), [1]);
}
