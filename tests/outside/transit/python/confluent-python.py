"""The HashiCorp Vault driver of Confluent's client-side field-level encryption, with a token and with AppRole."""

import os

from confluent_kafka.schema_registry.rules.encryption.hcvault.hcvault_driver import HcVaultKmsDriver

URI = f"hcvault://{os.environ['VAULT_ADDR']}/transit/keys/data"


def round_trip(settings: dict[str, str]) -> None:
    aead = HcVaultKmsDriver().new_kms_client(settings, URI).get_aead(URI)
    sealed = aead.encrypt(b"a data encryption key", b"")
    assert sealed.startswith(b"vault:v1:"), sealed
    assert aead.decrypt(sealed, b"") == b"a data encryption key"


round_trip({})
del os.environ["VAULT_TOKEN"]
round_trip(
    {"approle.role.id": os.environ["VAULT_ROLE_ID"], "approle.secret.id": os.environ["VAULT_SECRET_ID"]}
)
