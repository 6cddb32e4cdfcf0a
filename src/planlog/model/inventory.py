"""Asks providers which models they have."""

import anyio
import httpx2
import msgspec

from planlog.model.connection import Connection, failure_of, unreachable, whole_body
from planlog.model.model import ModelError
from planlog.model.providers import Address, dialect_of
from planlog.model.refusals import malformed, of_provider

SECONDS = 15.0
"""How long one provider may take."""


class _Model(msgspec.Struct):
    id: str


class _Page(msgspec.Struct):
    data: list[_Model] | None


async def models_of(address: Address, connection: Connection) -> list[str]:
    """The names of all models at `address`, sorted. Raises `ModelError`."""
    try:
        with anyio.fail_after(SECONDS):
            return sorted(
                {name for model in await _page(address, connection) if (name := model.id.removeprefix("models/"))}
            )
    except ModelError as error:
        raise of_provider(error, address) from None
    except TimeoutError:
        text = f"did not say within {SECONDS:.0f} s which models it has"
        raise of_provider(ModelError(text, code="MODEL_SILENT"), address) from None


async def _page(address: Address, connection: Connection) -> list[_Model]:
    url = address.url + address.provider.models_path
    try:
        async with connection.client().stream("GET", url, headers=dialect_of(address).headers(address.key)) as response:
            if response.status_code != 200:
                raise await failure_of(response)
            body = await whole_body(response)
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise unreachable(error, url) from None
    return _decoded(body).data or []


def _decoded(body: bytes) -> _Page:
    try:
        return msgspec.json.decode(body, type=_Page)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise malformed("something else than a list of models; check the base URL") from None
