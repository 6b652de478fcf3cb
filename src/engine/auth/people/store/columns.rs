//! What the rows of people are read with.

/// The time when a person or one of their admin keys was last seen.
pub(in crate::auth::people) const LAST_SEEN_AT: &str =
    "greatest(last_seen_at, (SELECT max(used.last_used_at) FROM api_keys used
                              WHERE used.person = subject)) AS last_seen_at";

/// The identifiers of their admin keys, the oldest first.
pub(in crate::auth::people) const API_KEY_IDS: &str = "ARRAY(SELECT named.id FROM api_keys named
           WHERE named.person = subject ORDER BY named.id) AS api_key_ids";
