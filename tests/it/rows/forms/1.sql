-- Rows in the first form, without their seals. Each table has a row with a value in as many columns as can have one.

INSERT INTO services (id, name, description, status, tier, requests_per_second, burst, publish_keys, created_at, updated_at, deleted_at)
VALUES ('01900000-0000-7000-8000-000000000001', 'billing', 'é', 'frozen', 'enterprise', 7, 9, true, '2026-01-02T03:04:05.678Z',
        '2026-01-03T03:04:05.678Z', '2026-01-04T03:04:05.678Z');

INSERT INTO emergency (id, status, reason, frozen_at, frozen_by, revision)
VALUES ('00000000-0000-0000-0000-000000000001', 'frozen', 'a stolen key', '2026-01-02T03:04:05Z', 'anna', 1);

INSERT INTO policies (id, policy_number, name, description, destination_service_id, key_ownership, alg, enc, headers,
                      context_required, require_binding, allowed_service_ids, allowed_operations, status, failure_mode,
                      created_at, updated_at, deleted_at)
VALUES ('01900000-0000-7000-8000-000000000002', 'POL-1', 'partner', 'for a partner', '01900000-0000-7000-8000-000000000001',
        'destination_managed', 'ECDH-ES+A256KW', 'A256GCM', '{"typ": "JOSE", "iat": true, "cty": "json"}', false, false,
        '{01900000-0000-7000-8000-000000000001}', '{protect,rewrap}', 'inactive', 'drop', '2026-01-02T03:04:05.678Z',
        '2026-01-03T03:04:05.678Z', '2026-01-04T03:04:05.678Z');

INSERT INTO keys (id, service_id, name, version, usage, algorithm, origin, status, token_id, extractable, public_key, thumbprint,
                  canary, partner_kid, expires_at, rotation_days, succeeds, activated_at, destroy_at, destroying_at, created_at,
                  updated_at)
VALUES ('01900000-0000-7000-8000-000000000003', '01900000-0000-7000-8000-000000000001', 'card numbers', 3, 'sig', 'P-256',
        'generated', 'pending_destruction', '\x0a0b', false, '\x3059301306072a8648ce3d020106082a8648ce3d03010703420004e318aa14e63078bac714e9d4139f9f18598ce84cc334c8fc99605738142c842ad9d1d031ff2594eabf2b9abce08b4fc4842b8bf155d99ac0f5b5bb7d38b5825a', 'a thumbprint', '\x7b7d', 'kid of the partner',
        '2027-01-01T00:00:00Z', 30, '01900000-0000-7000-8000-000000000003', '2026-01-02T03:04:05.678Z',
        '2026-02-01T00:00:00Z', '2026-02-01T00:00:01Z', '2026-01-02T03:04:05.678Z', '2026-01-03T03:04:05.678Z');

INSERT INTO import_keys (id, mechanism, public_key, attempts, attempted_at, used_at, expires_at, destroyed_at, revision,
                         created_at)
VALUES ('01900000-0000-7000-8000-000000000004', 'RSA_OAEP_SHA1_AES_KWP', '\x30820122300d06092a864886f70d01010105000382010f003082010a0282010100ca91599db59a72909a6ea70434aac7787cc0590e2952148d93e58cb7610a793913e29e45274ac320b336acf2126948f84b1a4a38046ab1ad17b9868f6b16fea95ef5e3571f276055ef398ef9af9152bb9965c45925541146b99bc7c7ac87c8b1481a6c99698364dc10417729ce5f735d30b95e503d4df678b28db9c66463d741f8e2dc25fb4cb3cc727706cfacecf92986b82474c6464fe5771f38df7726c31ea3036d3c82de4292b4effc8aedf2802035409dc2131e3e9f7c88a8bade2f8c604e5b8bed5be725950a55c54512cebcb51f46bf7cc616b9646492633ccefb45dfc47709a51bed34d4aeec21311e2286ae0ee364a1fefec6ad1b29bce933be536d0203010001', 2, '2026-01-02T03:04:06Z',
        '2026-01-02T03:04:07Z', '2026-01-03T03:04:05Z', '2026-01-02T03:04:08Z', 1, '2026-01-02T03:04:05Z');

INSERT INTO api_keys (id, name, type, service_id, policy_id, allowed_operations, allowed_cidrs, certificate_sha256, digest,
                      known_to, last_four, expires_at, revoked_at, last_used_at, created_at, updated_at)
VALUES ('01900000-0000-7000-8000-000000000005', 'in production', 'live', '01900000-0000-7000-8000-000000000001',
        '01900000-0000-7000-8000-000000000002', '{protect,hash}', '{192.0.2.0/24,2001:db8::/32}',
        decode(repeat('0c', 32), 'hex'), decode(repeat('0d', 32), 'hex'), '{anna,bert}', 'abcd', '2027-01-01T00:00:00Z',
        '2026-01-05T00:00:00Z', '2026-01-04T00:00:00Z', '2026-01-02T03:04:05.678Z', '2026-01-03T03:04:05.678Z');

