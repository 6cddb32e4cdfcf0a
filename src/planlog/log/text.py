"""Makes any text fit to be stored, sent and shown: this is the one place where surrogates and NUL are replaced."""

NUL_SHOWN = "\u2400"


def clean_text(text: str) -> str:
    """`text` without lone surrogates (each becomes U+FFFD) and without NUL (it becomes the visible sign U+2400).

    Two surrogates that make a pair become the character they stand for. Text that needs nothing is returned itself.
    """
    if "\0" in text:
        text = text.replace("\0", NUL_SHOWN)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
