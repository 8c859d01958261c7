//! Words of code that change files, and words that act and certainly neither open nor change one.

use crate::effect::Touch;
use crate::facts::Role;

/// An argument that names a file.
#[derive(Clone, Copy)]
pub(super) enum Which {
    /// The one of this number.
    At(usize),
    /// The one of this number and all after it.
    From(usize),
}

/// Words, and the deeds of their calls on the files of which arguments.
pub(super) type Row = (&'static [&'static str], &'static [(Touch, Which)]);

use Touch::{Change, ChangeTree, Remove, Take, Write};
use Which::{At, From};

const WRITES: &[(Touch, Which)] = &[(Write, At(0))];
const WRITES_SECOND: &[(Touch, Which)] = &[(Write, At(1))];
const MOVES: &[(Touch, Which)] = &[(Take, At(0)), (Write, At(1))];
const CHANGES: &[(Touch, Which)] = &[(Change, At(0))];
const REMOVES: &[(Touch, Which)] = &[(Remove, At(0))];
const REMOVES_ALL: &[(Touch, Which)] = &[(Remove, From(0))];

/// Returns the deeds of the calls of a word, on the files that their arguments name; `None` for
/// other words.
pub(super) fn deeds(language: Role, word: &str) -> Option<&'static [(Touch, Which)]> {
    let rows = match language {
        Role::Python => PYTHON,
        Role::Javascript => JAVASCRIPT,
        Role::Perl => PERL,
        Role::Ruby => RUBY,
        Role::Php => PHP,
        _ => return None,
    };
    rows.iter().find(|(words, _)| words.contains(&word)).map(|(_, deeds)| *deeds)
}

const PYTHON: &[Row] = &[
    (
        &[
            "mkdir",
            "makedirs",
            "mknod",
            "mkfifo",
            "truncate",
            "utime",
            "setxattr",
            "removexattr",
            "touch",
            "FileHandler",
        ],
        WRITES,
    ),
    (
        &[
            "link",
            "symlink",
            "copy",
            "copy2",
            "copyfile",
            "copytree",
            "copymode",
            "copystat",
            "urlretrieve",
        ],
        WRITES_SECOND,
    ),
    (&["rename", "renames", "replace", "move"], MOVES),
    (&["chmod", "lchmod", "chown", "lchown"], CHANGES),
    (&["remove", "unlink", "rmdir", "removedirs", "rmtree"], REMOVES),
];

const JAVASCRIPT: &[Row] = &[
    (
        &[
            "writeFile",
            "writeFileSync",
            "appendFile",
            "appendFileSync",
            "createWriteStream",
            "outputFile",
            "outputFileSync",
            "outputJsonSync",
            "writeJson",
            "writeJsonSync",
            "mkdir",
            "mkdirSync",
            "mkdirp",
            "truncate",
            "truncateSync",
            "utimes",
            "utimesSync",
            "writeTextFile",
            "writeTextFileSync",
        ],
        WRITES,
    ),
    (
        &[
            "copyFile",
            "copyFileSync",
            "cp",
            "cpSync",
            "copy",
            "copySync",
            "link",
            "linkSync",
            "symlink",
            "symlinkSync",
        ],
        WRITES_SECOND,
    ),
    (&["rename", "renameSync", "move", "moveSync"], MOVES),
    (&["chmod", "chmodSync", "chown", "chownSync", "lchown"], CHANGES),
    (
        &[
            "unlink",
            "unlinkSync",
            "remove",
            "removeSync",
            "rm",
            "rmSync",
            "rmdir",
            "rmdirSync",
            "rimraf",
            "rimrafSync",
            "emptyDir",
            "emptyDirSync",
            "emptydirSync",
        ],
        REMOVES,
    ),
];

const PERL: &[Row] = &[
    (&["mkdir", "truncate"], WRITES),
    (&["link", "symlink"], WRITES_SECOND),
    (&["rename"], MOVES),
    (&["chmod"], &[(Change, From(1))]),
    (&["chown"], &[(Change, From(2))]),
    (&["utime"], &[(Write, From(2))]),
    (&["rmdir"], REMOVES),
    (&["unlink"], REMOVES_ALL),
];

const RUBY: &[Row] = &[
    (&["write", "binwrite", "mkdir", "truncate", "mkfifo", "reopen"], WRITES),
    (&["mkdir_p", "makedirs", "mkpath", "touch"], &[(Write, From(0))]),
    (
        &[
            "cp",
            "cp_r",
            "copy",
            "copy_file",
            "copy_entry",
            "install",
            "ln",
            "ln_s",
            "ln_sf",
            "link",
            "symlink",
            "copy_stream",
        ],
        WRITES_SECOND,
    ),
    (&["rename", "mv", "move"], MOVES),
    (&["chmod", "lchmod"], &[(Change, From(1))]),
    (&["chmod_R"], &[(ChangeTree, From(1))]),
    (&["chown", "lchown"], &[(Change, From(2))]),
    (&["chown_R"], &[(ChangeTree, From(2))]),
    (&["utime"], &[(Write, From(2))]),
    (
        &[
            "delete",
            "unlink",
            "rmdir",
            "rm",
            "rm_f",
            "rm_r",
            "rm_rf",
            "rmtree",
            "remove_file",
            "safe_unlink",
            "remove_dir",
            "remove_entry",
            "remove_entry_secure",
        ],
        REMOVES_ALL,
    ),
];