INSERT INTO api_keys (id, name, type, roles, person, digest, last_four, created_at, updated_at)
VALUES ('01900000-0000-7000-8000-000000000006', 'owner', 'admin', '{owner,auditor}', 'anna',
        decode(repeat('0e', 32), 'hex'), 'efgh', '2026-01-02T03:04:05.678Z', '2026-01-03T03:04:05.678Z');

INSERT INTO identities (id, name, service_id, policy_id, allowed_operations, match, status, last_used_at, created_at,
                        updated_at, deleted_at)
VALUES ('01900000-0000-7000-8000-000000000007', 'job', '01900000-0000-7000-8000-000000000001',
        '01900000-0000-7000-8000-000000000002', '{sign}',
        '{"issuer": "https://issuer.example", "claims": {"repository": "a/b"}}', 'disabled', '2026-01-04T00:00:00Z',
        '2026-01-02T03:04:05.678Z', '2026-01-03T03:04:05.678Z', '2026-01-05T00:00:00Z');

INSERT INTO people (id, issuer, subject, name, roles, locked_at, locked_by, lock_reason, tokens_from, issued_at,
                    is_confirmed, by_id_token, by_access_token, last_seen_at, revision, created_at, updated_at)
VALUES ('01900000-0000-7000-8000-000000000008', 'https://provider.example', 'anna', 'Anna', '{owner}',
        '2026-01-04T00:00:00Z', 'bert', 'left', '2026-01-03T00:00:00Z', '2026-01-02T03:04:05Z', true, true, true,
        '2026-01-02T03:04:05Z', 1, '2026-01-02T03:04:05.678Z', '2026-01-03T03:04:05.678Z');

INSERT INTO dashboard_sessions (id, digest, person_id, at_provider, checked_at, started_at, seen_at, revision)
VALUES ('01900000-0000-7000-8000-000000000009', decode(repeat('0f', 32), 'hex'), '01900000-0000-7000-8000-000000000008',
        'a session of the provider', '2026-01-02T03:04:06Z', '2026-01-02T03:04:05Z', '2026-01-02T03:05:05Z', 1);

INSERT INTO changes (id, kinds, summary, resource_type, resource_id, target_id, target_revision, before, after, call,
                     proposer_key, proposer_id, proposer_person, proposer_name, proposed_at, expires_at, status, required,
                     approvals, approver_ids, rejection, revision)
VALUES ('01900000-0000-7000-8000-00000000000a', '{policy.open,api-key.admin}', 'Open the policy', 'policy',
        '01900000-0000-7000-8000-000000000002', '01900000-0000-7000-8000-000000000002', 4, '{"a": 1}', '{"a": [2, null]}',
        '{"verb": "update", "resource_type": "policy", "body": null, "credential": null, "usable_until": null}',
        '01900000-0000-7000-8000-000000000006', '01900000-0000-7000-8000-000000000008', 'anna', 'owner',
        '2026-01-02T03:04:05Z', '2026-01-05T03:04:05Z', 'applied', 1,
        '[{"person": "bert", "at": "2026-01-03T00:00:00.000Z", "comment": "yes"}]',
        '{01900000-0000-7000-8000-000000000006}',
        '{"person": "carla", "at": "2026-01-03T00:00:00.000Z", "comment": null}', 1);

INSERT INTO audit_log_keys (id, public_key, created_at)
VALUES ('01900000-0000-7000-8000-00000000000b', '\x3059301306072a8648ce3d020106082a8648ce3d03010703420004e318aa14e63078bac714e9d4139f9f18598ce84cc334c8fc99605738142c842ad9d1d031ff2594eabf2b9abce08b4fc4842b8bf155d99ac0f5b5bb7d38b5825a', '2026-01-02T03:04:05Z');

INSERT INTO audit_log_cosigners (id, public_key, created_at)
VALUES ('01900000-0000-7000-8000-00000000000c', '\x3059301306072a8648ce3d020106082a8648ce3d03010703420004e318aa14e63078bac714e9d4139f9f18598ce84cc334c8fc99605738142c842ad9d1d031ff2594eabf2b9abce08b4fc4842b8bf155d99ac0f5b5bb7d38b5825a', '2026-01-02T03:04:05Z');

INSERT INTO audit_log_heads (log, origin, size) VALUES (1, 'example.com/operations', 7);

INSERT INTO audit_log_origins (id, origin, accepted, foreign_segments, forged_segments)
    VALUES ('00000000-0000-0000-0000-000000000001', 'example.com/operations', 0, '{00000000-0000-0000-0000-000000000002}', '{}');

INSERT INTO report_keys (id, public_key, created_at)
VALUES ('01900000-0000-7000-8000-00000000000d', '\x3059301306072a8648ce3d020106082a8648ce3d03010703420004e318aa14e63078bac714e9d4139f9f18598ce84cc334c8fc99605738142c842ad9d1d031ff2594eabf2b9abce08b4fc4842b8bf155d99ac0f5b5bb7d38b5825a', '2026-01-02T03:04:05Z');
