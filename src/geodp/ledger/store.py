"""Transactions on a ledger's database: one writer at a time, durable when they return.

SQLite: BEGIN IMMEDIATE, write-ahead log, synchronous FULL. PostgreSQL: the ledger's row is locked
FOR UPDATE and synchronous_commit is on.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy import exc

from geodp.errors import LedgerError
from geodp.ledger import tables

_WAIT = 60.0  # seconds that a writer waits for the others
_POOL: dict[str, Any] = {"pool_size": 5, "max_overflow": 100, "pool_timeout": _WAIT}
_SHOWN = ("host", "port", "dbname", "options")  # of a URL's query; the rest may hold a password
_ROW = sa.select(tables.ledger)
_LOCKED = _ROW.with_for_update()
_inherited: list[Any] = []  # connections of a parent process: never used, never closed here


class Store:
    """Where a ledger lives: ``place`` is a file's path or a ``postgresql://`` URL.

    Safe to share between threads; a forked child opens connections of its own.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        text = os.fspath(place)
        self.is_file = "://" not in text or text.startswith("sqlite:///")
        self.path = Path(text.removeprefix("sqlite:///")).absolute() if self.is_file else None
        self._url = None if self.is_file else _postgres(text)
        self._lock = threading.Lock()
        self._engine: sa.Engine | None = None
        self._opened: tuple[int, int] | None = None  # which file the connections hold
        self._process = os.getpid()

    @property
    def shown(self) -> str:
        """The place without a password."""
        if self._url is None:
            return str(self.path)
        said = {name: self._url.query[name] for name in _SHOWN if name in self._url.query}
        return self._url.set(drivername="postgresql", query=said).render_as_string()

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that holds the ledger alone; durable when the block has ended."""
        with self._sentences("written"), self._begun("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees the ledger at one moment."""
        with self._sentences("read"), self._begun("BEGIN") as connection:
            if not self.is_file:
                connection.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            yield connection

    @contextmanager
    def _begun(self, begin: str) -> Iterator[sa.Connection]:
        with self._connected().connect() as connection:
            if self.is_file:
                connection.exec_driver_sql(begin)
                self._same_file()
            yield connection
            connection.commit()

    def _same_file(self) -> None:
        """A file that was replaced lives on unseen in open connections, and forgets its spends."""
        if self.path is not None and _identity(self.path) != self._opened:
            raise LedgerError(
                f"The file {self.shown!r} was removed or replaced while this program had it open. "
                "Nothing was written; start the program again."
            )

    def locked(self, connection: sa.Connection) -> sa.Row[Any]:
        """The ledger's row, which no other writer can read until this transaction ends."""
        return self._known(connection.execute(_LOCKED).one_or_none())

    def row(self, connection: sa.Connection) -> sa.Row[Any]:
        """The ledger's row, for reading."""
        return self._known(connection.execute(_ROW).one_or_none())

    def _known(self, row: sa.Row[Any] | None) -> sa.Row[Any]:
        if row is None:
            raise LedgerError(f"{self.shown!r} is no ledger of geodp.")
        if row.version != tables.VERSION:
            raise LedgerError(
                f"The ledger has layout version {row.version}, and this geodp knows version "
                f"{tables.VERSION}: use the geodp that wrote it. Nothing was changed."
            )
        return row

    def create(self) -> None:
        """Make the file (never over another); it keeps a write-ahead log from now on."""
        if self.path is None:
            return
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError as error:
            raise LedgerError(f"{self.shown!r} exists; name a new file.") from error
        except OSError as error:
            raise LedgerError(f"A ledger cannot be made at {self.shown!r}.") from error
        with self._sentences("made"), closing(_open_file(self.path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")

    def has_tables(self, connection: sa.Connection) -> bool:
        """Whether a ledger is here already."""
        return sa.inspect(connection).has_table(tables.ledger.name)

    def discard(self) -> None:
        """Remove the file of a ledger that could not be made."""
        self.close()
        if self.path is not None:
            for end in ("", "-wal", "-shm"):
                Path(f"{self.path}{end}").unlink(missing_ok=True)

    def close(self) -> None:
        """Close this process's connections; the next use opens new ones."""
        if self._process != os.getpid():  # a forked child has none of its own yet
            return
        with self._lock:
            _close(self._engine, self._process)
            self._engine = None

    def _connected(self) -> sa.Engine:
        if self._process != os.getpid():  # a forked child; the lock may be a lost thread's
            self._lock = threading.Lock()
            _inherited.append(self._engine)
            self._engine, self._process = None, os.getpid()
        with self._lock:
            if self._engine is None:
                self._engine = self._sqlite() if self._url is None else self._server(self._url)
                weakref.finalize(self, _close, self._engine, self._process)
            return self._engine

    def _sqlite(self) -> sa.Engine:
        assert self.path is not None
        self._opened = _identity(self.path)
        opened = partial(_open_file, self.path)
        return sa.create_engine("sqlite://", creator=opened, poolclass=sa.QueuePool, **_POOL)

    def _server(self, url: sa.URL) -> sa.Engine:
        try:
            engine = sa.create_engine(url, pool_pre_ping=True, **_POOL)
        except ImportError as error:
            raise LedgerError(
                "A ledger on PostgreSQL needs psycopg: pip install 'geodp[postgres]'."
            ) from error

        @sa.event.listens_for(engine, "begin")
        def durable(connection: sa.Connection) -> None:
            connection.exec_driver_sql("SET LOCAL synchronous_commit = on")

        return engine

    @contextmanager
    def _sentences(self, verb: str) -> Iterator[None]:
        try:
            yield
        except (exc.SQLAlchemyError, sqlite3.Error, OSError) as error:
            raise LedgerError(
                f"The ledger {self.shown!r} cannot be {verb}: {_why(error)}."
            ) from error


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands at a path, None where none does."""
    try:
        found = path.stat()
    except (OSError, ValueError):  # a text that can be no path has no file either
        return None
    return found.st_dev, found.st_ino


def _open_file(path: Path) -> sqlite3.Connection:
    if not path.exists():
        raise LedgerError(
            f"There is no ledger at {str(path)!r}. Make one: geodp ledger init FILE --gdp MU "
            "--unit person."
        )
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw",  # never makes a file
        uri=True,
        timeout=_WAIT,
        isolation_level=None,  # BEGIN is said above, not by the driver
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _close(engine: sa.Engine | None, process: int) -> None:
    """Close the connections, if this process opened them."""
    if engine is not None and process == os.getpid():
        engine.dispose()


def _postgres(text: str) -> sa.URL:
    try:
        url = sa.make_url(text)
    except (exc.ArgumentError, ValueError) as error:
        raise LedgerError("A ledger is a file, or a URL such as postgresql://host/base.") from error
    if url.get_backend_name() != "postgresql":
        raise LedgerError("A ledger lives in an SQLite file or in PostgreSQL (postgresql://…).")
    return url.set(drivername="postgresql+psycopg")


_REASONS = (
    ("disk is full", "the disk is full"),
    ("no space left", "the disk is full"),
    ("readonly", "it is read-only"),
    ("read-only", "it is read-only"),
    ("permission denied", "permission is denied"),
    ("malformed", "the file is damaged; restore a backup, and see 'geodp ledger verify'"),
    ("not a database", "the file is no database, or is damaged; restore a backup"),
    ("no such table", "it is no ledger of geodp, or is damaged"),
    ("does not exist", "it is no ledger of geodp, or there is no such database"),
    ("locked", "another program holds it"),
    ("unable to open", "it cannot be opened"),
    ("append-only", "entries are append-only"),
    ("disk i/o error", "the disk reports an error, or is full"),
    ("connection", "the database server does not answer"),
)


def _why(error: Exception) -> str:
    """The reason in our words: a driver's own message may show a statement and its values."""
    said = str(getattr(error, "orig", None) or error).lower()
    return next((words for sign, words in _REASONS if sign in said), "the database refused")
