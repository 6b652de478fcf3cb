//! All pages with their paths and forms.

use super::sample::Sample;

/// One page.
pub(super) struct Scene {
    /// The file name of its screenshot.
    pub(super) name: String,
    pub(super) path: String,
    /// The fields of the form to send. `None` opens the page.
    pub(super) form: Option<Vec<(&'static str, String)>>,
    pub(super) status: u16,
}

impl Scene {
    fn open(name: &str, path: &str) -> Self {
        Self { name: name.to_owned(), path: path.to_owned(), form: None, status: 200 }
    }

    fn send(name: &str, path: &str, form: &[(&'static str, &str)]) -> Self {
        let form = form.iter().map(|(name, value)| (*name, (*value).to_owned()));
        Self { form: Some(form.collect()), status: 400, ..Self::open(name, path) }
    }

    fn answered(self, status: u16) -> Self {
        Self { status, ..self }
    }
}

/// The routes of pages in the router.
pub(super) fn routes() -> impl Iterator<Item = &'static str> {
    sealward_dashboard::names().filter(|route| {
        // Sign-out and the sign-in at a provider redirect.
        let redirects = route.ends_with("/sign-out") || route.contains("/sign-in/");
        let is_of_machines = route.ends_with("/backchannel-logout");
        !route.contains('.') && !redirects && !is_of_machines
    })
}

/// The paths of the lists with a form for a new resource.
fn lists() -> impl Iterator<Item = &'static str> {
    routes().filter_map(|route| route.strip_suffix("/new"))
}

/// A page of a list, if the router has it. `path` is that of its collection or of one resource.
fn of_list(list: &str, path: &str, route: &str) -> Option<Scene> {
    let pattern = format!("{list}{route}");
    let name = pattern.trim_start_matches("/dashboard/").replace("/{id}", "-one").replace('/', "-");
    let end = route.trim_start_matches("/{id}");
    routes().any(|known| known == pattern).then(|| Scene::open(&name, &format!("{path}{end}")))
}

/// The pages that require no data.
pub(super) fn without_anything() -> Vec<Scene> {
    let open = Scene::open;
    let lists = lists().flat_map(|list| ["", "/new"].map(|route| of_list(list, list, route)));
    let others = [
        open("overview", "/dashboard"),
        open("overview-day", "/dashboard?range=day"),
        open("overview-week", "/dashboard?range=week"),
        open("emergency", "/dashboard/emergency"),
        open("key-floor", "/dashboard/keys/floor"),
        open("key-remaining", "/dashboard/keys/remaining"),
        open(
            "key-remaining-nonsense",
            "/dashboard/keys/remaining?algorithm=x&strengthBelow=y&keyId=z",
        ),
        open("key-import", "/dashboard/keys/import"),
        open("key-import-wrapped", "/dashboard/keys/import?from=wrapped"),
        open("key-import-plain", "/dashboard/keys/import?from=plain"),
        open("key-import-token", "/dashboard/keys/import?from=token"),
        open("changes", "/dashboard/changes"),
        open("audit", "/dashboard/audit"),
        open("audit-nonsense", "/dashboard/audit?status=x&from=y&keyId=z"),
        open("events", "/dashboard/events"),
        open("nowhere", "/dashboard/nowhere").answered(404),
        open("sign-in", "/dashboard/sign-in"),
    ];
    lists.flatten().chain(others).collect()
}

/// The pages that show names. One page is excluded because it generates a 4096-bit key, which is
/// slow.
pub(super) async fn with_names(sample: &Sample) -> Vec<Scene> {
    let mut scenes = of(sample).await;
    scenes.retain(|scene| scene.name != "key-import-prepared");
    scenes
}

/// All pages, including those that show the sample.
pub(super) async fn of(sample: &Sample) -> Vec<Scene> {
    let (open, send) = (Scene::open, Scene::send);
    let at = |collection: &str, id: &str, rest: &str| format!("/dashboard/{collection}/{id}{rest}");
    let listed = async |path: &str| -> Vec<String> {
        let list = sample.world.admin().get(path).await.ok().json();
        let items = list["items"].as_array().expect("items").iter();
        items.map(|item| item["id"].as_str().expect("an ID").to_owned()).collect()
    };
    let record = &listed("/admin/audit").await[0];
    let event = &listed("/admin/audit/management?resourceType=key&action=update").await[0];
    let mut scenes = without_anything();
    for list in lists() {
        let first = listed(&list.replace("/dashboard", "/admin")).await.pop();
        let first = first.unwrap_or_else(|| panic!("the sample has none of {list}"));
        let path = format!("{list}/{first}");
        let pages = ["/{id}", "/{id}/edit", "/{id}/delete"];
        scenes.extend(pages.into_iter().filter_map(|route| of_list(list, &path, route)));
    }
    let long = "x".repeat(501);
    let (billing, key) = (&sample.billing, &sample.key);
    scenes.extend([
        open("services-none", "/dashboard/services?nameContains=unknown"),
        open("service", &at("services", billing, "?done=saved")),
        send(
            "service-wrong",
            "/dashboard/services",
            &[
                ("name", ""),
                ("tier", "enterprise"),
                ("rateLimit.requestsPerSecond", "many"),
                ("rateLimit.burst", "0"),
            ],
        ),
        send(
            "service-edit-wrong",
            &at("services", billing, "/edit"),
            &[("name", "partner"), ("tier", "x")],
        ),
        send("service-delete-refused", &at("services", billing, "/delete"), &[]).answered(409),
        send("emergency-freeze-wrong", "/dashboard/emergency/freeze", &[("reason", "")]),
        send("emergency-key-wrong", "/dashboard/emergency/disable-key", &[("key", "x")]),
        send("emergency-person-wrong", "/dashboard/emergency/lock-person", &[("person", "x")]),
        open("service-freeze", &at("services", billing, "/freeze")),
        send("service-freeze-late", &at("services", billing, "/freeze"), &[("revision", "0")])
            .answered(409),
        send("emergency-unfreeze-wrong", "/dashboard/emergency/unfreeze", &[("reason", &long)]),
        send(
            "identity-wrong",
            "/dashboard/identities",
            &[("name", ""), ("match.issuer", ""), ("match.claims", "7")],
        ),
        open("person", &at("people", &sample.person, "?done=unlocked")),
        open("person-locked", &at("people", &sample.locked_person, "?done=locked")),
        open("person-lock", &at("people", &sample.person, "/lock")),
        send("person-lock-wrong", &at("people", &sample.person, "/lock"), &[("reason", "")]),
        open("person-unlock", &at("people", &sample.locked_person, "/unlock")),
        send(
            "person-unlock-late",
            &at("people", &sample.locked_person, "/unlock"),
            &[("revision", "0")],
        )
        .answered(409),
        send("person-wrong", "/dashboard/people", &[("subject", ""), ("reason", "")]),
        open("policy-passing", &at("policies", &sample.passing, "")),
        open("policy-dropping", &at("policies", &sample.dropping, "")),
        open("policies-deleted", "/dashboard/policies?deleted=true"),
        open("policy-restore", &at("policies", &sample.deleted_policy, "/restore")),
        send(
            "policy-restore-wrong",
            &at("policies", &sample.deleted_policy, "/restore"),
            &[("policyNumber", "a b"), ("allowedServiceIds.scope", "some")],
        ),
        send("policy-delete-refused", &at("policies", &sample.policy, "/delete"), &[])
            .answered(409),
        open(
            "policy-state",
            &at("policies", &sample.policy, "/state?status=inactive&failureMode=passthrough"),
        ),
        send("policy-state-wrong", &at("policies", &sample.policy, "/state"), &[("status", "x")])
            .answered(409),
        send(
            "policy-wrong",
            "/dashboard/policies",
            &[("policyNumber", "a b"), ("allowedServiceIds.scope", "some")],
        ),
        send("policy-edit-wrong", &at("policies", &sample.policy, "/edit"), &[("name", "")]),
        open("key", &at("keys", key, "")),
        open("key-deleted", &at("keys", &sample.deleted_key, "")),
        open("key-public", &at("keys", &sample.partner_key, "")),
        open("key-remaining-key", &format!("/dashboard/keys/remaining?keyId={key}")),
        open("key-remaining-weak", "/dashboard/keys/remaining?strengthBelow=512"),
        open("key-remaining-policy", "/dashboard/keys/remaining?policyNumber=BILLING"),
        send("key-edit-wrong", &at("keys", key, "/edit"), &[("name", ""), ("expiresAt", "soon")]),
        open("key-delete", &at("keys", key, "/delete")),
        open("key-rotate", &at("keys", key, "/rotate")),
        send("key-restore-refused", &at("keys", key, "/restore"), &[]).answered(409),
        send(
            "key-wrong",
            "/dashboard/keys",
            &[("from", "plain"), ("name", "x"), ("privateKey", "none"), ("serviceId", "unknown")],
        ),
        send(
            "key-import-prepared",
            "/dashboard/keys/import-parameters",
            &[("mechanism", "RSA_OAEP_SHA1_AES_KWP")],
        )
        .answered(201),
        open("api-key-revoked", &at("api-keys", &sample.revoked_api_key, "?done=revoked")),
        open("api-key-revoke", &at("api-keys", &sample.api_key, "/revoke")),
        send(
            "api-key-revoke-late",
            &at("api-keys", &sample.api_key, "/revoke"),
            &[("revision", "0")],
        )
        .answered(409),
        send(
            "api-key-wrong",
            "/dashboard/api-keys",
            &[
                ("name", ""),
                ("type", "live"),
                ("allowedOperations.scope", "some"),
                ("allowedCidrs", "here\nthere"),
            ],
        ),
        send("api-key-edit-wrong", &at("api-keys", &sample.api_key, "/edit"), &[("name", "")]),
        send(
            "api-key-created",
            "/dashboard/api-keys",
            &[("name", "invoices in production"), ("type", "live"), ("serviceId", &sample.partner)],
        )
        .answered(201),
        open("change", &at("changes", &sample.change, "")),
        send(
            "change-without-person",
            &at("changes", &sample.change, "/approve"),
            &[("comment", "as agreed")],
        )
        .answered(403),
        open("audit-record", &at("audit", record, "")),
        open("event", &at("events", event, "")),
        send("sign-in-refused", "/dashboard/sign-in", &[("key", "nonsense")]).answered(401),
    ]);
    scenes
}
