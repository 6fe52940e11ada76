"""The application: the page, and everything it asks for under ``/api/``."""

import asyncio
import csv
import io
import json
import shutil
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from unbend.arrays import IntArray
from unbend.web.data import BINARY, decode_integers, encode_floats, encode_integers
from unbend.web.density import Window
from unbend.web.jobs import SECONDS_BETWEEN, FullQueue, Job, describe_error
from unbend.web.methods import describe_methods
from unbend.web.reading import Reading
from unbend.web.security import Guard, Keys
from unbend.web.tables import OversizedUpload, check_suffix, receive_upload
from unbend.web.workspace import FILES, TASKS, Unknown, Workspace

BUNDLE = Path(__file__).parent / "bundle"
PAGE = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/app.css": ("app.css", "text/css; charset=utf-8"),
    "/frame.html": ("frame.html", "text/html; charset=utf-8"),
    "/frame.js": ("frame.js", "text/javascript; charset=utf-8"),
    "/frame.css": ("frame.css", "text/css; charset=utf-8"),
    "/licenses.txt": ("licenses.txt", "text/plain; charset=utf-8"),
}
# Bytes of a request that is no upload, and rows of which cells are sent at once.
MOST_BYTES, MOST_CELLS = 8_000_000, 500
# Seconds that a body may pause, and pages that may watch the jobs at once.
STALL_SECONDS, MOST_STREAMS = 30.0, 64
# Digits of a row number.
MOST_DIGITS = 12
GONE = "there is no such thing here: it may have been removed"

Handler = Callable[[Request], Awaitable[Response]]


class Oversized(ValueError):
    """A request with more bytes than any of the page's."""


class Stalled(ValueError):
    """A request whose body stopped arriving."""


class TooManyStreams(RuntimeError):
    """More pages watch the jobs than any person has open."""


