"""Checks what the files of a release say about themselves: statements.py FOLDER VERSION COMMIT LOCK [BILL]

SHA256SUMS names every file. The package in-toto-attestation parses the provenance, which is that of COMMIT and of a
Cargo.lock with the SHA-256 LOCK. Bills of materials match the official schema, which cyclonedx-python-lib has, also
BILL. vexipy parses the OpenVEX document.
"""

import json
import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from google.protobuf import json_format
from in_toto_attestation.predicates.provenance.v1.provenance_pb2 import Provenance
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementMessage
from vexipy import Document

# What every release is made of, besides the base images.
MATERIALS = {"sealward", "Cargo.lock", "rustc"}


def require(condition, problem):
    if not condition:
        sys.exit(f"error: {problem}")


def checksums(folder):
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def check_names(folder, sums):
    files = {path.name for path in folder.iterdir()} - {"SHA256SUMS", "SHA256SUMS.asc"}
    require(files == set(sums), f"SHA256SUMS and the folder differ: {sorted(files ^ set(sums))}")


def check_provenance(path, sums, commit, lock):
    """The parsers refuse unknown members and wrong types."""
    message = json_format.Parse(path.read_text(), StatementMessage())
    statement = Statement.copy_from_pb(message)
    statement.validate()
    require(message.predicate_type == "https://slsa.dev/provenance/v1", f"{path.name}: another type of predicate")
    subjects = {subject.name: subject.digest["sha256"] for subject in message.subject}
    others = {name: digest for name, digest in sums.items() if name != path.name}
    require(subjects == others, f"{path.name} and SHA256SUMS differ: {sorted(subjects.items() ^ others.items())}")

    predicate = json_format.Parse(json_format.MessageToJson(message.predicate), Provenance())
    definition = predicate.build_definition
    require(definition.build_type and definition.external_parameters, f"{path.name}: no definition of the build")
    require(predicate.run_details.builder.id, f"{path.name}: no builder")
    materials = {}
    for material in definition.resolved_dependencies:
        ResourceDescriptor.copy_from_pb(material).validate()
        require(material.digest, f"{path.name}: no digest of {material.name}")
        materials[material.name] = dict(material.digest)
    bases = [name for name in materials if name.split(":")[0] in ("rust", "debian")]
    require(set(materials) >= MATERIALS and len(bases) == 2, f"{path.name}: materials are missing: {list(materials)}")
    require(materials["sealward"] == {"gitCommit": commit}, f"{path.name}: not made from commit {commit}")
    require(materials["Cargo.lock"] == {"sha256": lock}, f"{path.name}: another Cargo.lock")


def check_bill(path):
    text = path.read_text()
    version = json.loads(text)["specVersion"]
    error = JsonStrictValidator(SchemaVersion.from_version(version)).validate_str(text)
    require(error is None, f"{path.name}: {str(error).split(chr(10), 1)[0]}")
    print(f"{path.name}: valid for the schema of CycloneDX {version}")


def check_vex(path):
    """The parser refuses values outside of the lists of OpenVEX, but no unknown members: it must keep all of them."""
    text = path.read_text()
    document = Document.from_json(text)
    kept = document.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"timestamp"})
    written = {name: value for name, value in json.loads(text).items() if name != "timestamp"}
    require(kept == written, f"{path.name}: OpenVEX has no such member: {kept} {written}")
    require(document.statements, f"{path.name}: no statement")
    print(f"{path.name}: vexipy parses {len(document.statements)} statements")


def main(folder, version, commit, lock, *bills):
    folder = Path(folder)
    sums = checksums(folder)
    check_names(folder, sums)
    provenance = folder / f"sealward-{version}.provenance.json"
    check_provenance(provenance, sums, commit, lock)
    print(f"{provenance.name}: in-toto-attestation parses it, with {len(sums) - 1} subjects")
    for name in (f"sealward-{version}.cdx.json", f"sealward-{version}-image.cdx.json"):
        check_bill(folder / name)
    for bill in bills:
        check_bill(Path(bill))
    for path in folder.glob("*.openvex.json"):
        check_vex(path)


main(*sys.argv[1:])
