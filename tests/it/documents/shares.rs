//! The table of fair shares in docs/performance.md has the numbers of the code.

use engine::body_memory::{SMALL_BODY, TINY_BODY};
use engine::settings::{Hsm, Http};
use engine::shares::{
    BODY_PATIENCE, FORMS, HELD_REFUSALS, KEY_CHECKS, LARGE_BODIES, LARGEST_BODIES, LOG_INS,
    LOOK_UPS, OwnerLimit, PROCESSORS, PROVIDER_REQUESTS, REFUSED_BODIES, SLOW_READS, SMALL_BODIES,
    Sharing, UNBOUNDED, connections,
};

use super::markdown::Document;

#[test]
fn the_table_of_shares_matches_the_code() {
    let document = Document::read("docs/performance.md");
    let rows = document.rows_under("Fair shares").into_iter().map(|row| {
        let [resource, total, _owner, limit, queue, wait] = row[..] else {
            panic!("a row must have six cells: {row:?}");
        };
        [resource, total, limit, queue, wait].join(" | ")
    });
    let rows: Vec<String> = rows.collect();
    assert_eq!(rows, expected());
}

fn expected() -> Vec<String> {
    let (http, hsm) = (Http::default(), Hsm::default());
    let [small, tiny] = [SMALL_BODY, TINY_BODY].map(|bytes| bytes >> 10);
    let [large_total, small_total] = [LARGE_BODIES, SMALL_BODIES].map(|it| it.total >> 20);
    let clients = connections(http.max_connections, http.max_connections_per_address);
    assert_eq!(BODY_PATIENCE, 4, "the table says that it is a quarter");
    let timeout = "`limits.request_timeout`";
    vec![
        format!(
            "Client connections | `http.max_connections`, {} by default | \
             `http.max_connections_per_address`, {} by default; none for trusted proxies | \
             The backlog of the operating system | {}",
            clients.total,
            limit(clients),
            queue(clients)
        ),
        format!(
            "Memory of bodies above {small} KiB | {large_total} MiB, or {LARGEST_BODIES} of the \
             largest bodies if that is more | {} | A quarter of {timeout}",
            rules(LARGE_BODIES)
        ),
        format!(
            "Memory of bodies of {tiny} to {small} KiB | {small_total} MiB | {} | \
             A quarter of {timeout}",
            rules(SMALL_BODIES)
        ),
        format!(
            "Bodies without a valid credential, or over the rate limit | {} | {} | None",
            REFUSED_BODIES.total,
            rules(REFUSED_BODIES)
        ),
        format!(
            "Bodies of log-ins to the Transit API | {} | {} | None",
            LOG_INS.total,
            rules(LOG_INS)
        ),
        format!("Forms of visitors of the dashboard | {} | {} | None", FORMS.total, rules(FORMS)),
        format!(
            "Refused log-ins and renewals of the Transit API | {} | {} | None",
            HELD_REFUSALS.total,
            rules(HELD_REFUSALS)
        ),
        format!(
            "Cores for large bodies | All cores, at least {} | {} | {timeout}",
            PROCESSORS.total,
            rules(PROCESSORS)
        ),
        format!(
            "Sessions of a token | `hsm.workers`, {} by default | Everything | \
             `hsm.queue`, {} by default | `hsm.deadline`",
            hsm.workers, hsm.queue
        ),
        format!(
            "Database connections for look-ups | {} | {} | {timeout}",
            LOOK_UPS.total,
            rules(LOOK_UPS)
        ),
        format!(
            "Database connections for searches and exports of the audit log | {SLOW_READS} | \
             Everything | No limit | {timeout}"
        ),
        format!(
            "Checks of keys to import | {} | {} | {timeout}",
            KEY_CHECKS.total,
            rules(KEY_CHECKS)
        ),
        format!(
            "Requests to the OpenID Connect provider | {} | {}; none for requests of Sealward itself | \
             {} | {timeout}",
            PROVIDER_REQUESTS.total,
            limit(PROVIDER_REQUESTS),
            queue(PROVIDER_REQUESTS)
        ),
    ]
}

fn rules(sharing: Sharing) -> String {
    format!("{} | {}", limit(sharing), queue(sharing))
}

fn limit(sharing: Sharing) -> String {
    match sharing.limit {
        OwnerLimit::Total => "Everything".to_owned(),
        OwnerLimit::AtMost(most) => most.to_string(),
        OwnerLimit::HalfOfRest => "Half of what others leave".to_owned(),
    }
}

fn queue(sharing: Sharing) -> String {
    match sharing.queue {
        UNBOUNDED => "No limit".to_owned(),
        most => most.to_string(),
    }
}
