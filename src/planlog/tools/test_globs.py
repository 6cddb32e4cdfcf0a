import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.tools.globs import GlobError, alternatives, matcher, names


@pytest.mark.parametrize(
    "pattern, means, spares",
    [
        ("*.py", ["a.py", "src/a.py", ".py"], ["a.pyc", "a.py/b"]),
        ("./*.py", ["a.py"], ["src/a.py"]),
        ("/a", ["a"], ["src/a"]),
        ("src/*.py", ["src/a.py"], ["src/deep/a.py", "x/src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/deep/er/a.py"], ["a.py"]),
        ("src/**", ["src/a", "src/deep/a"], ["src"]),
        ("src/", ["src/a", "src/deep/a"], ["src"]),
        ("**", ["a", "src/a"], []),
        ("**/test/**/x", ["test/x", "a/test/b/c/x"], ["test/y", "a/x"]),
        ("*.{ts,tsx}", ["a.ts", "b/a.tsx"], ["a.t", "a.{ts,tsx}"]),
        ("{src,test/{a,b}}/*.py", ["src/x.py", "test/a/x.py", "test/b/x.py"], ["test/x.py"]),
        ("a{b", ["a{b"], ["ab"]),
        ("[ab]?.c", ["ax.c"], ["cx.c", "a.c"]),
        ("[^a].c", ["b.c", "^.c"], ["a.c"]),
        ("[", ["["], ["a"]),
    ],
)
def test_a_glob_means_some_paths_and_spares_others(pattern: str, means: list[str], spares: list[str]) -> None:
    wanted = matcher(pattern)
    assert [path for path in means if not wanted(path)] == []
    assert [path for path in spares if wanted(path)] == []


def test_a_hostile_glob_takes_no_time() -> None:
    assert not matcher("*a" * 60 + "b")("a" * 250)
    assert not matcher("**/*a/" * 60 + "b")("/".join("a" * 100))
    with pytest.raises(GlobError, match="more than 100 globs"):
        alternatives("{a,b}" * 30)


SIGNS = st.sampled_from(["a", "b", "*", "?", "{", "}", ",", "/", "**", ".", "[", "]", "!"])


@given(st.lists(SIGNS, max_size=12).map("".join), st.lists(st.sampled_from("ab./"), max_size=8).map("".join))
def test_what_a_glob_means_ends_in_one_of_its_names(pattern: str, path: str) -> None:
    try:
        wanted, ends = matcher(pattern), names(pattern)
    except GlobError:
        return
    if wanted(path) and ends:
        name = path.rpartition("/")[2]
        assert any(re.fullmatch(end.replace(".", r"\.").replace("*", ".*").replace("+", r"\+"), name) for end in ends)


def test_names_are_told_where_they_say_something() -> None:
    assert names("src/**/*.{ts,tsx}") == ["*.ts", "*.tsx"]
    assert names("src/**") == names("*") == names("?.c") == names("src/") == []
