"""The durable budget: a file or a PostgreSQL database that remembers every spend."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from geodp.errors import InputError, LedgerError
from geodp.ledger.budget import Budget
from geodp.ledger.check import Check
from geodp.ledger.keys import Keys
from geodp.ledger.neighbours import NEIGHBOURS
from geodp.ledger.receipt import Mark
from geodp.ledger.totals import Part, part_of, total
from geodp.privacy.guarantees import Guarantee

if TYPE_CHECKING:
    from geodp.ledger.account import Account
    from geodp.ledger.store import Store

KEY_VARIABLE = "GEODP_LEDGER_KEY"


@final
class Ledger:
    """A budget for one set of people, which outlives programs and crashes.

    Every data set in it is about the same people, and every release is charged before it looks at
    a record. ``place`` is an SQLite file or a ``postgresql://`` URL; ``key`` the file with the
    ledger's keys (default: beside the file, or where ``create`` put it). Safe to share between
    threads and processes.

    Examples
    --------
    >>> import tempfile, numpy as np, geodp as gd
    >>> place = tempfile.mkdtemp() + "/budget.db"
    >>> ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person")
    >>> mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))
    >>> paid = {"ledger": ledger, "dataset": "study", "mechanism": gd.Wrapped(gd.Gaussian())}
    >>> out = gd.release(np.zeros((9, 2)), mean, gd.GaussianDP(0.5), **paid)
    >>> ledger.left
    GaussianDP(mu=0.866025)
    """

    def __init__(
        self, place: str | os.PathLike[str], key: str | os.PathLike[str] | None = None
    ) -> None:
        if not isinstance(place, (str, os.PathLike)) or not os.fspath(place):
            raise InputError("A ledger is named by its file or its postgresql:// URL.")
        from geodp.ledger.store import Store

        self._store = Store(place)
        self._key = None if key is None else Path(key)

    @classmethod
    def create(
        cls,
        place: str | os.PathLike[str],
        guarantee: Guarantee,
        *,
        unit: str,
        neighbours: str = NEIGHBOURS,
        key: str | os.PathLike[str] | None = None,
    ) -> Ledger:
        """Make a ledger with a budget for each ``unit`` (person, scan, trial) and its keys.

        Raises LedgerError where one exists or the place cannot be written, GuaranteeError for a
        notion in which releases chosen one after another do not add up.
        """
        from geodp.ledger.opening import create

        if not isinstance(guarantee, Guarantee):
            raise InputError("The budget is a guarantee such as gd.GaussianDP(2).")
        if not isinstance(unit, str) or not unit.strip():
            raise InputError("The unit says in a word whom the budget protects: person, scan.")
        ledger = cls(place, key)
        identity = uuid.uuid4().hex
        create(ledger._store, ledger._key_path(None), identity, guarantee, unit.strip(), neighbours)
        return ledger

    @property
    def store(self) -> Store:
        """The database."""
        return self._store

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """What never changes: id, unit, neighbours, budget, public_key, key_path."""
        from geodp.ledger.opening import facts

        return facts(self._store)

    @property
    def id(self) -> str:
        """The ledger's name in receipts, 32 random hexadecimal digits."""
        return str(self.facts["id"])

    @property
    def unit(self) -> str:
        """Whom the budget protects."""
        return str(self.facts["unit"])

    @property
    def neighbours(self) -> str:
        """Between which data sets the promises are made."""
        return str(self.facts["neighbours"])

    @property
    def public_key(self) -> str:
        """What verifies the ledger's receipts: an Ed25519 key in base64."""
        return str(self.facts["public_key"])

    @cached_property
    def budget(self) -> Budget:
        """The limit, exact, in the notion that adds."""
        return Budget.read(self.facts["budget"])

    @cached_property
    def keys(self) -> Keys:
        """The secrets, read from their file; LedgerError where that is not to be had, or holds
        another ledger's."""
        keys = Keys.load(self.key_path, self.id)
        if keys.public != self.public_key:
            raise LedgerError("The ledger's key is not the one that the ledger names.")
        return keys

    @property
    def key_path(self) -> Path:
        """The file of the secrets."""
        return self._key_path(self.facts["key_path"])

    def spent(self) -> Fraction:
        """The most that any one unit has been charged, in the additive number."""
        from geodp.ledger.reading import spent

        return total(spent(self._store))

    def left_for(self, dataset: str | None = None, group: str | None = None) -> Fraction:
        """What a release on this data set or group may still cost."""
        from geodp.ledger.reading import spent

        amounts = spent(self._store)
        if dataset is None:
            return self.budget.limit - total(amounts)
        part = part_of(dataset, group)
        siblings = [
            amount
            for other, amount in amounts.items()
            if (other.dataset, other.partition) == (part.dataset, part.partition)
        ]
        slack = max(siblings, default=Fraction(0)) - amounts.get(part, Fraction(0))
        return self.budget.limit - total(amounts) + slack

    def account(self, part: Part, request_id: str | None) -> Account:
        """The account that pays for one release."""
        from geodp.ledger.paid import PaidAccount

        return PaidAccount(self, part, request_id)

    @property
    def left(self) -> Guarantee | None:
        """The largest promise (of six digits) that can still be paid; None when nothing can."""
        return self.budget.fitting(self.left_for())

    def spend(
        self,
        guarantee: Guarantee,
        *,
        dataset: str,
        note: str,
        group: str | None = None,
        unit: str | None = None,
        neighbours: str | None = None,
        request_id: str | None = None,
    ) -> Mark:
        """Enter what another program released about these people, so that it counts.

        ``guarantee`` is that release's own promise, to one of the ledger's units and neighbours. It
        is charged in the ledger's notion, or converted to it rounding up. ``note`` says what it
        was, and is public; a retry under the same ``request_id`` is charged once.

        Raises LedgerRefusal where the budget does not pay, or where nothing follows from the
        promise in the ledger's notion; MismatchError for another unit or neighbour relation.

        Examples
        --------
        >>> import tempfile, geodp as gd
        >>> place = tempfile.mkdtemp() + "/budget.db"
        >>> ledger = gd.Ledger.create(place, gd.GaussianDP(1), unit="person")
        >>> ledger.spend(gd.GaussianDP(0.6), dataset="study", note="Histogram of ages.").price
        '0.36'
        >>> ledger.left
        GaussianDP(mu=0.8)
        """
        from geodp.ledger.spends import spend

        return spend(self, guarantee, dataset, group, note, unit, neighbours, request_id)

    def move(
        self, place: str | os.PathLike[str], key: str | os.PathLike[str] | None = None
    ) -> Ledger:
        """Move the ledger, with its chain, to a new file or an empty database; this one closes.

        The chain is verified before and after, and goes on at the new place: same keys, same
        request ids, same receipts. ``key`` names a new place for the key file, which is copied
        (default: beside a new file; for a database, where it is). A closed ledger refuses further
        spends and says where it went. A move that broke off is finished by calling it again.

        Raises LedgerError where a ledger is there already or this one does not verify.
        """
        from geodp.ledger.moving import move

        new = Ledger(place, key)
        move(self, new)
        return new

    def show(self) -> dict[str, Any]:
        """The budget, what is spent and left, and the data sets, as a JSON document."""
        from geodp.ledger.reading import show

        return show(self)

    def history(self, last: int | None = None) -> list[dict[str, Any]]:
        """The entries in their order, or the ``last`` of them."""
        from geodp.ledger.reading import history

        return history(self._store, last)

    def export(self) -> dict[str, Any]:
        """Everything in the ledger but its secrets, as a JSON document."""
        from geodp.ledger.reading import export

        return export(self._store)

    def verify(self, against: Sequence[Mapping[str, Any]] = ()) -> list[Check]:
        """Recompute the chain, the totals, and every release's way through the ledger.

        ``against`` holds JSON documents that name entries of this ledger, receipts or exports of a
        copy: an entry that is missing or another here shows a restored or a second copy.
        """
        from geodp.ledger.branches import check_all
        from geodp.ledger.reading import damage

        found = damage(self._store)
        if found is not None:
            return [Check("database", False, found)]
        sound = Check("database", True, "The database finds no damage in itself.")
        return [sound, *check_all(self.export(), against)]

    def close(self) -> None:
        """Close this process's connections; the next use opens new ones and reads all anew."""
        self._store.close()
        for name in ("facts", "budget", "keys"):
            self.__dict__.pop(name, None)

    def key_path_for(self, kept: Path) -> Path:
        """Where a ledger that moves to this place has its secrets, that were at ``kept``."""
        return self._key_path(str(kept))

    def _key_path(self, kept: str | None) -> Path:
        if self._key is not None:
            return self._key
        if os.environ.get(KEY_VARIABLE):
            return Path(os.environ[KEY_VARIABLE])
        if self._store.path is not None:
            return self._store.path.with_name(self._store.path.name + ".key")
        if kept:
            return Path(kept)
        raise LedgerError(
            "A ledger on PostgreSQL keeps its keys in a file outside the database: name it with "
            f"key=, --key or the variable {KEY_VARIABLE}."
        )

    def __repr__(self) -> str:
        return f"Ledger({self._store.shown!r})"

    def __reduce__(self) -> Any:
        place = self._store.path
        if place is None:
            raise TypeError("A ledger on a server is not pickled: its URL may hold a password.")
        return Ledger, (str(place), None if self._key is None else str(self._key))