def make_app(workspace: Workspace, keys: Keys) -> Starlette:
    """Return the application, guarded."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        # Imports all methods while the browser starts.
        threading.Thread(target=describe_methods, daemon=True).start()
        try:
            yield
        finally:
            await run_in_threadpool(workspace.close)

    app = Starlette(
        routes=[*_page_routes(), *_api_routes()],
        middleware=[Middleware(Guard, keys=keys)],
        exception_handlers={
            Unknown: _answer(404, GONE),
            # Its files were removed while it was being read.
            FileNotFoundError: _answer(404, GONE),
            FullQueue: _answer(429),
            TooManyStreams: _answer(429),
            Stalled: _answer(408),
            OversizedUpload: _answer(413),
            Oversized: _answer(413),
            MemoryError: _answer(507),
            ValueError: _answer(400),
            TypeError: _answer(400),
        },
        lifespan=lifespan,
    )
    app.state.workspace, app.state.keys, app.state.streams = workspace, keys, 0
    return app


def _answer(status: int, sentence: str = "") -> Any:
    async def handle(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": sentence or describe_error(error)}, status_code=status)

    return handle


def _page_routes() -> list[Route]:
    def route(path: str, name: str, kind: str) -> Route:
        async def send(request: Request) -> Response:
            return FileResponse(BUNDLE / name, media_type=kind)

        return Route(path, send)

    return [route(path, name, kind) for path, (name, kind) in PAGE.items()]


def _api_routes() -> list[Route]:
    def get(path: str, handler: Handler) -> Route:
        return Route(f"/api/{path}", handler)

    def post(path: str, handler: Handler) -> Route:
        return Route(f"/api/{path}", handler, methods=["POST"])

    def delete(path: str, handler: Handler) -> Route:
        return Route(f"/api/{path}", handler, methods=["DELETE"])

    return [
        post("session", start_session),
        get("methods", list_methods),
        get("tables", list_tables),
        post("tables", open_table),
        post("uploads", upload_table),
        get("tables/{id}/columns/{place:int}", send_column),
        post("tables/{id}/rows", send_rows),
        post("tables/{id}/selection", describe_selection),
        post("tables/{id}/download", download_rows),
        post("tables/{id}/advice", advise),
        get("jobs", list_jobs),
        post("jobs", start_fit),
        get("jobs/{id}", send_result),
        delete("jobs/{id}", cancel_job),
        get("events", send_events),
        get("embeddings", list_embeddings),
        delete("embeddings/{id}", forget_embedding),
        post("embeddings/{id}/tasks/{task}", start_task),
        post("embeddings/{id}/samples", place_samples),
        get("embeddings/{id}/neighbors", send_neighbors),
        get("embeddings/{id}/density", send_density),
        get("embeddings/{id}/files/{name}", send_file),
        get("embeddings/{id}/{name}", send_array),
    ]


def _workspace(request: Request) -> Workspace:
    found: Workspace = request.app.state.workspace
    return found


async def _chunks(request: Request) -> AsyncIterator[bytes]:
    """Yield the body as it arrives."""
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout(STALL_SECONDS):
                chunk = await anext(stream, None)
        except TimeoutError:
            raise Stalled(f"no part of the request arrived for {STALL_SECONDS:.0f} s") from None
        except ClientDisconnect:
            raise ValueError("the request was interrupted") from None
        if chunk is None:
            return
        yield chunk


async def _body(request: Request) -> bytes:
    parts, size = [], 0
    async for chunk in _chunks(request):
        size += len(chunk)
        if size > MOST_BYTES:
            raise Oversized("the request is too large")
        parts.append(chunk)
    return b"".join(parts)


async def _json(request: Request) -> dict[str, Any]:
    body = await _body(request)
    try:
        read = json.loads(body)
        # What is kept of a request is sent again: NaN, infinity and halves of characters could not.
        json.dumps(read, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise TypeError("the request is not a JSON object")
    return read


async def _rows(request: Request, count: int) -> IntArray:
    """Return the row numbers of the body, each below `count`."""
    rows = decode_integers(await _body(request))
    if len(rows) and rows.max() >= count:
        raise ValueError(f"the table has {count} rows")
    return rows


async def start_session(request: Request) -> Response:
    """Exchange the token for a cookie."""
    keys: Keys = request.app.state.keys
    given = await _json(request)
    if not keys.admits(given.get("token")):
        return JSONResponse({"error": "open the address that unbend serve printed"}, 401)
    return JSONResponse({}, headers={"Set-Cookie": keys.set_cookie()})


async def list_methods(request: Request) -> Response:
    """Send the cards of all methods."""
    return JSONResponse(await run_in_threadpool(describe_methods))


async def list_tables(request: Request) -> Response:
    """Send the files of the served folder, and the open tables."""
    workspace = _workspace(request)
    files = await run_in_threadpool(workspace.folder.list_files)
    opened = [table.to_dict() for table in list(workspace.tables.values())]
    return JSONResponse({"files": files, "tables": opened, "first": workspace.first})


async def open_table(request: Request) -> Response:
    """Open a file of the served folder."""
    workspace, given = _workspace(request), await _json(request)
    path = workspace.folder.find(str(given.get("name", "")))
    table, job = workspace.open_table(workspace.folder.name_of(path), path)
    return JSONResponse({"table": table.to_dict(), "job": job.id})


async def upload_table(request: Request) -> Response:
    """Receive a table and open it."""
    workspace = _workspace(request)
    name, path = await _receive(request)
    try:
        table, job = workspace.open_table(name, path)
    except FullQueue:
        shutil.rmtree(path.parent, ignore_errors=True)
        raise
    return JSONResponse({"table": table.to_dict(), "job": job.id})


async def _receive(request: Request) -> tuple[str, Path]:
    """Write an upload to a file of ours; its name is only text to show."""
    workspace = _workspace(request)
    name = Path(request.query_params.get("name", "")).name
    suffix = check_suffix(name)
    target = workspace.new_folder() / f"upload{suffix}"
    declared = request.headers.get("content-length")
    try:
        await receive_upload(_chunks(request), declared, target, workspace.upload_limit)
    except BaseException:
        shutil.rmtree(target.parent, ignore_errors=True)
        raise
    return name, target


async def send_column(request: Request) -> Response:
    """Send a column as float32: numbers, or codes of its levels."""
    table = _workspace(request).table(request.path_params["id"])
    place = request.path_params["place"]
    if not 0 <= place < len(table.names):
        raise Unknown(place)
    return Response(encode_floats(table.columns[place]), media_type=BINARY)


async def send_rows(request: Request) -> Response:
    """Send the cells of some rows, as text and numbers."""
    table = _workspace(request).table(request.path_params["id"])
    rows = await _rows(request, table.columns.shape[1])
    return JSONResponse({"columns": table.names, "cells": table.cells(rows[:MOST_CELLS])})


async def describe_selection(request: Request) -> Response:
    """Send what distinguishes some rows from the others."""
    table = _workspace(request).table(request.path_params["id"])
    rows = await _rows(request, table.columns.shape[1])
    return JSONResponse(await run_in_threadpool(table.describe_selection, rows))


async def download_rows(request: Request) -> Response:
    """Send some rows as CSV, with their places in the table, counted from 1."""
    table = _workspace(request).table(request.path_params["id"])
    rows = await _rows(request, table.columns.shape[1])

    def write() -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["row", *table.names])
        writer.writerows(
            [row + 1, *cells] for row, cells in zip(rows, table.cells(rows), strict=True)
        )
        return text.getvalue()

    return Response(await run_in_threadpool(write), media_type="text/csv; charset=utf-8")


async def advise(request: Request) -> Response:
    """Start to look for a method."""
    workspace = _workspace(request)
    table = workspace.table(request.path_params["id"])
    reading = Reading.from_json(str(table.path), await _json(request), table.version)
    return JSONResponse(workspace.advise(table, reading).to_dict())


async def start_fit(request: Request) -> Response:
    """Queue a fit."""
    workspace, given = _workspace(request), await _json(request)
    table = workspace.table(str(given.get("table")))
    reading = Reading.from_json(str(table.path), _mapping(given, "reading"), table.version)
    parameters = _mapping(given, "parameters")
    embedding, job = workspace.fit(table, reading, str(given.get("method")), parameters)
    return JSONResponse({"embedding": embedding.to_dict(), "job": job.to_dict()})


def _mapping(given: dict[str, Any], name: str) -> dict[str, Any]:
    value = given.get(name, {})
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be an object")
    return value


async def list_jobs(request: Request) -> Response:
    """Send all jobs."""
    return JSONResponse(_workspace(request).jobs.to_list())


def _job(request: Request) -> Job:
    job = _workspace(request).jobs.find(request.path_params["id"])
    if job is None:
        raise Unknown(request.path_params["id"])
    return job


async def send_result(request: Request) -> Response:
    """Send a job with its result."""
    job = _job(request)
    return JSONResponse({**job.to_dict(), "result": job.result})


async def cancel_job(request: Request) -> Response:
    """Cancel a job."""
    job = _job(request)
    await run_in_threadpool(_workspace(request).jobs.cancel, job)
    return JSONResponse(job.to_dict())


async def send_events(request: Request) -> Response:
    """Send the jobs whenever they change, ten times a second at most."""
    jobs, shared = _workspace(request).jobs, request.app.state
    if shared.streams >= MOST_STREAMS:
        raise TooManyStreams(f"{MOST_STREAMS} pages are open already: close some of them")

    async def events() -> AsyncIterator[str]:
        seen = -1
        shared.streams += 1
        try:
            while True:
                if jobs.version != seen:
                    seen = jobs.version
                    yield f"data: {json.dumps(jobs.to_list())}\n\n"
                await asyncio.sleep(SECONDS_BETWEEN)
        finally:
            shared.streams -= 1

    return StreamingResponse(events(), media_type="text/event-stream")


async def list_embeddings(request: Request) -> Response:
    """Send all embeddings."""
    made = list(_workspace(request).embeddings.values())
    return JSONResponse([embedding.to_dict() for embedding in made])


async def forget_embedding(request: Request) -> Response:
    """Remove an embedding."""
    workspace = _workspace(request)
    embedding = workspace.embedding(request.path_params["id"])
    await run_in_threadpool(workspace.forget, embedding)
    return JSONResponse({})


async def start_task(request: Request) -> Response:
    """Start a measurement of an embedding."""
    workspace = _workspace(request)
    embedding = workspace.embedding(request.path_params["id"])
    if request.path_params["task"] not in TASKS:
        raise Unknown(request.path_params["task"])
    return JSONResponse(workspace.run_task(request.path_params["task"], embedding).to_dict())


async def place_samples(request: Request) -> Response:
    """Receive a table of new samples and start to transform it."""
    workspace = _workspace(request)
    embedding = workspace.embedding(request.path_params["id"])
    _, path = await _receive(request)
    try:
        job = workspace.run_task("place_samples", embedding, path=str(path))
    except (FullQueue, ValueError):
        shutil.rmtree(path.parent, ignore_errors=True)
        raise
    return JSONResponse(job.to_dict())


async def send_neighbors(request: Request) -> Response:
    """Send the neighbours of a row in the data, then those in the map, as uint32."""
    embedding = _workspace(request).embedding(request.path_params["id"])
    word = request.query_params.get("row", "")
    if not word.isdecimal() or len(word) > MOST_DIGITS:
        raise ValueError("row must be an integer")
    pair = await run_in_threadpool(embedding.neighbors, int(word))
    return Response(encode_integers(np.concatenate(pair)), media_type=BINARY)


async def send_density(request: Request) -> Response:
    """Send the points in each pixel of a window, then a row in each of them, as uint32."""
    embedding = _workspace(request).embedding(request.path_params["id"])
    window = Window.from_query(request.query_params)
    return Response(
        encode_integers(await run_in_threadpool(embedding.density, window)), media_type=BINARY
    )


async def send_array(request: Request) -> Response:
    """Send an array of an embedding as float32."""
    embedding = _workspace(request).embedding(request.path_params["id"])
    values = await run_in_threadpool(embedding.array, request.path_params["name"])
    columns = values.shape[1] if values.ndim == 2 else 1
    headers = {"X-Columns": str(columns)}
    return Response(encode_floats(values), media_type=BINARY, headers=headers)


async def send_file(request: Request) -> Response:
    """Send a file of an embedding to export."""
    embedding = _workspace(request).embedding(request.path_params["id"])
    name = request.path_params["name"]
    if name == "coordinates.csv":
        text = await run_in_threadpool(_write_coordinates, embedding)
        return _attach(Response(text, media_type="text/csv; charset=utf-8"), name)
    path = embedding.folder / name
    if name not in FILES or not path.exists():
        raise Unknown(name)
    return _attach(FileResponse(path, media_type=BINARY), name)


def _attach(response: Response, name: str) -> Response:
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _write_coordinates(embedding: Any) -> str:
    """Return the coordinates with all digits, and the place of each row, counted from 1."""
    coordinates = embedding.coordinates
    names = [f"{embedding.method}_{number + 1}" for number in range(coordinates.shape[1])]
    lines = [",".join(["row", *names])]
    for row, values in zip(embedding.rows, coordinates.tolist(), strict=True):
        lines.append(",".join([str(row + 1), *map(repr, values)]))
    return "\n".join(lines) + "\n"
