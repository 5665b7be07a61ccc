"""The page as an ASGI application: addresses, forms in, HTML out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

import geodp as gd
from geodp.errors import GeodpError, InputError, LedgerRefusal
from geodp.web.asking import DEFAULT_CONFIDENCE, task_of
from geodp.web.desk import Desk
from geodp.web.fields import Fields
from geodp.web.guard import Guard, Session
from geodp.web.ledgers import ledger_facts, stored_receipt
from geodp.web.pages import Pages, is_broad, static
from geodp.web.planned import Plans
from geodp.web.question import START
from geodp.web.receipts import Inferred, Kept, Receipts, read
from geodp.web.sent import Upload
from geodp.web.view import view_of

_LARGEST_FIELD = 2**20
_BUG = "Unexpected {}: this is a bug in geodp. Its message is withheld, since it might show data."
_DAMAGED = "This form is damaged, or a text in it is too long. Nothing was done."
_STALE = "This form is from another session: open the page again. Nothing was done."

Form: TypeAlias = "tuple[dict[str, str], dict[str, Upload]]"


@final
class Page:
    """The handlers, and what they share: plans that wait, receipts seen, rows being worked out."""

    def __init__(self, session: Session, ledger: str, desk: Desk) -> None:
        self.session, self.ledger, self.desk = session, ledger, desk
        self.plans, self.receipts = Plans(), Receipts()
        self.pages = Pages(session.csrf)

    def planner(self, request: Request) -> Response:
        """The planner; asked by htmx, its answer and the sentences beside its fields."""
        fields = Fields({**START, **dict(request.query_params)})
        view = view_of(fields, self.desk)
        part = "hx-request" in request.headers
        name = "planner_view.html" if part else "planner.html"
        text = self.pages.render(name, tab="planner", fields=fields, view=view, swap=part)
        return HTMLResponse(text, 200 if view is not None else 422)

    def release_form(self, request: Request) -> Response:
        """The form of a release; it takes over what the planner was asked."""
        start = {**START, "statistic": "frechet-mean", "mechanism": "best", "ledger": self.ledger}
        start["confidence"] = f"{DEFAULT_CONFIDENCE:g}"
        fields = Fields({**start, **dict(request.query_params)})
        return self._release_page(fields, 200)

    def _release_page(self, fields: Fields, status: int) -> Response:
        text = self.pages.render(
            "release.html",
            tab="release",
            fields=fields,
            made=self.receipts.made(),
            inferences=self.receipts.inferences(),
        )
        return HTMLResponse(text, status)

    def release_plan(self, form: Form) -> Response:
        """Make the plan and go to it; nothing is spent."""
        texts, files = form
        fields = Fields(texts)
        task = task_of(fields, files.get("upload"))
        if task is None:
            return self._release_page(fields, 422)
        return RedirectResponse(f"/release/plan/{self.plans.hold(task).nonce}", 303)

    def release_planned(self, request: Request) -> Response:
        """A plan that waits for its confirmation."""
        planned = self.plans.get(request.path_params["nonce"])
        if planned is None:
            raise HTTPException(404)
        done = None if planned.outcome is None else self.receipts.place_of(planned.outcome)
        text = self.pages.render(
            "plan.html", tab="release", planned=planned, task=planned.task, done=done
        )
        return HTMLResponse(text)

    def release_confirm(self, form: Form) -> Response:
        """Spend, once, and go to the receipt."""
        texts, _ = form
        outcome = self.plans.confirm(texts.get("digest", ""), texts.get("nonce", ""))
        return RedirectResponse(self.receipts.place_of(outcome), 303)

    def inference(self, request: Request) -> Response:
        """An inference: region, intervals, and the receipts of its numbers."""
        kept = self._inferred(request)
        text = self.pages.render("inference.html", tab="release", kept=kept, found=kept.found)
        return HTMLResponse(text)

    def inference_json(self, request: Request) -> Response:
        """The whole inference to keep, receipts included."""
        kept = self._inferred(request)
        return _document(kept.found.to_json(), f"inference-{kept.name[:8]}.json")

    def inference_picture(self, request: Request) -> Response:
        """The confidence region, drawn; not found where there is no matplotlib."""
        return _drawing(self._inferred(request).picture)

    def _inferred(self, request: Request) -> Inferred:
        kept = self.receipts.inferred(request.path_params["name"])
        if kept is None:
            raise HTTPException(404)
        return kept

    def receipt_form(self, request: Request) -> Response:
        """Where a receipt is sent to be checked, and those of this session."""
        return self._receipt_page(Fields({}), 200)

    def _receipt_page(self, fields: Fields, status: int) -> Response:
        text = self.pages.render(
            "receipts.html",
            tab="receipt",
            fields=fields,
            made=self.receipts.made(),
            inferences=self.receipts.inferences(),
        )
        return HTMLResponse(text, status)

    def receipt_check(self, form: Form) -> Response:
        """Read a receipt and go to its page."""
        texts, files = form
        fields, upload = Fields(texts, _LARGEST_FIELD), files.get("receipt")
        sent = b"" if upload is None else upload.stream.read(20_000_001)
        release = fields.read("receipt", lambda text: read(sent or text.encode()))
        if release is None:
            return self._receipt_page(fields, 422)
        return RedirectResponse(f"/receipt/{self.receipts.keep(release, made=False).name}", 303)

    def receipt(self, request: Request) -> Response:
        """A receipt with its checks."""
        kept = self._kept(request)
        try:
            text = self.pages.render(
                "receipt.html",
                tab="receipt",
                kept=kept,
                checks=gd.verify(kept.release),
                broad=is_broad(kept.release),
            )
        except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, GeodpError):
                raise
            raise InputError("The receipt has a field of the wrong kind.") from error
        return HTMLResponse(text)

    def receipt_json(self, request: Request) -> Response:
        """The receipt to keep."""
        kept = self._kept(request)
        return _document(kept.release.to_json(), f"receipt-{kept.name[:8]}.json")

    def receipt_picture(self, request: Request) -> Response:
        """The released value, drawn; not found where there is no matplotlib."""
        return _drawing(self._kept(request).picture)

    def _kept(self, request: Request) -> Kept:
        kept = self.receipts.get(request.path_params["name"])
        if kept is None:
            raise HTTPException(404)
        return kept

    def ledger_page(self, request: Request) -> Response:
        """What a ledger allows, has spent, has left, and its history."""
        fields = Fields({"ledger": request.query_params.get("ledger", self.ledger)})
        facts = fields.read("ledger", ledger_facts)
        status = 422 if fields.errors else 200
        text = self.pages.render("ledger.html", tab="ledger", fields=fields, facts=facts)
        return HTMLResponse(text, status)

    def ledger_receipt(self, request: Request) -> Response:
        """A receipt that a ledger holds."""
        place, entry = (request.query_params.get(name, "") for name in ("ledger", "entry"))
        kept = self.receipts.keep(stored_receipt(place, entry), made=False)
        return RedirectResponse(f"/receipt/{kept.name}", 303)

    def failed(self, error: Exception) -> Response:
        """A sentence on a page; a message that could show data is withheld."""
        status, said = 500, _BUG.format(type(error).__name__)
        if isinstance(error, HTTPException):
            status = error.status_code
            said = _DAMAGED if status == 400 else "There is no such page, or it is no longer held."
        elif isinstance(error, LedgerRefusal):
            status, said = 409, str(error)
        elif isinstance(error, GeodpError):
            status, said = 422, str(error)
        return HTMLResponse(self.pages.render("sentence.html", tab="", sentence=said), status)


def _document(document: Any, name: str) -> Response:
    """JSON to keep as a file."""
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/json", headers=headers)


def _drawing(picture: bytes | None) -> Response:
    if picture is None:
        raise HTTPException(404)
    return Response(picture, media_type="image/svg+xml")


Handler: TypeAlias = "Callable[[Any], Response]"


def make_app(session: Session, ledger: str = "", desk: Desk | None = None) -> Guard:
    """The application; ``ledger`` is the one that forms start with.

    ``desk`` works out what takes long (default: in a process of its own).
    """
    page = Page(session, ledger, Desk() if desk is None else desk)

    def shown(handler: Handler) -> Any:
        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(_answered, page, handler, request)

        return endpoint

    def sent(handler: Handler) -> Any:
        async def endpoint(request: Request) -> Response:
            async with request.form(max_part_size=_LARGEST_FIELD) as data:
                if data.get("csrf") != session.csrf:
                    text = page.pages.render("sentence.html", tab="", sentence=_STALE)
                    return HTMLResponse(text, 403)
                return await run_in_threadpool(_answered, page, handler, _form(data))

        return endpoint

    def get(path: str, handler: Handler) -> Route:
        return Route(path, shown(handler), methods=["GET"])

    def post(path: str, handler: Handler) -> Route:
        return Route(path, sent(handler), methods=["POST"])

    async def not_found(request: Request, error: Exception) -> Response:
        return page.failed(error)

    routes = [
        get("/", page.planner),
        get("/release", page.release_form),
        post("/release/plan", page.release_plan),
        get("/release/plan/{nonce}", page.release_planned),
        post("/release/confirm", page.release_confirm),
        get("/inference/{name}", page.inference),
        get("/inference/{name}/json", page.inference_json),
        get("/inference/{name}/picture.svg", page.inference_picture),
        get("/ledger", page.ledger_page),
        get("/ledger/receipt", page.ledger_receipt),
        get("/receipt", page.receipt_form),
        post("/receipt/check", page.receipt_check),
        get("/receipt/{name}", page.receipt),
        get("/receipt/{name}/json", page.receipt_json),
        get("/receipt/{name}/picture.svg", page.receipt_picture),
        Route("/static/{name}", static, methods=["GET"]),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        page.desk.close()

    handlers: Any = {404: not_found, 405: not_found, 400: not_found}
    return Guard(Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan), session)


def _answered(page: Page, handler: Handler, given: Any) -> Response:
    try:
        return handler(given)
    except Exception as error:
        return page.failed(error)


def _form(data: FormData) -> Form:
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    files = {
        name: Upload(value.filename, value.file)
        for name, value in data.items()
        if isinstance(value, UploadFile) and value.filename
    }
    return texts, files
