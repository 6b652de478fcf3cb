"""hvac: every function of its Transit engine, its log-ins and its errors."""

import base64
import os

import hvac
from hvac import exceptions

ADDRESS = os.environ["VAULT_ADDR"]


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def refused(kind: type[Exception], call, **arguments) -> str:
    """The message of the refusal, which must be of this class."""
    try:
        call(**arguments)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


def encryption(transit) -> None:
    text = transit.encrypt_data(name="data", plaintext=encode(b"card"))["data"]["ciphertext"]
    assert text.startswith("vault:v1:"), text
    assert transit.decrypt_data(name="data", ciphertext=text)["data"]["plaintext"] == encode(b"card")
    again = transit.rewrap_data(name="data", ciphertext=text)["data"]["ciphertext"]
    assert again != text
    bound = transit.encrypt_data(name="data", plaintext=encode(b""), associated_data=encode(b"row 7"))
    opened = transit.decrypt_data(name="data", ciphertext=bound["data"]["ciphertext"], associated_data=encode(b"row 7"))
    assert opened["data"]["plaintext"] == ""
    message = refused(exceptions.InvalidRequest, transit.decrypt_data, name="data", ciphertext=bound["data"]["ciphertext"])
    assert "message authentication failed" in message, message


def batches(transit) -> None:
    items = [{"plaintext": encode(b"one")}, {"plaintext": encode(b"two")}]
    results = transit.encrypt_data(name="data", plaintext=None, batch_input=items)["data"]["batch_results"]
    results = transit.decrypt_data(
        name="data", ciphertext=None, batch_input=[{"ciphertext": item["ciphertext"]} for item in results]
    )
    assert [item["plaintext"] for item in results["data"]["batch_results"]] == [encode(b"one"), encode(b"two")]


def data_keys(transit) -> None:
    key = transit.generate_data_key(name="data", key_type="plaintext", bits=256)["data"]
    assert len(base64.b64decode(key["plaintext"])) == 32
    assert transit.decrypt_data(name="data", ciphertext=key["ciphertext"])["data"]["plaintext"] == key["plaintext"]
    assert "plaintext" not in transit.generate_data_key(name="data", key_type="wrapped")["data"]


def signatures(transit) -> None:
    message = encode(b"contract")
    for name, options in [
        ("ec", {}),
        ("ec", {"marshaling_algorithm": "jws"}),
        ("ed", {}),
        ("rsa", {"signature_algorithm": "pss"}),
        ("rsa", {"signature_algorithm": "pkcs1v15", "hash_algorithm": "sha2-512"}),
    ]:
        signature = transit.sign_data(name=name, hash_input=message, **options)["data"]["signature"]
        assert signature.startswith("vault:v1:"), signature
        for text, valid in [(message, True), (encode(b"forgery"), False)]:
            answer = transit.verify_signed_data(name=name, hash_input=text, signature=signature, **options)
            assert answer["data"]["valid"] is valid, (name, options)
    mac = transit.generate_hmac(name="mac", hash_input=message)["data"]["hmac"]
    assert transit.verify_signed_data(name="mac", hash_input=message, hmac=mac)["data"]["valid"] is True


def hashes(transit) -> None:
    digest = transit.hash_data(hash_input=encode(b"abc"), algorithm="sha2-256")["data"]["sum"]
    assert digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", digest
    number = transit.generate_random_bytes(n_bytes=16)["data"]["random_bytes"]
    assert len(base64.b64decode(number)) == 16


def keys(transit) -> None:
    read = transit.read_key(name="ec")["data"]
    assert (read["type"], read["latest_version"]) == ("ecdsa-p256", 1), read
    assert read["keys"]["1"]["public_key"].startswith("-----BEGIN PUBLIC KEY-----"), read
    listed = transit.list_keys()["data"]["keys"]
    assert {"data", "ec", "ed", "mac", "rsa"} <= set(listed), listed
    refused(exceptions.InvalidPath, transit.read_key, name="missing")


def log_ins() -> None:
    client = hvac.Client(ADDRESS, token="stale")
    refused(exceptions.Forbidden, client.secrets.transit.list_keys)
    answer = client.auth.approle.login(os.environ["VAULT_ROLE_ID"], os.environ["VAULT_SECRET_ID"])
    assert answer["auth"]["lease_duration"] > 0, answer
    encryption(client.secrets.transit)
    assert client.auth.token.lookup_self()["data"]["ttl"] > 0
    assert client.auth.token.renew_self()["auth"]["client_token"] == client.token
    client.auth.token.revoke_self()
    for mount in ["jwt", "kubernetes"]:
        client = hvac.Client(ADDRESS)
        login = client.auth.jwt.jwt_login if mount == "jwt" else client.auth.kubernetes.login
        client.token = login(role="app", jwt=os.environ["VAULT_JWT"])["auth"]["client_token"]
        keys(client.secrets.transit)
    refused(exceptions.InvalidRequest, hvac.Client(ADDRESS).auth.approle.login, role_id="app", secret_id="wrong")


client = hvac.Client(ADDRESS, token=os.environ["VAULT_TOKEN"])
assert client.is_authenticated()
assert not client.sys.is_sealed()
assert client.sys.read_health_status(method="GET")["sealed"] is False
for check in [encryption, batches, data_keys, signatures, hashes, keys]:
    check(client.secrets.transit)
log_ins()
