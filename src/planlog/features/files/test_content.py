import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.features.files.content import STEP, Content, decode, encode, kind_of
from planlog.tools.tool import ToolFailure

MARKS = [b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE]
ENCODINGS = ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "latin-1"]
LINES = st.lists(st.sampled_from(["a", "é", "→", "😀", "\r\n", "\n", "\r", "\0", "\x85"])).map("".join)


def decoded(data: bytes) -> Content:
    content = decode(data)
    assert content is not None
    return content


@given(
    st.one_of(
        st.binary(),
        st.builds(bytes.__add__, st.sampled_from(MARKS), st.binary()),
        st.builds(
            lambda mark, text, encoding: mark + text.encode(encoding, "ignore"),
            st.sampled_from(MARKS),
            LINES,
            st.sampled_from(ENCODINGS),
        ),
    )
)
def test_the_same_text_is_exactly_the_same_bytes(data: bytes) -> None:
    content = decode(data)
    if content is not None:
        assert encode(content, content.text) == data
        assert "\0" not in content.text


@given(LINES.filter(lambda text: "\0" not in text), st.sampled_from(list(zip(MARKS[1:], ENCODINGS[:5], strict=True))))
def test_every_text_is_text_in_every_unicode_encoding(text: str, marked: tuple[bytes, str]) -> None:
    mark, encoding = marked
    content = decoded(mark + text.encode(encoding))
    assert encode(content, content.text) == mark + text.encode(encoding)
    assert content.text in (text, text.replace("\r\n", "\n"))
    assert (content.bom, content.encoding) == (mark, encoding)


def test_a_file_is_what_its_mark_says_else_utf_8_else_latin_1() -> None:
    assert decode(b"") == Content("")
    assert decode("é→".encode()) == Content("é→")
    assert decode(codecs.BOM_UTF8 + b"a") == Content("a", bom=codecs.BOM_UTF8)
    assert decode("a→".encode("utf-16")) == Content("a→", "utf-16-le", bom=codecs.BOM_UTF16_LE)
    assert decode("a→".encode("utf-32")) == Content("a→", "utf-32-le", bom=codecs.BOM_UTF32_LE)
    assert decode(b"caf\xe9") == Content("café", "latin-1")
    assert decode(codecs.BOM_UTF8 + b"\xe9") == Content("ï»¿é", "latin-1")


def test_what_has_nuls_or_is_an_image_is_binary() -> None:
    for data in (b"a\0b", b"\xff\xfea\0\0\0", "a\0".encode("utf-16"), b"\xff\xd8\xff\xe0 no NUL", b"\xff\xfe\0"):
        assert decode(data) is None, data
    assert decode(b"%PDF-1.4 of which all is text") is not None


def test_uniform_crlf_is_shown_as_lf_and_restored_and_mixed_ends_stay() -> None:
    content = decoded(b"a\r\nb\r\n")
    assert content == Content("a\nb\n", newline="\r\n")
    assert encode(content, "a\nc\r\nd\n") == b"a\r\nc\r\nd\r\n"
    for data in (b"a\r\nb\n", b"a\r\r\n", b"a\rb", b"a\n\r\n", b"\n\r"):
        assert decoded(data) == Content(data.decode())
    assert decoded("a\r\nb".encode("utf-16")).text == "a\nb"


@pytest.mark.parametrize("length", [STEP - 2, STEP - 1, STEP, STEP + 1])
def test_no_line_end_is_lost_where_one_step_over_a_long_text_ends(length: int) -> None:
    data = b"x" * length + b"\r\n" + "é".encode() * STEP + b"\r\n"
    content = decoded(data)
    assert content == Content("x" * length + "\n" + "é" * STEP + "\n", newline="\r\n")
    assert encode(content, content.text) == data


def test_a_character_that_the_encoding_lacks_is_named() -> None:
    content = decoded(b"caf\xe9")
    assert encode(content, "thé") == b"th\xe9"
    with pytest.raises(ToolFailure) as caught:
        encode(content, "a → b")
    assert caught.value.text == (
        "the file is Latin-1, which has no character U+2192 (→); leave it out, or write the whole file anew"
    )
    with pytest.raises(ToolFailure, match=r"^the file is UTF-8, which has no character U\+D800; leave"):
        encode(Content(""), "\ud800")


@pytest.mark.parametrize(
    "head, kind",
    [
        (b"\x89PNG\r\n\x1a\n\0", "PNG image"),
        (b"\xff\xd8\xff\xe0", "JPEG image"),
        (b"GIF89a", "GIF image"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "WebP image"),
        (b"RIFF\0\0\0\0????", "binary file"),
        (b"\0\0\0\x1cftypavif", "AVIF image"),
        (b"\0\0\0\x1cftypisom", "MP4 video"),
        (b"%PDF-1.7", "PDF"),
        (b"\x7fELF\2", "ELF program"),
        (b"\xca\xfe\xba\xbe\0\0\0\2", "Mach-O program"),
        (b"\xca\xfe\xba\xbe\0\0\0\x41", "Java class"),
        (b"\x1f\x8b\x08", "gzip archive"),
        (b"PK\3\4", "zip archive"),
        (b"a".ljust(257, b"\0") + b"ustar", "tar archive"),
        (b"SQLite format 3\0", "SQLite database"),
        (b"\0" * 64, "binary file"),
        (b"", "binary file"),
    ],
)
def test_a_binary_is_named_by_its_first_bytes(head: bytes, kind: str) -> None:
    assert kind_of(head) == kind
