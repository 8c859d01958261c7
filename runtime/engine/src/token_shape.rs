//! The shapes of issuers' tokens: a prefix that an issuer chose, and the letters after it.
//!
//! The compiler refuses a project with such a text, and [`redact`](crate::redact) hides it in
//! records. Each makes its own search from this table. Keys in armour and JSON Web Tokens have
//! parts, so their forms are with each search.

/// The characters of a token after its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// `[0-9A-Z]`
    UpperDigits,
    /// `[A-Za-z0-9]`
    Alphanumeric,
    /// `[A-Za-z0-9_]`
    WithUnderscore,
    /// `[A-Za-z0-9-]`
    WithDash,
    /// `[A-Za-z0-9_-]`
    WithBoth,
}

impl Letters {
    /// Returns whether a byte is one of these characters.
    #[must_use]
    pub fn contains(self, byte: u8) -> bool {
        match self {
            Self::UpperDigits => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::WithUnderscore => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::WithDash => byte.is_ascii_alphanumeric() || byte == b'-',
            Self::WithBoth => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
        }
    }

    /// Returns these characters as a class of a regular expression.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::UpperDigits => "[0-9A-Z]",
            Self::Alphanumeric => "[A-Za-z0-9]",
            Self::WithUnderscore => "[A-Za-z0-9_]",
            Self::WithDash => "[A-Za-z0-9-]",
            Self::WithBoth => "[A-Za-z0-9_-]",
        }
    }
}

/// The end of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenEnd {
    /// Any character that is foreign to the token.
    Open,
    /// A word boundary after at least the fewest characters.
    Word,
    /// A word boundary after exactly the fewest characters.
    Exact,
}

/// The shape of one kind of token.
#[derive(Debug, Clone, Copy)]
pub struct TokenShape {
    /// The name of the compiler's rule.
    pub rule: &'static str,
    /// The beginnings of such a token, of which it has one.
    pub prefixes: &'static [&'static str],
    /// The characters after the prefix.
    pub letters: Letters,
    /// The fewest characters after the prefix.
    pub chars_min: usize,
    /// The end of the token.
    pub end: TokenEnd,
}

/// The shapes, sorted by rule.
pub const TOKEN_SHAPES: &[TokenShape] = &[
    TokenShape {
        rule: "anthropic-key",
        prefixes: &["sk-ant-"],
        letters: Letters::WithBoth,
        chars_min: 20,
        end: TokenEnd::Open,
    },
    TokenShape {
        rule: "aws-access-key",
        prefixes: &["AKIA", "ASIA"],
        letters: Letters::UpperDigits,
        chars_min: 16,
        end: TokenEnd::Exact,
    },
    TokenShape {
        rule: "github-token",
        prefixes: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        letters: Letters::Alphanumeric,
        chars_min: 36,
        end: TokenEnd::Open,
    },
    TokenShape {
        rule: "github-token",
        prefixes: &["github_pat_"],
        letters: Letters::WithUnderscore,
        chars_min: 50,
        end: TokenEnd::Open,
    },
    TokenShape {
        rule: "gitlab-token",
        prefixes: &["glpat-"],
        letters: Letters::WithBoth,
        chars_min: 20,
        end: TokenEnd::Open,
    },
    TokenShape {
        rule: "google-key",
        prefixes: &["AIza"],
        letters: Letters::WithBoth,
        chars_min: 35,
        end: TokenEnd::Exact,
    },
    TokenShape {
        rule: "hugging-face-token",
        prefixes: &["hf_"],
        letters: Letters::Alphanumeric,
        chars_min: 30,
        end: TokenEnd::Word,
    },
    TokenShape {
        rule: "npm-token",
        prefixes: &["npm_"],
        letters: Letters::Alphanumeric,
        chars_min: 36,
        end: TokenEnd::Exact,
    },
    TokenShape {
        rule: "openai-key",
        prefixes: &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        letters: Letters::WithBoth,
        chars_min: 20,
        end: TokenEnd::Open,
    },
    TokenShape {
        rule: "pypi-token",
        prefixes: &["pypi-"],
        letters: Letters::WithBoth,
        chars_min: 50,
        end: TokenEnd::Open,
    },
    TokenShape {
        rule: "slack-token",
        prefixes: &["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
        letters: Letters::WithDash,
        chars_min: 10,
        end: TokenEnd::Open,
    },
    TokenShape {
        rule: "stripe-key",
        prefixes: &["sk_live_", "rk_live_"],
        letters: Letters::Alphanumeric,
        chars_min: 20,
        end: TokenEnd::Open,
    },
];
