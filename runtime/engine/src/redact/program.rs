//! Programs whose options and operands hold a secret under any name.

/// A place where a program takes a secret.
#[derive(Debug)]
pub(super) struct Rule {
    /// The programs, by their names.
    pub(super) programs: &'static [&'static str],
    /// A word that precedes the secret, such as `login`; empty if any command has the secret.
    pub(super) after: &'static str,
    /// The place of the secret.
    pub(super) place: Place,
    /// The part of the value that is secret.
    pub(super) part: Part,
}

/// The place of a secret among the words of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// After an option of one letter, or joined to it; options of the second list may precede the
    /// letter in one word, as in `curl -su`.
    Letter(u8, &'static str),
    /// As [`Place::Letter`], among the options before the first operand: `sshpass -p x ssh -p 22`.
    FirstLetter(u8),
    /// Joined to an option of one letter: `mysql -pX`, while `-p X` asks for a password.
    Joined(&'static str),
    /// After an option by its name, with one dash or two, and `=` or a blank.
    Option(&'static str),
    /// After a word.
    Word(&'static str),
    /// An operand, counted from 1, after the word of the rule.
    Operand(u8),
    /// The word after the name of a secret: `setx TOKEN x`.
    Named,
}

/// The part of a value that is secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// The part after the first such character, if it occurs: `user:password`.
    After(u8),
    /// As [`Part::After`] for `:`; without a password, the user may be a token.
    User,
    /// The part after `pass:`, `user:` or another word of `openssl`.
    Source,
    /// Cookies, or the file that holds them.
    Cookies,
}

const MYSQL: &[&str] = &[
    "mariadb",
    "mariadb-admin",
    "mariadb-dump",
    "mycli",
    "mysql",
    "mysqladmin",
    "mysqlbinlog",
    "mysqlcheck",
    "mysqldump",
    "mysqlimport",
    "mysqlpump",
    "mysqlsh",
    "mysqlshow",
    "mysqlslap",
];
const LDAP: &[&str] = &[
    "ldapadd",
    "ldapcompare",
    "ldapdelete",
    "ldapexop",
    "ldapmodify",
    "ldapmodrdn",
    "ldappasswd",
    "ldapsearch",
    "ldapwhoami",
];
const MONGO: &[&str] = &[
    "mongo",
    "mongodump",
    "mongoexport",
    "mongoimport",
    "mongorestore",
    "mongosh",
    "mongostat",
    "mongotop",
];
const CONTAINERS: &[&str] =
    &["buildah", "crane", "docker", "helm", "nerdctl", "oras", "podman", "regctl", "skopeo"];
/// Programs with settings that a command changes.
const CONFIGURED: &[&str] = &["composer", "git", "npm", "pip", "pnpm", "poetry", "yarn"];
const SAMBA: &[&str] = &["net", "rpcclient", "smbclient", "smbget", "smbmap", "wmic"];
/// The options of `curl` that are complete as one letter.
const CURL_BARE: &str = "#0123469BGIJLMNORSafgijklnpqsv";

/// The rules. A new program is a line here.
pub(super) const RULES: &[Rule] = &[
    rule(&["curl"], "", Place::Letter(b'u', CURL_BARE), Part::User),
    rule(&["curl"], "", Place::Letter(b'U', CURL_BARE), Part::User),
    rule(&["curl"], "", Place::Letter(b'b', CURL_BARE), Part::Cookies),
    rule(&["curl"], "", Place::Letter(b'E', CURL_BARE), Part::After(b':')),
    rule(&["curl", "wget"], "", Place::Option("user"), Part::User),
    rule(&["curl"], "", Place::Option("proxy-user"), Part::User),
    rule(&["curl"], "", Place::Option("cookie"), Part::Cookies),
    rule(&["curl"], "", Place::Option("cert"), Part::After(b':')),
    rule(&["curl"], "", Place::Option("oauth2-bearer"), Part::Whole),
    rule(&["http", "https", "xh", "xhs"], "", Place::Letter(b'a', ""), Part::User),
    rule(&["http", "https", "xh", "xhs"], "", Place::Option("auth"), Part::User),
    rule(&["lftp"], "", Place::Letter(b'u', ""), Part::After(b',')),
    rule(&["sshpass"], "", Place::FirstLetter(b'p'), Part::Whole),
    rule(CONTAINERS, "login", Place::Letter(b'p', ""), Part::Whole),
    rule(
        &["az", "oc", "cf", "argocd", "twine", "ibmcloud"],
        "login",
        Place::Letter(b'p', ""),
        Part::Whole,
    ),
    rule(&["twine"], "upload", Place::Letter(b'p', ""), Part::Whole),
    rule(&["skopeo"], "", Place::Option("creds"), Part::User),
    rule(&["skopeo"], "", Place::Option("src-creds"), Part::User),
    rule(&["skopeo"], "", Place::Option("dest-creds"), Part::User),
    rule(&["cf"], "auth", Place::Operand(2), Part::Whole),
    rule(&["vault"], "login", Place::Operand(1), Part::Whole),
    rule(&["openssl"], "", Place::Option("pass"), Part::Source),
    rule(&["openssl"], "", Place::Option("passin"), Part::Source),
    rule(&["openssl"], "", Place::Option("passout"), Part::Source),
    rule(&["openssl"], "", Place::Option("k"), Part::Whole),
    rule(&["aws"], "configure", Place::Named, Part::Whole),
    rule(CONFIGURED, "config", Place::Named, Part::Whole),
    rule(CONFIGURED, "set", Place::Named, Part::Whole),
    rule(&["setenv", "setx", "set"], "", Place::Named, Part::Whole),
    rule(&["aws"], "ssm", Place::Option("value"), Part::Whole),
    rule(&["az"], "keyvault", Place::Option("value"), Part::Whole),
    rule(&["gh"], "secret", Place::Option("body"), Part::Whole),
    rule(&["gh"], "secret", Place::Letter(b'b', ""), Part::Whole),
    rule(&["kubectl", "oc"], "secret", Place::Option("from-literal"), Part::After(b'=')),
    rule(&["redis-cli", "valkey-cli", "keydb-cli"], "", Place::Letter(b'a', ""), Part::Whole),
    rule(&["redis-cli", "valkey-cli"], "", Place::Word("auth"), Part::Whole),
    rule(
        &["zip", "unzip", "zipcloak"],
        "",
        Place::Letter(b'P', "0123456789DTXejloqruvyC"),
        Part::Whole,
    ),
    rule(&["7z", "7za", "7zr", "7zz", "rar", "unrar"], "", Place::Joined("p"), Part::Whole),
    rule(&["7z", "7za", "7zr", "7zz", "rar", "unrar"], "", Place::Joined("hp"), Part::Whole),
    rule(LDAP, "", Place::Letter(b'w', "xLvcnZ"), Part::Whole),
    rule(&["ldappasswd"], "", Place::Letter(b's', ""), Part::Whole),
    rule(&["ldappasswd"], "", Place::Letter(b'a', ""), Part::Whole),
    rule(MYSQL, "", Place::Joined("p"), Part::Whole),
    rule(&["mysqladmin", "mariadb-admin"], "", Place::Word("password"), Part::Whole),
    rule(MONGO, "", Place::Letter(b'p', ""), Part::Whole),
    rule(
        &["sqlcmd", "bcp", "osql", "ipmitool", "mosquitto_pub", "mosquitto_sub"],
        "",
        Place::Letter(b'P', ""),
        Part::Whole,
    ),
    rule(&["sqlplus", "expdp", "impdp", "rman"], "", Place::Operand(1), Part::After(b'/')),
    rule(SAMBA, "", Place::Letter(b'U', ""), Part::After(b'%')),
    rule(SAMBA, "", Place::Option("user"), Part::After(b'%')),
    rule(&["xfreerdp", "wlfreerdp", "rdesktop"], "", Place::Letter(b'p', ""), Part::Whole),
    rule(
        &["snmpget", "snmpwalk", "snmpbulkwalk", "snmpset"],
        "",
        Place::Letter(b'A', ""),
        Part::Whole,
    ),
    rule(
        &["snmpget", "snmpwalk", "snmpbulkwalk", "snmpset"],
        "",
        Place::Letter(b'X', ""),
        Part::Whole,
    ),
    rule(&["ssh-keygen"], "", Place::Letter(b'N', ""), Part::Whole),
    rule(&["ssh-keygen"], "", Place::Letter(b'P', ""), Part::Whole),
    rule(&["security"], "add-generic-password", Place::Letter(b'w', ""), Part::Whole),
    rule(&["security"], "add-internet-password", Place::Letter(b'w', ""), Part::Whole),
    rule(&["security"], "unlock-keychain", Place::Letter(b'p', ""), Part::Whole),
    rule(&["useradd", "usermod"], "", Place::Letter(b'p', ""), Part::Whole),
    rule(&["nmcli"], "", Place::Word("password"), Part::Whole),
    rule(&["machine"], "", Place::Word("password"), Part::Whole),
    rule(&["wpa_passphrase"], "", Place::Operand(2), Part::Whole),
    rule(&["htpasswd"], "", Place::Operand(3), Part::Whole),
    rule(&["htpasswd"], "-nb", Place::Operand(2), Part::Whole),
    rule(&["htpasswd"], "-bn", Place::Operand(2), Part::Whole),
    rule(&["htpasswd"], "-nbB", Place::Operand(2), Part::Whole),
    rule(&["htpasswd"], "-Bbn", Place::Operand(2), Part::Whole),
    rule(&["rabbitmqctl"], "add_user", Place::Operand(2), Part::Whole),
    rule(&["rabbitmqctl"], "change_password", Place::Operand(2), Part::Whole),
    rule(&["mc", "mcli"], "alias", Place::Operand(4), Part::Whole),
    rule(&["mc", "mcli"], "alias", Place::Operand(5), Part::Whole),
];

const fn rule(
    programs: &'static [&'static str],
    after: &'static str,
    place: Place,
    part: Part,
) -> Rule {
    Rule { programs, after, place, part }
}

/// A program that reads a secret from its input.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) program: &'static str,
    /// Words that follow, each of which the command has.
    pub(super) words: &'static [&'static str],
    /// Whether the name counts only where a command begins: `passwd` is also a file.
    pub(super) is_first: bool,
}

