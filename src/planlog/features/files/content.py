"""Turns the bytes of a file into text and back, so that the same text is exactly the same bytes."""

import codecs
from collections.abc import Iterator
from typing import Literal

import msgspec

from planlog.tools.tool import ToolFailure

Encoding = Literal["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "latin-1"]

# That of UTF-32 begins with that of UTF-16.
_MARKS: tuple[tuple[bytes, Encoding], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
BINARY = "binary file"
_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"II*\0", "TIFF image"),
    (b"MM\0*", "TIFF image"),
    (b"\0\0\1\0", "icon"),
    (b"%PDF-", "PDF"),
    (b"\x7fELF", "ELF program"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (b"\xca\xfe\xba\xbe\0\0\0\2", "Mach-O program"),
    (b"\xca\xfe\xba\xbe", "Java class"),
    (b"MZ\x90\0", "Windows program"),
    (b"\0asm", "WebAssembly"),
    (b"\x1f\x8b\x08", "gzip archive"),
    (b"PK\3\4", "zip archive"),
    (b"PK\5\6", "zip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"OggS", "Ogg file"),
    (b"fLaC", "FLAC audio"),
    (b"ID3", "MP3 audio"),
    (b"wOFF", "font"),
    (b"wOF2", "font"),
)
STEP = 1 << 18
HEAD = 64
"""Bytes of a file that are enough to name its kind."""


class Content(msgspec.Struct, frozen=True):
    """A file's text, and what else its bytes say: `bom` is the mark before it, `newline` what its line feeds are.

    Only where every line ends in CRLF is `newline` "\\r\\n", and the text has line feeds for it; mixed ends stay in
    the text as they are.
    """

    text: str
    encoding: Encoding = "utf-8"
    newline: Literal["\n", "\r\n"] = "\n"
    bom: bytes = b""


def decode(data: bytes) -> Content | None:
    """The content of a text file: what its mark says, else UTF-8, else Latin-1. None for one that is binary."""
    bom, encoding = encoding_of(data)
    try:
        text = _decoded(data[len(bom) :], encoding)
    except UnicodeDecodeError:
        # Neither UTF-8 nor what its mark promised: every byte is a character, unless it is an image or the like.
        if b"\0" in data or kind_of(data[:HEAD]) != BINARY:
            return None
        return _with_lines(Content(_decoded(data, "latin-1"), "latin-1"))
    return None if "\0" in text else _with_lines(Content(text, encoding, bom=bom))


def encoding_of(head: bytes) -> tuple[bytes, Encoding]:
    """The mark at the beginning and the encoding that it means; UTF-8 where there is none."""
    for bom, encoding in _MARKS:
        if head.startswith(bom):
            return bom, encoding
    return b"", "utf-8"


def _with_lines(content: Content) -> Content:
    text = content.text
    if "\r" not in text:
        return content
    returns, feeds, both = (sum(step.count(end) for step in _steps(text)) for end in ("\r", "\n", "\r\n"))
    if not returns == feeds == both:
        return content
    return msgspec.structs.replace(content, text=_replaced(text, "\r\n", "\n"), newline="\r\n")


# All that goes over a whole text does it in steps: one call of a method of `str` holds up every other thread.


def _steps(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        end = at + STEP
        if text[end - 1 : end + 1] == "\r\n":
            end += 1
        yield text[at:end]
        at = end


def _decoded(data: bytes, encoding: Encoding) -> str:
    decoder = codecs.getincrementaldecoder(encoding)()
    steps = [decoder.decode(data[at : at + STEP]) for at in range(0, len(data), STEP)]
    return "".join([*steps, decoder.decode(b"", final=True)])


def _replaced(text: str, old: str, new: str) -> str:
    return "".join(step.replace(old, new) for step in _steps(text))


def encode(content: Content, text: str) -> bytes:
    """The bytes of a file like `content` with `text` in it; for its own text, the bytes that it was decoded from.

    Raises `ToolFailure` for a character that the file's encoding does not have.
    """
    if content.newline == "\r\n":
        text = _replaced(_replaced(text, "\r\n", "\n"), "\n", "\r\n")
    try:
        return b"".join([content.bom, *(step.encode(content.encoding) for step in _steps(text))])
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        name = encoding_name(content.encoding)
        raise ToolFailure(
            f"the file is {name}, which has no character U+{ord(character):04X}"
            f"{f' ({character})' if character.isprintable() else ''}; leave it out, or write the whole file anew"
        ) from error


def raw(content: Content) -> str:
    """The text with its mark and its line ends, as they are on the disk."""
    mark = "\ufeff" if content.bom else ""
    return mark + (content.text.replace("\n", "\r\n") if content.newline == "\r\n" else content.text)


def encoding_name(encoding: Encoding) -> str:
    """As people write it: "UTF-8", "UTF-16 LE", "Latin-1"."""
    if encoding == "latin-1":
        return "Latin-1"
    return encoding.upper().replace("-LE", " LE").replace("-BE", " BE")


def kind_of(head: bytes) -> str:
    """What a file is whose first bytes are `head`: "PNG image", "PDF", "gzip archive", …, else "binary file"."""
    if head[:4] == b"RIFF":
        return {b"WEBP": "WebP image", b"WAVE": "WAV audio", b"AVI ": "AVI video"}.get(head[8:12], BINARY)
    if head[4:8] == b"ftyp":
        return {b"avif": "AVIF image", b"heic": "HEIC image"}.get(head[8:12], "MP4 video")
    if head[257:262] == b"ustar":
        return "tar archive"
    return next((kind for magic, kind in _KINDS if head.startswith(magic)), BINARY)
