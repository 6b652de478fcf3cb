//! A key as clients of the Transit API name it, with commands to copy.

use maud::{Markup, html};

use engine::keys::{Key, is_transit_name};
use engine::settings::Transit;
use formats::material::Family;

/// The section with the name of a key and the commands that use it; nothing while the API is off, and for a
/// key for envelopes.
pub(super) fn transit(settings: &Transit, key: &Key) -> Markup {
    if !settings.enabled || key.version.is_none() {
        return html! {};
    }
    html! {
        section.card aria-labelledby="transit" {
            h2 #transit { "Transit API" }
            @if is_transit_name(&key.name) {
                p { "Clients of Vault and OpenBao name this key " code { (&*key.name) } "." }
                p.faint { "Set VAULT_ADDR to the address of Sealward, and VAULT_TOKEN to an API key of the service." }
                @for (program, command) in commands(&settings.mount, key) {
                    h3 { (program) }
                    pre tabindex="0" { (command) }
                }
            } @else {
                p { "Clients of Vault and OpenBao cannot name this key. They can name keys with letters, digits and underscores, and between them hyphens and dots." }
            }
        }
    }
}

/// The programs that use such a key, with a command of each.
fn commands(mount: &str, key: &Key) -> Vec<(&'static str, String)> {
    let name = &*key.name;
    let curl = |route: &str, member: &str| {
        let body = format!(r#"{{"{member}": "aGVsbG8="}}"#);
        let address = format!("$VAULT_ADDR/v1/{mount}/{route}/{name}");
        ("curl", format!(r#"curl -H "X-Vault-Token: $VAULT_TOKEN" "{address}" -d '{body}'"#))
    };
    match key.algorithm.family() {
        Family::Aes => {
            let address = format!("$VAULT_ADDR/v1/{mount}/keys/{name}");
            let sops = format!(r#"sops encrypt --hc-vault-transit "{address}" secrets.yaml"#);
            vec![("sops", sops), curl("encrypt", "plaintext")]
        }
        Family::Rsa | Family::Ec | Family::Ed25519 => {
            let mount = format!("TRANSIT_SECRET_ENGINE_PATH={mount}");
            let cosign = format!(r#"{mount} cosign sign --key hashivault://{name} "$IMAGE""#);
            vec![("cosign", cosign), curl("sign", "input")]
        }
        Family::MlDsa => vec![curl("sign", "input")],
        Family::Hmac => vec![curl("hmac", "input")],
        // Their keys are for envelopes.
        Family::MlKem768 | Family::MlKem1024 | Family::P256MlKem768 => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use engine::ids::{KeyId, ServiceId};
    use engine::keys::{KeyOrigin, KeyVersion, Made, Usage};
    use engine::resource::Name;
    use formats::clock::Timestamp;
    use formats::material::Algorithm;
    use uuid::Uuid;

    use super::*;

    fn key(name: &str, algorithm: Algorithm) -> Key {
        let made = Made {
            id: KeyId::from_uuid(Uuid::from_u128(1)),
            usage: if algorithm == Algorithm::Aes256 { Usage::Data } else { Usage::Sig },
            algorithm,
            origin: KeyOrigin::Generated,
            private_half: None,
            public_key: None,
        };
        let service = ServiceId::from_uuid(Uuid::from_u128(2));
        let key = Key::new(made, service, Name::of(name), Timestamp::from_millis(0));
        Key { version: Some(KeyVersion::of(1)), ..key }
    }

    fn shown(enabled: bool, key: &Key) -> String {
        let settings = Transit { enabled, mount: "seal".to_owned() };
        transit(&settings, key).into_string()
    }

    #[test]
    fn commands_name_the_key_and_the_mount() {
        for (algorithm, parts) in [
            (
                Algorithm::Aes256,
                ["/v1/seal/keys/cards&quot; secrets.yaml", "/v1/seal/encrypt/cards"],
            ),
            (
                Algorithm::P256,
                ["_PATH=seal cosign sign --key hashivault://cards", "/v1/seal/sign/cards"],
            ),
            (Algorithm::HmacSha256, ["curl", "/v1/seal/hmac/cards"]),
        ] {
            let page = shown(true, &key("cards", algorithm));
            for part in parts {
                assert!(page.contains(part), "{part}: {page}");
            }
        }
    }

    #[test]
    fn a_name_that_clients_cannot_send_has_no_commands() {
        let page = shown(true, &key("two words", Algorithm::Aes256));
        assert!(page.contains("cannot name this key") && !page.contains("<pre"), "{page}");
    }

    #[test]
    fn nothing_is_shown_while_the_api_is_off_or_of_a_key_for_envelopes() {
        assert_eq!(shown(false, &key("cards", Algorithm::Aes256)), "");
        let envelope = Key { version: None, ..key("cards", Algorithm::P256) };
        assert_eq!(shown(true, &envelope), "");
    }
}