const PHP: &[Row] = &[
    (&["file_put_contents", "touch", "mkdir"], WRITES),
    (&["copy", "link", "symlink"], WRITES_SECOND),
    (&["rename"], MOVES),
    (&["chmod", "chown", "chgrp", "lchown", "lchgrp"], CHANGES),
    (&["unlink", "rmdir"], REMOVES),
];

/// Returns the words that open a file in a mode, by the number of the argument with the mode.
pub(super) fn mode(language: Role, word: &str) -> Option<usize> {
    let words: &[&str] = match language {
        Role::Python => {
            &["open", "FileIO", "ZipFile", "TarFile", "GzipFile", "BZ2File", "LZMAFile"]
        }
        Role::Javascript => &["open", "openSync"],
        Role::Ruby => &["open", "sysopen"],
        Role::Php => &["fopen", "SplFileObject", "gzopen", "bzopen"],
        Role::Code => &["open"],
        _ => &[],
    };
    words.contains(&word).then_some(1)
}

/// Returns whether a word acts without that itself opens or changes a file: it is about processes,
/// networks or open files, or only a module whose members are known.
pub(super) fn is_inert(language: Role, word: &str) -> bool {
    let words: &[&str] = match language {
        Role::Python => PYTHON_INERT,
        Role::Javascript => JAVASCRIPT_INERT,
        Role::Perl => PERL_INERT,
        Role::Ruby => RUBY_INERT,
        Role::Php => PHP_INERT,
        _ => &[],
    };
    words.contains(&word)
}

const PYTHON_INERT: &[&str] = &[
    "ftruncate",
    "fchmod",
    "fchown",
    "insert",
    "tempfile",
    "gzip",
    "bz2",
    "lzma",
    "zipfile",
    "tarfile",
    "logging",
    "subprocess",
    "threading",
    "Thread",
    "asyncio",
    "concurrent",
    "signal",
    "kill",
    "killpg",
    "abort",
    "_exit",
    "fork",
    "umask",
    "nice",
    "dup",
    "dup2",
    "pipe",
    "bind",
    "listen",
    "accept",
    "send",
    "sendall",
    "super",
    "__init__",
    "__class__",
    "__call__",
    "delete",
];

const JAVASCRIPT_INERT: &[&str] = &[
    "writeSync",
    "promises",
    "end",
    "flush",
    "kill",
    "abort",
    "umask",
    "emit",
    "setInterval",
    "setImmediate",
    "nextTick",
    "queueMicrotask",
    "child_process",
    "Deno",
    "Bun",
    "http",
    "https",
    "request",
    "createServer",
    "listen",
    "glob",
    "globSync",
];

const PERL_INERT: &[&str] =
    &["umask", "kill", "select", "binmode", "fileno", "write", "syswrite", "opendir"];

const RUBY_INERT: &[&str] =
    &["syswrite", "umask", "kill", "Process", "FileUtils", "Thread", "Signal", "trap", "x"];

const PHP_INERT: &[&str] = &[
    "fwrite",
    "fputs",
    "fputcsv",
    "ftruncate",
    "tmpfile",
    "umask",
    "define",
    "fprintf",
    "vfprintf",
];

/// Returns whether a word that acts only reads, or only passes on open files.
pub(super) fn only_reads(language: Role, word: &str) -> bool {
    let words: &[&str] = match language {
        Role::Python => &[
            "open_code",
            "fdopen",
            "copyfileobj",
            "sendfile",
            "copy_file_range",
            "splice",
            "writev",
            "pwrite",
            "pwritev",
            "mmap",
        ],
        Role::Javascript => &["readFile", "createReadStream", "openAsBlob", "pipe"],
        Role::Ruby => &["binread", "load_file", "sysread", "write_nonblock", "pwrite"],
        Role::Php => &[
            "file",
            "readfile",
            "highlight_file",
            "show_source",
            "php_strip_whitespace",
            "simplexml_load_file",
            "stream_copy_to_stream",
            "gzwrite",
            "gzputs",
        ],
        _ => &[],
    };
    words.contains(&word)
}

/// Modules of Python whose members are functions over the paths that they get.
pub(super) const PYTHON_PATH_MODULES: &[&str] = &[
    "os", "shutil", "io", "codecs", "gzip", "bz2", "lzma", "tarfile", "zipfile", "logging",
    "request",
];

/// Parts of words of unread languages that write or remove.
pub(super) const CODE_PARTS: &[&str] = &[
    "write", "save", "output", "sink", "dump", "remove", "delete", "unlink", "rename", "mkdir",
    "create", "append", "link", "chmod", "chown", "touch", "install", "dput", "mkpath",
];

/// The same, as whole words.
pub(super) const CODE_WORDS: &[&str] = &[
    "rm", "mv", "cp", "del", "rd", "ri", "rmdir", "erase", "ni", "sc", "ac", "tee", "png", "pdf",
    "svg", "out", "set", "clear", "add", "new",
];
