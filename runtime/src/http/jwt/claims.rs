//! The claims of a token, by the names that the configuration has for them.

use serde_json::{Map, Value};

/// The claims of a token.
pub(super) struct Claims(pub(super) Map<String, Value>);

/// The reason for rejecting a claim, for the client.
type Reason = String;

impl Claims {
    /// Returns the text of a claim; an empty one is an error.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Reason> {
        match self.find(name)? {
            None => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Err(unusable(name, "is empty")),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(unusable(name, "is not a text")),
        }
    }

    /// Returns the words of a claim: a list of texts, or one text with white space between words.
    pub(super) fn words(&self, name: &str) -> Result<Vec<&str>, Reason> {
        let wrong = || unusable(name, "is neither a list of texts nor a text");
        match self.find(name)? {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(text.split_whitespace().collect()),
            Some(Value::Array(items)) => {
                items.iter().map(|item| item.as_str().ok_or_else(wrong)).collect()
            }
            Some(_) => Err(wrong()),
        }
    }

    /// Returns the texts of a claim: a text or a list of texts, which may have spaces.
    pub(super) fn list(&self, name: &str) -> Result<Option<Vec<&str>>, Reason> {
        match self.find(name)? {
            Some(Value::String(text)) => Ok(Some(vec![text])),
            Some(_) => self.words(name).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the time of a claim, in seconds since 1970.
    pub(super) fn time(&self, name: &str) -> Result<Option<u64>, Reason> {
        match self.find(name)? {
            None => Ok(None),
            Some(Value::Number(number)) => match (number.as_u64(), number.as_f64()) {
                (Some(whole), _) => Ok(Some(whole)),
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a conversion to a whole number stays in its range"
                )]
                (None, Some(seconds)) => Ok(Some(seconds as u64)),
                (None, None) => Err(unusable(name, "is not a time")),
            },
            Some(_) => Err(unusable(name, "is not a time")),
        }
    }

    /// Returns the claim of this name, unless it is null. An unknown name is a path: each dot leads
    /// into an object.
    fn find(&self, name: &str) -> Result<Option<&Value>, Reason> {
        Ok(self.find_any(name)?.filter(|claim| !claim.is_null()))
    }

    fn find_any(&self, name: &str) -> Result<Option<&Value>, Reason> {
        let Self(claims) = self;
        if let Some(claim) = claims.get(name) {
            return Ok(Some(claim));
        }
        let mut path = name.split('.');
        let mut found = path.next().and_then(|first| claims.get(first));
        for part in path {
            found = match found {
                None | Some(Value::Null) => return Ok(None),
                Some(Value::Object(inner)) => inner.get(part),
                Some(_) => return Err(unusable(name, "leads through a value that is no object")),
            };
        }
        Ok(found)
    }
}

fn unusable(name: &str, why: &str) -> Reason {
    format!("the token's claim `{name}` {why}")
}
