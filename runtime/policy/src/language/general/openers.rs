//! Words of code that open files, and words that act and certainly open none.

use crate::facts::Role;

/// Returns the calls whose first argument is the file that they open.
pub(super) fn calls(language: Role) -> &'static [&'static str] {
    match language {
        Role::Python => &[
            "open",
            "open_code",
            "FileIO",
            "ZipFile",
            "TarFile",
            "GzipFile",
            "BZ2File",
            "LZMAFile",
            // Also `file(…)` of Python 2, and `minidom.parse(…)`.
            "file",
            "parse",
        ],
        Role::Javascript => &[
            "readFileSync",
            "readFile",
            "createReadStream",
            "open",
            "openSync",
            "openAsBlob",
            "copyFile",
            "copyFileSync",
            "readTextFile",
            "readTextFileSync",
            "file",
        ],
        Role::Php => &[
            "file_get_contents",
            "fopen",
            "file",
            "readfile",
            "parse_ini_file",
            "hash_file",
            "md5_file",
            "sha1_file",
            "simplexml_load_file",
            "highlight_file",
            "show_source",
            "php_strip_whitespace",
            "gzopen",
            "bzopen",
            "copy",
            "SplFileObject",
        ],
        Role::Ruby => &["open", "load_file", "safe_load_file", "sysopen", "binread"],
        _ => &[],
    }
}

/// Names in calls that are methods or arguments elsewhere: they open a file only if called.
pub(super) const ONLY_CALLED: &[&str] = &["file", "copy"];

/// Classes of Ruby whose members open files.
pub(super) const RUBY_CLASSES: &[&str] = &["File", "IO", "CSV"];

/// Members of these classes that open the file of their first argument.
pub(super) const RUBY_OPENING: &[&str] =
    &["read", "readlines", "foreach", "binread", "open", "new", "table", "parse", "load"];

/// Libraries of Ruby whose words are known.
pub(super) const RUBY_LIBRARIES: &[&str] = &[
    "json",
    "yaml",
    "csv",
    "set",
    "time",
    "date",
    "digest",
    "base64",
    "uri",
    "cgi",
    "securerandom",
    "bigdecimal",
    "stringio",
    "pp",
    "English",
    "benchmark",
    "prime",
    "matrix",
];

/// Modules of Node.js whose acting members are known by their words.
pub(super) const NODE_ACTING: &[&str] = &["child_process", "fs/promises", "http", "https", "net"];

/// Words that run a text as code of their own language.
pub(super) const EVALUATING: &[&str] = &[
    "eval",
    "evalbytes",
    "execfile",
    "create_function",
    "instance_eval",
    "class_eval",
    "module_eval",
    "instance_exec",
    "class_exec",
    "module_exec",
    "runInThisContext",
    "runInNewContext",
    "runInContext",
];

/// Returns the words that change files or tell others to, and that open no file for reading.
pub(super) fn quiet(language: Role) -> &'static [&'static str] {
    match language {
        Role::Python => PYTHON_QUIET,
        Role::Javascript => JAVASCRIPT_QUIET,
        Role::Perl => PERL_QUIET,
        Role::Ruby => RUBY_QUIET,
        Role::Php => PHP_QUIET,
        _ => &[],
    }
}

const PYTHON_QUIET: &[&str] = &[
    "rmdir",
    "mkdir",
    "makedirs",
    "mknod",
    "mkfifo",
    "touch",
    "truncate",
    "utime",
    "chmod",
    "chown",
    "write_text",
    "write_bytes",
    "save",
    "savetxt",
    "to_csv",
    "to_json",
    "etree",
    "ElementTree",
    "basicConfig",
    "connect",
    "link_to",
];

const JAVASCRIPT_QUIET: &[&str] = &[
    "writeFile",
    "writeFileSync",
    "appendFile",
    "appendFileSync",
    "createWriteStream",
    "write",
    "outputFile",
    "outputFileSync",
    "mkdir",
    "mkdirSync",
    "mkdtemp",
    "mkdtempSync",
    "mkdirp",
    "rmdir",
    "truncate",
    "truncateSync",
    "chmod",
    "chmodSync",
    "chown",
    "chownSync",
    "utimes",
    "utimesSync",
    "writeTextFile",
    "writeTextFileSync",
];

const PERL_QUIET: &[&str] = &["mkdir", "rmdir", "chmod", "chown", "utime", "truncate"];

const RUBY_QUIET: &[&str] = &[
    "write", "binwrite", "truncate", "mkdir", "mkdir_p", "makedirs", "rmdir", "touch", "chmod",
    "chown", "utime",
];

const PHP_QUIET: &[&str] = &[
    "file_put_contents",
    "tempnam",
    "touch",
    "mkdir",
    "rmdir",
    "chmod",
    "chown",
    "chgrp",
    "error_log",
];

/// Words of Ruby for `gets` and its kin, which read the files that `ARGV` names.
pub(super) const RUBY_INPUT: &[&str] = &["ARGF", "gets", "readline", "readlines"];

/// Parts of words of unread languages that open files, load code, or evaluate texts.
pub(super) const CODE_PARTS: &[&str] = &[
    "open", "read", "load", "file", "source", "slurp", "import", "include", "require", "eval",
    "exec", "parse", "lines", "input", "content", "scan", "edit", "shell", "popen", "insert",
    "view", "split", "tabe", "undivert", "invoke", "copy", "move", "do_call", "getfield",
];

/// The same, as whole words.
pub(super) const CODE_WORDS: &[&str] =
    &["io", "os", "gc", "iex", "debug", "package", "_G", "_ENV", "builtins"];
