//! The claims of a token -> its caller, by the rules of its issuer.

use super::claims::Claims;
use super::error::TokenError;
use crate::caller::principal::{Principal, check_groups};
use crate::settings::config;

/// Returns the caller with these verified claims.
pub(super) fn principal(config: &config::Jwt, claims: &Claims) -> Result<Principal, TokenError> {
    let id = claims.text(&config.principal_claim)?.ok_or_else(|| {
        TokenError::new("the token does not name its principal", config.principal_claim.clone())
    })?;
    Ok(Principal {
        id: id.to_owned(),
        issuer: Some(config.issuer.clone()),
        tenant: tenant(config, claims)?,
        groups: groups(config, claims)?,
        role: claims.text(&config.role_claim)?.map(ToOwned::to_owned),
    })
}

/// Returns the tenant: one of the issuer's configured tenants, if there are any. A token that names
/// no tenant gets the only one. With several it is rejected: a bundle may itself give such a caller
/// a tenant.
fn tenant(config: &config::Jwt, claims: &Claims) -> Result<Option<String>, TokenError> {
    let claim = &config.tenant_claim;
    let named = claims.text(claim)?;
    let Some(tenants) = &config.tenants else { return Ok(named.map(ToOwned::to_owned)) };
    match (named, tenants.as_slice()) {
        (Some(named), all) if all.iter().any(|tenant| tenant == named) => {
            Ok(Some(named.to_owned()))
        }
        (Some(named), _) => {
            let reason = "the token's issuer may not speak for its tenant";
            Err(TokenError::new(reason, named.to_owned()))
        }
        (None, [only]) => Ok(Some(only.clone())),
        (None, _) => Err(TokenError::new("the token does not name its tenant", claim.clone())),
    }
}

fn groups(config: &config::Jwt, claims: &Claims) -> Result<Vec<String>, TokenError> {
    let Some(claim) = &config.groups_claim else { return Ok(Vec::new()) };
    let groups: Vec<String> = claims.words(claim)?.into_iter().map(ToOwned::to_owned).collect();
    check_groups(&groups).map_err(|error| {
        TokenError::new(format!("the token's groups cannot be used: {error}"), claim.clone())
    })?;
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The caller with these claims, by an issuer with these settings.
    fn caller(settings: &str, claims: Value) -> Result<Principal, String> {
        let required = "issuer = 'https://login.example'\naudience = 'a'\njwks = 'j'\nalgorithms = ['ES256']\n";
        let config = toml::from_str(&format!("{required}{settings}")).expect("settings");
        let Value::Object(claims) = claims else { panic!("no claims") };
        principal(&config, &Claims(claims)).map_err(|error| error.reason.into_owned())
    }

    fn groups(claim: &str, claims: Value) -> Result<Vec<String>, String> {
        caller(&format!("groups-claim = '{claim}'"), claims).map(|caller| caller.groups)
    }

    #[test]
    fn claims_have_the_usual_names_unless_configured() {
        let claims = json!({
            "sub": "ann", "tenant": "acme", "role": "admin", "groups": ["sre"],
            "email": "ann@acme.example", "org": { "id": "globex", "role": "reader" },
        });
        let ann = Principal {
            id: "ann".to_owned(),
            issuer: Some("https://login.example".to_owned()),
            tenant: Some("acme".to_owned()),
            groups: Vec::new(),
            role: Some("admin".to_owned()),
        };
        assert_eq!(caller("", claims.clone()), Ok(ann.clone()));
        let settings = "principal-claim = 'email'\ntenant-claim = 'org.id'\ngroups-claim = 'groups'\nrole-claim = 'org.role'";
        let configured = Principal {
            id: "ann@acme.example".to_owned(),
            tenant: Some("globex".to_owned()),
            groups: vec!["sre".to_owned()],
            role: Some("reader".to_owned()),
            ..ann
        };
        assert_eq!(caller(settings, claims), Ok(configured));
    }

    #[test]
    fn groups_are_a_list_or_words() {
        let sre_and_all = Ok(vec!["acme:sre".to_owned(), "all".to_owned()]);
        for groups_claim in
            [json!(["acme:sre", "all"]), json!("acme:sre all"), json!(" acme:sre\tall\n")]
        {
            let claims = json!({ "sub": "ann", "groups": groups_claim });
            assert_eq!(groups("groups", claims), sre_and_all);
        }
        // A name in a list may have a space.
        let claims = json!({ "sub": "ann", "groups": ["Site reliability"] });
        assert_eq!(groups("groups", claims), Ok(vec!["Site reliability".to_owned()]));
        for none in [json!({ "sub": "ann" }), json!({ "sub": "ann", "groups": "" })] {
            assert_eq!(groups("groups", none), Ok(Vec::new()));
        }
    }

    #[test]
    fn the_whole_name_of_a_claim_comes_before_its_path() {
        let one = |name: &str| Ok(vec![name.to_owned()]);
        let url = "https://acme.example/groups";
        assert_eq!(groups(url, json!({ "sub": "ann", url: ["sre"] })), one("sre"));
        let nested = json!({ "sub": "ann", "realm_access": { "roles": ["inner"] } });
        assert_eq!(groups("realm_access.roles", nested.clone()), one("inner"));
        let mut both = nested;
        both["realm_access.roles"] = json!(["whole"]);
        assert_eq!(groups("realm_access.roles", both), one("whole"));
        let deep = json!({ "sub": "ann", "a": { "b": { "c": "deep" } } });
        assert_eq!(groups("a.b.c", deep.clone()), one("deep"));
        for absent in ["a.c", "a.b.d", "b", "a.b.d.e"] {
            assert_eq!(groups(absent, deep.clone()), Ok(Vec::new()), "{absent}");
        }
        for wrong in ["a", "a.b", "a.b.c.d"] {
            let reason = groups(wrong, deep.clone()).expect_err(wrong);
            assert!(reason.starts_with(&format!("the token's claim `{wrong}` ")), "{reason}");
        }
    }
}