/// The programs that read a secret from their input. In addition any program does with a flag such
/// as `--password-stdin`, `sudo` with `-S`, and `openssl` with `-pass stdin`.
pub(super) const READERS: &[Reader] = &[
    reader("chpasswd", &[], false),
    reader("cryptsetup", &[], true),
    reader("docker", &["secret", "create"], false),
    reader("fly", &["secrets", "import"], false),
    reader("gcloud", &["secrets"], false),
    reader("gh", &["secret", "set"], false),
    reader("kinit", &[], true),
    reader("mkpasswd", &[], true),
    reader("passwd", &[], true),
    reader("podman", &["secret", "create"], false),
    reader("secret-tool", &["store"], false),
    reader("smbpasswd", &[], true),
    reader("ssh-add", &[], true),
    reader("vault", &["login"], false),
    reader("vercel", &["env", "add"], false),
    reader("vncpasswd", &[], true),
    reader("wrangler", &["secret", "put"], false),
];

const fn reader(program: &'static str, words: &'static [&'static str], is_first: bool) -> Reader {
    Reader { program, words, is_first }
}

/// Programs that run another: the next word is still the beginning of a command.
pub(super) const WRAPPERS: &[&str] = &[
    "builtin", "command", "doas", "env", "exec", "ionice", "nice", "nohup", "setsid", "stdbuf",
    "sudo", "time", "timeout", "xargs",
];

/// The options of `sudo` and `doas` that take the next word.
pub(super) const SUDO_VALUED: &[u8] = b"CDghpRrTtuU";

/// Programs whose words are patterns, so that a name without a joined value is only a name.
pub(super) const SEARCHES: &[&str] =
    &["ack", "ag", "awk", "egrep", "fgrep", "findstr", "grep", "rg", "sed", "zgrep"];

/// Programs that print their operands.
pub(super) const PRINTERS: &[&str] = &["echo", "printf"];
