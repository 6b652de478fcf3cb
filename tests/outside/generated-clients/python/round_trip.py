"""The round trip of a client that openapi-generator made for Python."""

import json
import os
import time

import openapi_client as sealward

REQUEST_ID = f"python {time.time_ns()}"
URL = os.environ["SEALWARD_URL"]


def connect(key):
    return sealward.ApiClient(sealward.Configuration(host=URL, access_token=key))


def create_keys(keys, service):
    for algorithm in "P-256", "AES-256", "Ed25519":
        key = keys.create_key(sealward.NewKey(service_id=service.id, generate=True, algorithm=algorithm))
        assert key.algorithm == algorithm
    jwk = sealward.Jwk(
        kty="EC",
        crv="P-256",
        x="MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        y="4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        kid="partner-1",
    )
    new = sealward.NewKey(service_id=service.id, use="sig", public_key=sealward.PemOrJwk(jwk))
    imported = keys.create_key(new)
    assert imported.public_key.x == jwk.x
    assert imported.partner_kid == "partner-1"
    return imported


def protect_and_unprotect(runtime):
    payload, context = {"card": "4111 1111 1111 1111", "amount": 12.5}, {"tenant": "acme"}
    request = sealward.ProtectRequest(payload=payload, context=context)
    envelope = runtime.protect(request, x_request_id=REQUEST_ID)
    request = sealward.UnprotectRequest(jwe=envelope.jwe, context=context)
    assert runtime.unprotect(request, x_request_id=REQUEST_ID).payload == payload


def operate(runtime, request):
    return runtime.operate(sealward.OperationRequest(request), x_request_id=REQUEST_ID).result


def encrypt_and_decrypt(runtime):
    payload = sealward.EncryptPayload(data="secret", algorithm="AES-256-GCM")
    made = operate(runtime, sealward.EncryptRequest(operation="encrypt", payload=payload))
    payload = sealward.DecryptPayload(
        ciphertext=made.ciphertext, iv=made.iv, tag=made.tag, algorithm="AES-256-GCM", key_id=made.key_id
    )
    opened = operate(runtime, sealward.DecryptRequest(operation="decrypt", payload=payload))
    assert opened.data == "secret"


def sign_and_verify(runtime):
    payload = sealward.SignPayload(data="message", algorithm="Ed25519")
    made = operate(runtime, sealward.SignRequest(operation="sign", payload=payload))
    payload = sealward.VerifyPayload(
        data="message", signature=made.signature, algorithm="Ed25519", key_id=made.key_id
    )
    assert operate(runtime, sealward.VerifyRequest(operation="verify", payload=payload)).valid is True


def hash_data(runtime):
    payload = sealward.HashPayload(data="abc", algorithm="SHA-256")
    made = operate(runtime, sealward.HashRequest(operation="hash", payload=payload))
    assert made.algorithm == "SHA-256" and made.hash


def refuse(runtime, imported):
    """An error has the one schema of all errors."""
    payload = sealward.SignPayload(data="message", algorithm="Ed25519", key_id=imported.id)
    try:
        operate(runtime, sealward.SignRequest(operation="sign", payload=payload))
    except sealward.ApiException as refusal:
        assert refusal.status == 400
        assert refusal.data.error.code == "INVALID_REQUEST"
        assert refusal.data.error.details[0].var_field == "payload.algorithm"
    else:
        raise AssertionError("an EC key signed as Ed25519")


def update(services, created):
    """The resource that GET returned is changed and sent back by PUT. Members that this client does not
    know stay as they are."""
    service = json.loads(services.read_service(created.id).to_json())
    known = {field.alias or name for name, field in sealward.ServiceChanges.model_fields.items()}
    changes = {name: value for name, value in service.items() if name in known}
    assert changes["id"] == created.id
    changes = sealward.ServiceChanges.from_dict({**changes, "description": "edited"})
    updated = services.update_service(created.id, changes)
    assert (updated.description, updated.name) == ("edited", created.name)


def audit(audit_log, service):
    page = audit_log.list_audit(limit=20, request_id=REQUEST_ID, application_id=service.id)
    assert len(page.items) == 8, page
    assert page.items[7].operation_type == "encrypt"
    assert page.items[0].response_status == 400
    assert page.next_cursor is None


def main():
    admin = connect(os.environ["SEALWARD_ADMIN_KEY"])
    services = sealward.ServicesApi(admin)
    service = services.create_service(sealward.NewService(name=REQUEST_ID))
    imported = create_keys(sealward.KeysApi(admin), service)
    policy = sealward.PoliciesApi(admin).create_policy(
        sealward.NewPolicy(
            name=REQUEST_ID,
            destination_service_id=service.id,
            alg="ECDH-ES+A256KW",
            allowed_service_ids=[service.id],
        )
    )
    api_key = sealward.APIKeysApi(admin).create_api_key(
        sealward.NewApiKey(
            name=REQUEST_ID, type="test", service_id=service.id, policy_number=policy.policy_number
        )
    )
    runtime = sealward.RuntimeApi(connect(api_key.secret))
    protect_and_unprotect(runtime)
    encrypt_and_decrypt(runtime)
    sign_and_verify(runtime)
    hash_data(runtime)
    refuse(runtime, imported)
    update(services, service)
    audit(sealward.AuditApi(admin), service)


main()
