"""Fields of SQLAlchemy and Django, against a real service."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
import pytest
import sqlalchemy
from django.conf import settings
from django.core.exceptions import FieldError
from django.db import connection
from django.db import models as django_models
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from sealward import Client, DecryptionFailed
from sealward.django import ProtectedField
from sealward.sqlalchemy import Protected, Sealed

WORLD = json.loads(Path(os.environ["SEALWARD_WORLD"]).read_text())
IBANS = [f"DE{number:020}" for number in range(5)]

client = Client(WORLD["service"], WORLD["apiKey"])
settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    SEALWARD_CLIENT="test_fields.make_client",
)
django.setup()


def make_client() -> Client:
    return client


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customers"

    id: Mapped[int] = mapped_column(primary_key=True)
    iban: Mapped[Any] = mapped_column(Protected(client, table="customers", column="iban"))
    note: Mapped[Any] = mapped_column(Protected(client, table="customers", column="note"), nullable=True)


class Person(django_models.Model):
    iban = ProtectedField(table="people", column="iban")
    note = ProtectedField(table="people", column="note", null=True)

    class Meta:
        app_label = "people"


@pytest.fixture
def session() -> Iterator[Session]:
    engine = sqlalchemy.create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        yield session
    engine.dispose()


@pytest.fixture
def people() -> Iterator[type[Person]]:
    with connection.schema_editor() as editor:
        editor.create_model(Person)
    yield Person
    with connection.schema_editor() as editor:
        editor.delete_model(Person)


def test_sqlalchemy_stores_envelopes_and_loads_sealed_values(session: Session) -> None:
    session.add_all(Customer(iban=iban) for iban in IBANS)
    session.commit()
    stored = session.execute(sqlalchemy.text("select iban, note from customers")).all()
    assert all(set(json.loads(iban)) == {"protected", "encrypted_key", "iv", "ciphertext", "tag"} for iban, _ in stored)
    assert {note for _, note in stored} == {None}
    customers = session.scalars(sqlalchemy.select(Customer).order_by(Customer.id)).all()
    assert customers[0].iban.value == IBANS[0]
    assert client.open_all(customer.iban for customer in customers) == IBANS
    assert all(customer.iban.is_open for customer in customers)


def test_sqlalchemy_stores_a_loaded_value_unchanged(session: Session) -> None:
    session.add(Customer(iban=IBANS[0]))
    session.commit()
    [customer] = session.scalars(sqlalchemy.select(Customer)).all()
    jwe = customer.iban.jwe
    session.add(Customer(iban=customer.iban, note=customer.iban))
    session.commit()
    copy = session.scalars(sqlalchemy.select(Customer).order_by(Customer.id.desc())).first()
    assert copy is not None
    assert copy.iban.jwe == jwe
    assert copy.note.jwe != jwe, "another column has another context"
    assert copy.note.value == IBANS[0]


def test_value_of_another_column_does_not_open(session: Session) -> None:
    session.add(Customer(iban=IBANS[0]))
    session.commit()
    session.execute(sqlalchemy.text("update customers set note = iban"))
    [note] = session.scalars(sqlalchemy.select(Customer.note)).all()
    with pytest.raises(DecryptionFailed):
        _ = note.value
    with pytest.raises(DecryptionFailed):
        client.open_all([note])


def test_django_stores_envelopes_and_loads_sealed_values(people: type[Person]) -> None:
    for iban in IBANS:
        people.objects.create(iban=iban)
    with connection.cursor() as cursor:
        cursor.execute("select iban, note from people_person")
        assert all("ciphertext" in json.loads(iban) and note is None for iban, note in cursor.fetchall())
    loaded = list(people.objects.order_by("id"))
    assert client.open_all(person.iban for person in loaded) == IBANS
    assert list(people.objects.filter(note__isnull=True)) == loaded
    with pytest.raises(FieldError):
        people.objects.filter(iban="x")


def test_django_stores_a_loaded_value_unchanged(people: type[Person]) -> None:
    people.objects.create(iban={"a": [1, None]})
    person = people.objects.get()
    jwe = person.iban.jwe
    person.save()
    assert people.objects.get().iban.jwe == jwe
    assert people.objects.get().iban.value == {"a": [1, None]}


def test_django_field_has_a_migration() -> None:
    _, path, _, options = Person._meta.get_field("iban").deconstruct()
    assert (path, options) == ("sealward.django.ProtectedField", {"table": "people", "column": "iban"})


def test_sealed_value_does_not_show_its_value() -> None:
    context = {"table": "t", "column": "c"}
    sealed = Sealed(client, client.protect("s3cret", context=context).jwe, context, None)
    assert sealed.value == "s3cret"
    assert "s3cret" not in repr(sealed)
