"""Running the page: bound to this machine, one address printed, an end on Ctrl-C."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from geodp.errors import InputError


def serve(port: int, ledger: str, announce: Callable[[str], None]) -> None:
    """Serve the page on 127.0.0.1 until interrupted. ``announce`` gets its address, token included,
    once the port is bound; port 0 takes a free one.

    ``InputError`` where the port is taken or the extra is not installed.
    """
    try:
        import uvicorn

        from geodp.web.app import make_app
        from geodp.web.desk import Desk
        from geodp.web.fields import Fields
        from geodp.web.guard import Session
        from geodp.web.question import START
        from geodp.web.view import view_of
    except ImportError as error:
        raise InputError("The page needs an extra: pip install 'geodp[web]'.") from error
    bound = _bound(port)
    session = Session(bound.getsockname()[1])
    desk = Desk()
    app = make_app(session, ledger, desk)
    config = uvicorn.Config(
        app,
        log_level=logging.WARNING,
        access_log=False,  # addresses could hold what was typed
        proxy_headers=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=2,
    )
    try:
        server = uvicorn.Server(config)
        with _ended_in_order(server):
            view_of(Fields(START), desk)  # imports what the first view needs
            announce(session.url)
            server.run(sockets=[bound])
    finally:
        desk.close()
        bound.close()


@contextmanager
def _ended_in_order(server: Any) -> Iterator[None]:
    """Let a request to terminate end the program as any exit does: uvicorn raises the signal again
    when it has shut down, which would leave semaphores of the other process behind."""
    if threading.current_thread() is not threading.main_thread():
        yield  # no signal arrives here
        return
    heard: list[int] = []

    def leave(number: int, _: object) -> None:
        heard.append(number)
        server.should_exit = True

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
    if heard:
        raise SystemExit(128 + heard[0])


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
        bound.listen()  # whoever reads the address may come before the server runs
    except OSError as error:
        bound.close()
        raise InputError(f"The port {port} is taken or not allowed: name another.") from error
    return bound
