"""Decides what of a text is white space, and whether anything that can be seen is left of it."""

import re

SCRIPT_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's `trim` removes, and all that it removes: what stands on a log was trimmed like this."""

TOOL_SPACE = SCRIPT_SPACE + "\u0085"
"""What the tool removes: Unicode's White_Space and U+FEFF. So whatever it lets through keeps the rule of the log.

`str.strip()` would not do: it leaves U+FEFF, and takes U+001C to U+001F, which are not white space to Unicode.
"""

# White space, control characters, Unicode's Default_Ignorable_Code_Point (zero width spaces and joiners, bidi marks,
# variation selectors, Hangul fillers, tags, …), the interlinear annotation marks and the blank Braille pattern.
find_visible = re.compile(
    "[^"
    "\u0000-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
).search
"""A match at the first character of a text that a reader sees; None where there is none."""
