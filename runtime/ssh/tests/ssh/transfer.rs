//! Files to and from a host.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use relay_ssh::{End, Limits, Pool, Route, TransferError, TransferOptions, Transferred};

use crate::server::Relay;
use crate::support::{Scene, command, impatient, limits, never, pool, until};

fn options() -> TransferOptions {
    let timeout = Duration::from_secs(60);
    TransferOptions { recursive: true, entries_max: 1000, bytes_max: 100_000_000, timeout }
}

/// Two folders: one stands for the host's.
struct Ground {
    scene: Scene,
    near: PathBuf,
    far: PathBuf,
}

impl Ground {
    async fn start() -> Self {
        Self::on(Scene::start().await)
    }

    fn on(scene: Scene) -> Self {
        let (near, far) = (scene.folder.path().join("near"), scene.folder.path().join("far"));
        fs::create_dir(&near).unwrap();
        fs::create_dir(&far).unwrap();
        Self { scene, near, far }
    }

    async fn up(&self, from: &Path, to: &Path) -> Result<Transferred, TransferError> {
        let paths = (from, to.to_str().unwrap());
        pool().upload(&self.scene.route(), paths, &options(), never()).await
    }

    async fn down(&self, from: &Path, to: &Path) -> Result<Transferred, TransferError> {
        let paths = (from.to_str().unwrap(), to);
        pool().download(&self.scene.route(), paths, &options(), never()).await
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn content(length: u32) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

#[tokio::test]
async fn a_file_goes_both_ways_with_its_mode_and_time() {
    let ground = Ground::start().await;
    for length in [0, 1, 32 * 1024, 3_000_001] {
        let source = ground.near.join("a");
        fs::write(&source, content(length)).unwrap();
        fs::set_permissions(&source, fs::Permissions::from_mode(0o751)).unwrap();
        let file = fs::File::options().write(true).open(&source).unwrap();
        let time = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        file.set_times(fs::FileTimes::new().set_modified(time)).unwrap();
        let (copy, back) = (ground.far.join("b"), ground.near.join("c"));
        let up = ground.up(&source, &copy).await.unwrap();
        assert_eq!((up.files, up.folders, up.bytes), (1, 0, length.into()));
        let down = ground.down(&copy, &back).await.unwrap();
        assert_eq!(down.bytes, u64::from(length));
        for path in [&copy, &back] {
            assert!(fs::read(path).unwrap() == content(length));
            let found = fs::metadata(path).unwrap();
            assert_eq!((found.mode() & 0o7777, found.mtime()), (0o751, 1_000_000_000));
        }
    }
    assert_eq!(
        (names(&ground.far), names(&ground.near)),
        (vec!["b".to_owned()], vec!["a".to_owned(), "c".to_owned()])
    );
}

#[tokio::test]
async fn folders_go_whole_and_links_are_left_out() {
    let ground = Ground::start().await;
    let tree = ground.near.join("tree");
    fs::create_dir_all(tree.join("deep/er")).unwrap();
    fs::write(tree.join("deep/er/file"), "x").unwrap();
    fs::write(tree.join("with space\nand line"), "y").unwrap();
    symlink("/etc/passwd", tree.join("link")).unwrap();
    symlink("deep", tree.join("folder-link")).unwrap();
    fs::set_permissions(tree.join("deep/er"), fs::Permissions::from_mode(0o555)).unwrap();
    let copy = ground.far.join("copy");
    let up = ground.up(&tree, &copy).await.unwrap();
    assert_eq!((up.files, up.folders, up.left_out_count), (2, 3, 2));
    assert!(up.left_out[0].ends_with("folder-link"));
    assert_eq!(fs::metadata(copy.join("deep/er")).unwrap().mode() & 0o777, 0o555);
    symlink("/etc/passwd", copy.join("link")).unwrap();
    let back = ground.near.join("back");
    let down = ground.down(&copy, &back).await.unwrap();
    assert_eq!((down.files, down.folders, down.left_out_count), (2, 3, 1));
    assert_eq!(fs::read(back.join("deep/er/file")).unwrap(), b"x");
    assert_eq!(names(&back), ["deep", "with space\nand line"]);
    // Once more, onto what is there. Others than root cannot write into a read-only folder.
    for read_only in [&tree, &copy, &back] {
        fs::set_permissions(read_only.join("deep/er"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    ground.up(&tree, &copy).await.unwrap();
}

#[tokio::test]
async fn a_link_in_the_place_of_a_folder_is_not_followed() {
    let ground = Ground::start().await;
    let tree = ground.near.join("tree");
    fs::create_dir_all(tree.join("sub")).unwrap();
    fs::write(tree.join("sub/file"), "x").unwrap();
    let outside = ground.scene.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let copy = ground.far.join("copy");
    fs::create_dir(&copy).unwrap();
    symlink(&outside, copy.join("sub")).unwrap();
    let refused = ground.up(&tree, &copy).await.unwrap_err();
    assert!(matches!(refused, TransferError::Kind { .. }), "{refused}");
    let back = ground.near.join("back");
    fs::create_dir(&back).unwrap();
    symlink(&outside, back.join("sub")).unwrap();
    fs::remove_file(copy.join("sub")).unwrap();
    fs::create_dir(copy.join("sub")).unwrap();
    fs::write(copy.join("sub/file"), "x").unwrap();
    ground.down(&copy, &back).await.unwrap_err();
    assert!(names(&outside).is_empty());
}

#[tokio::test]
async fn names_that_lead_out_or_are_not_utf8_are_refused() {
    for name in ["../evil", "/evil", "..", "", "caf\u{fffd}"] {
        if name == ".." {
            // Every folder lists it; it is no entry.
            continue;
        }
        let scene = Scene::with(|settings| settings.listed = vec![name.to_owned()]).await;
        let ground = Ground::on(scene);
        let refused = ground.down(&ground.far, &ground.near.join("copy")).await.unwrap_err();
        assert!(matches!(refused, TransferError::Name { .. }), "{refused}");
    }
    let ground = Ground::start().await;
    fs::write(ground.near.join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    let refused = ground.up(&ground.near, &ground.far).await.unwrap_err();
    assert!(matches!(refused, TransferError::Name { .. }), "{refused}");
}

#[tokio::test]
async fn kinds_that_do_not_fit_are_errors() {
    let ground = Ground::start().await;
    fs::write(ground.near.join("file"), "x").unwrap();
    let refused = ground.up(&ground.near.join("file"), &ground.far).await.unwrap_err().to_string();
    assert!(refused.contains("is a folder on the host"), "{refused}");
    fs::write(ground.far.join("file"), "x").unwrap();
    let refused =
        ground.down(&ground.far.join("file"), &ground.near).await.unwrap_err().to_string();
    assert!(refused.contains("is a folder: name the file"), "{refused}");
    let refused = ground
        .down(&ground.far.join("none"), &ground.near.join("x"))
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("does not exist on the host"), "{refused}");
    let refused =
        ground.down(Path::new("/dev/zero"), &ground.near.join("x")).await.unwrap_err().to_string();
    assert!(refused.contains("is not a regular file"), "{refused}");
    let refused =
        ground.up(Path::new("/dev/zero"), &ground.far.join("x")).await.unwrap_err().to_string();
    assert!(refused.contains("not a regular file"), "{refused}");
    let flat = TransferOptions { recursive: false, ..options() };
    let paths = (ground.near.as_path(), "x");
    let refused = pool().upload(&ground.scene.route(), paths, &flat, never()).await.unwrap_err();
    assert!(refused.to_string().contains("not recursive"), "{refused}");
}

#[tokio::test]
async fn a_file_of_size_zero_with_content_is_read() {
    let ground = Ground::start().await;
    let copy = ground.near.join("version");
    ground.down(Path::new("/proc/version"), &copy).await.unwrap();
    assert!(!fs::read(copy).unwrap().is_empty());
}

#[tokio::test]
async fn limits_end_a_transfer_without_a_trace() {
    let ground = Ground::start().await;
    let route = ground.scene.route();
    fs::write(ground.near.join("big"), content(1_000_000)).unwrap();
    fs::write(ground.near.join("second"), "x").unwrap();
    let few = TransferOptions { entries_max: 2, ..options() };
    let small = TransferOptions { bytes_max: 999_999, ..options() };
    let far = ground.far.join("big");
    let paths = (ground.near.as_path(), ground.far.to_str().unwrap());
    let refused = pool().upload(&route, paths, &few, never()).await.unwrap_err();
    assert!(matches!(refused, TransferError::Limit { what: "files and folders", .. }), "{refused}");
    let big = ground.near.join("big");
    let paths = (big.as_path(), far.to_str().unwrap());
    let refused = pool().upload(&route, paths, &small, never()).await.unwrap_err();
    assert!(matches!(refused, TransferError::Limit { what: "bytes", .. }), "{refused}");
    assert!(names(&ground.far).is_empty());
    fs::write(&far, content(1_000_000)).unwrap();
    let copy = ground.near.join("copy");
    let paths = (far.to_str().unwrap(), copy.as_path());
    let refused = pool().download(&route, paths, &small, never()).await.unwrap_err();
    assert!(matches!(refused, TransferError::Limit { what: "bytes", .. }), "{refused}");
    assert_eq!(names(&ground.near), ["big", "second"]);
}

#[tokio::test]
async fn a_host_that_cannot_replace_files_says_so() {
    let scene = Scene::with(|settings| settings.plain_rename = true).await;
    let ground = Ground::on(scene);
    let (source, copy) = (ground.near.join("a"), ground.far.join("b"));
    fs::write(&source, "x").unwrap();
    ground.up(&source, &copy).await.unwrap();
    let refused = ground.up(&source, &copy).await.unwrap_err().to_string();
    assert!(refused.contains("cannot replace files"), "{refused}");
    assert_eq!(names(&ground.far), ["b"]);
}

#[tokio::test]
async fn a_host_without_sftp_says_so() {
    let scene = Scene::with(|settings| settings.no_sftp = true).await;
    let ground = Ground::on(scene);
    let refused = ground.up(&ground.near, &ground.far).await.unwrap_err();
    assert!(matches!(refused, TransferError::NoSftp), "{refused}");
}

#[tokio::test]
async fn a_host_that_does_not_answer_leaves_its_connection_usable() {
    let ground = Ground::start().await;
    let pool = Pool::new(Limits { answer: Duration::from_secs(1), ..limits() });
    fs::write(ground.far.join("stall"), "x").unwrap();
    let (far, near) = (ground.far.join("stall"), ground.near.join("x"));
    let paths = (far.to_str().unwrap(), near.as_path());
    let refused =
        pool.download(&ground.scene.route(), paths, &options(), never()).await.unwrap_err();
    assert!(refused.to_string().contains("no answer in time"), "{refused}");
    let finished = pool.run(&ground.scene.route(), command("exit 0"), never()).await.unwrap();
    assert_eq!((finished.end, ground.scene.server.logins()), (End::Exited(0), 1));
    let closed = || {
        ground.scene.server.counts.closed_channels.load(std::sync::atomic::Ordering::SeqCst) == 1
    };
    until("its channel is closed", closed).await;
}

#[tokio::test]
async fn a_stop_leaves_no_half_file() {
    let ground = Ground::start().await;
    fs::write(ground.near.join("big"), content(50_000_000)).unwrap();
    let (big, far) = (ground.near.join("big"), ground.far.join("big"));
    let stop = until("it begins", || !names(&ground.far).is_empty());
    let paths = (big.as_path(), far.to_str().unwrap());
    let stopped = pool().upload(&ground.scene.route(), paths, &options(), stop).await.unwrap_err();
    match stopped {
        TransferError::Stopped => assert!(names(&ground.far).is_empty()),
        // The host was too slow for the removal, and the error says so.
        left => assert_left(&ground, &left, &TransferError::Stopped),
    }
}

#[tokio::test]
async fn a_file_that_has_its_name_is_not_named_as_left() {
    let ground = Ground::on(Scene::with(|settings| settings.plain_rename = true).await);
    let (near, far) = (ground.near.join("a"), ground.far.join("late"));
    fs::write(&near, "x").unwrap();
    let options = TransferOptions { timeout: Duration::from_secs(1), ..options() };
    let paths = (near.as_path(), far.to_str().unwrap());
    let late = pool().upload(&ground.scene.route(), paths, &options, never()).await.unwrap_err();
    assert!(matches!(late, TransferError::Timeout { .. }), "{late}");
    assert_eq!(names(&ground.far), ["late"]);
}

#[tokio::test]
async fn a_dead_link_in_mid_transfer_is_a_loss() {
    let ground = Ground::start().await;
    let relay = Relay::start(ground.scene.server.address).await;
    let route = Route { hops: vec![ground.scene.hop_at(relay.address)] };
    fs::write(ground.near.join("big"), content(90_000_000)).unwrap();
    let (big, far) = (ground.near.join("big"), ground.far.join("big"));
    let pool = Pool::new(impatient());
    let options = options();
    let sending = pool.upload(&route, (big.as_path(), far.to_str().unwrap()), &options, never());
    let freezing = async {
        until("it begins", || !names(&ground.far).is_empty()).await;
        relay.freeze();
    };
    let (lost, ()) = tokio::join!(sending, freezing);
    assert_left(&ground, &lost.unwrap_err(), &TransferError::Lost);
    assert!(!far.exists());
}

/// Asserts that an error names the temporary file that is left on the host, and its cause.
fn assert_left(ground: &Ground, error: &TransferError, expected: &TransferError) {
    let TransferError::Left { cause, temporary } = error else { panic!("{error}") };
    assert_eq!(cause.to_string(), expected.to_string());
    assert_eq!(names(&ground.far), [temporary.rsplit_once('/').unwrap().1]);
}

#[tokio::test]
async fn a_path_through_a_link_of_the_host_is_refused() {
    let ground = Ground::start().await;
    let (inside, outside) = (ground.far.join("inside"), ground.far.join("outside"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "x").unwrap();
    symlink(&outside, inside.join("door")).unwrap();
    symlink(outside.join("secret"), inside.join("file")).unwrap();
    let near = ground.near.join("near");
    fs::write(&near, "y").unwrap();
    for through in ["door/secret", "file", "../outside/secret", "door/new/deeper", "new/../../x"] {
        let far = inside.join(through);
        let up = ground.up(&near, &far).await.unwrap_err();
        let down = ground.down(&far, &near).await.unwrap_err();
        for error in [up, down] {
            let TransferError::Link { real, .. } = &error else { panic!("{through}: {error}") };
            assert!(real.starts_with('/') && !real.contains("door"), "{through}: {real}");
        }
    }
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "x");
    let plain = inside.join("./").join("plain");
    ground.up(&near, &plain).await.unwrap();
    assert_eq!(fs::read_to_string(plain).unwrap(), "y");
}
