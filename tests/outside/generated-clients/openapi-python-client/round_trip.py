"""The round trip of a client that openapi-python-client made."""

import os
import time

from sealward_client import AuthenticatedClient, models
from sealward_client.api.api_keys import create_api_key
from sealward_client.api.audit import list_audit
from sealward_client.api.keys import create_key
from sealward_client.api.policies import create_policy
from sealward_client.api.runtime import operate as operate_call
from sealward_client.api.runtime import protect, unprotect
from sealward_client.api.services import create_service, read_service, update_service

REQUEST_ID = f"openapi-python-client {time.time_ns()}"
URL = os.environ["SEALWARD_URL"]


def connect(key):
    return AuthenticatedClient(base_url=URL, token=key)


def create_keys(admin, service):
    for algorithm in "P-256", "AES-256", "Ed25519":
        algorithm = models.KeyAlgorithm(algorithm)
        new = models.NewKey(service_id=service.id, generate=True, algorithm=algorithm)
        assert create_key.sync(client=admin, body=new).algorithm == algorithm.value
    jwk = models.Jwk(
        kty="EC",
        crv="P-256",
        x="MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        y="4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        kid="partner-1",
    )
    new = models.NewKey(service_id=service.id, use=models.KeyUse.SIG, public_key=jwk)
    imported = create_key.sync(client=admin, body=new)
    assert imported.public_key.x == jwk.x
    assert imported.partner_kid == "partner-1"
    return imported


def protect_and_unprotect(runtime):
    payload = {"card": "4111 1111 1111 1111", "amount": 12.5}
    context = models.Context.from_dict({"tenant": "acme"})
    request = models.ProtectRequest(payload=payload, context=context)
    envelope = protect.sync(client=runtime, body=request, x_request_id=REQUEST_ID)
    request = models.UnprotectRequest(jwe=envelope.jwe, context=context)
    assert unprotect.sync(client=runtime, body=request, x_request_id=REQUEST_ID).payload == payload


def operate(runtime, request):
    answer = operate_call.sync(client=runtime, body=request, x_request_id=REQUEST_ID)
    return answer.result if isinstance(answer, models.OperationAnswer) else answer


def encrypt_and_decrypt(runtime):
    cipher = models.Cipher("AES-256-GCM")
    payload = models.EncryptPayload(data="secret", algorithm=cipher)
    operation = models.EncryptRequestOperation.ENCRYPT
    made = operate(runtime, models.EncryptRequest(operation=operation, payload=payload))
    payload = models.DecryptPayload(
        ciphertext=made.ciphertext, iv=made.iv, tag=made.tag, algorithm=cipher, key_id=made.key_id
    )
    operation = models.DecryptRequestOperation.DECRYPT
    assert operate(runtime, models.DecryptRequest(operation=operation, payload=payload)).data == "secret"


def sign_and_verify(runtime):
    payload = models.SignPayload(data="message", algorithm=models.SignatureAlgorithm.ED25519)
    operation = models.SignRequestOperation.SIGN
    made = operate(runtime, models.SignRequest(operation=operation, payload=payload))
    payload = models.VerifyPayload(
        data="message", signature=made.signature, algorithm=payload.algorithm, key_id=made.key_id
    )
    operation = models.VerifyRequestOperation.VERIFY
    assert operate(runtime, models.VerifyRequest(operation=operation, payload=payload)).valid is True


def hash_data(runtime):
    payload = models.HashPayload(data="abc", algorithm=models.HashAlgorithm("SHA-256"))
    operation = models.HashRequestOperation.HASH
    made = operate(runtime, models.HashRequest(operation=operation, payload=payload))
    assert made.algorithm == "SHA-256" and made.hash_


def refuse(runtime, imported):
    """An error has the one schema of all errors."""
    algorithm = models.SignatureAlgorithm.ED25519
    payload = models.SignPayload(data="message", algorithm=algorithm, key_id=imported.id)
    operation = models.SignRequestOperation.SIGN
    refusal = operate(runtime, models.SignRequest(operation=operation, payload=payload))
    assert isinstance(refusal, models.ErrorResponse)
    assert refusal.error.code == "INVALID_REQUEST"
    assert refusal.error.details[0].field == "payload.algorithm"


def update(admin, created):
    """The resource that GET returned is changed and sent back by PUT. Members that this client does not
    know stay as they are."""
    service = read_service.sync(created.id, client=admin)
    service.additional_properties.clear()
    changes = models.ServiceChanges.from_dict(service.to_dict())
    assert changes.id == created.id
    changes.description = "edited"
    updated = update_service.sync(created.id, client=admin, body=changes)
    assert (updated.description, updated.name) == ("edited", created.name)


def audit(admin, service):
    page = list_audit.sync(client=admin, limit=20, request_id=REQUEST_ID, application_id=service.id)
    assert len(page.items) == 8, page
    assert page.items[7].operation_type == "encrypt"
    assert page.items[0].response_status == 400
    assert page.next_cursor is None


def main():
    admin = connect(os.environ["SEALWARD_ADMIN_KEY"])
    service = create_service.sync(client=admin, body=models.NewService(name=REQUEST_ID))
    imported = create_keys(admin, service)
    policy = create_policy.sync(
        client=admin,
        body=models.NewPolicy(
            name=REQUEST_ID,
            destination_service_id=service.id,
            alg=models.KeyWrappingAlgorithm("ECDH-ES+A256KW"),
            allowed_service_ids=[service.id],
        ),
    )
    new = models.NewApiKey(
        name=REQUEST_ID,
        type_=models.ApiKeyType.TEST,
        service_id=service.id,
        policy_number=policy.policy_number,
    )
    runtime = connect(create_api_key.sync(client=admin, body=new).secret)
    protect_and_unprotect(runtime)
    encrypt_and_decrypt(runtime)
    sign_and_verify(runtime)
    hash_data(runtime)
    refuse(runtime, imported)
    update(admin, service)
    audit(admin, service)


main()
