"""The ledger's tables, the same on SQLite and PostgreSQL. Imported when a ledger is opened."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    DDL,
    CheckConstraint,
    Column,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
)

VERSION = 1
"""Of this layout; a ledger of another version is refused."""

metadata = MetaData()

ledger = Table(  # one row: what the ledger is, and where its chain ends; locked by every writer
    "geodp_ledger",
    metadata,
    Column("one", Integer, CheckConstraint("one = 1"), primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("id", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("neighbours", Text, nullable=False),
    Column("budget", Text, nullable=False),  # JSON of Budget.describe
    Column("public_key", Text, nullable=False),
    Column("key_path", Text, nullable=False),
    Column("entries", Integer, nullable=False),
    Column("head", Text, nullable=False),
)

entries = Table(  # append-only: what happened, in order, each line chained to the one before
    "geodp_entries",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),  # open, register, reserve, commit, hold, …
    Column("body", Text, nullable=False),  # canonical JSON
    Column("hash", Text, nullable=False),
)

datasets = Table(  # what each data set and group has spent: the sum over its entries
    "geodp_datasets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("partition", Text, primary_key=True),  # "" with the label "": the whole data set
    Column("label", Text, primary_key=True),
    Column("digest", Text),
    Column("spent", Text, nullable=False),  # p/q
)

HOLDS = ("held", "freed")
"""The states of a hold, which stands among the reservations."""

releases = Table(  # one row for each reservation and each hold
    "geodp_releases",
    metadata,
    Column("reservation", Integer, primary_key=True, autoincrement=False),
    Column("request_id", Text),
    Column("fingerprint", Text, nullable=False),
    Column("state", Text, nullable=False),  # reserved, stored, committed, failed, …
    Column("receipt", Text),
    UniqueConstraint("request_id", name="geodp_one_release_per_request"),
)

_ddl: Any = DDL  # untyped in SQLAlchemy

for change in ("UPDATE", "DELETE"):
    event.listen(
        entries,
        "after_create",
        _ddl(
            f"CREATE TRIGGER geodp_no_{change.lower()} BEFORE {change} ON geodp_entries "
            "BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END"
        ).execute_if(dialect="sqlite"),
    )
for statement in (
    "CREATE FUNCTION geodp_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'entries are append-only'; END $$",
    "CREATE TRIGGER geodp_no_change BEFORE UPDATE OR DELETE ON geodp_entries "
    "FOR EACH ROW EXECUTE FUNCTION geodp_append_only()",
):
    event.listen(entries, "after_create", _ddl(statement).execute_if(dialect="postgresql"))
