from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.features.files.paths import coverage, covers, literal, matches

NAMES = st.text("ab.*?[]! é", min_size=1, max_size=4).filter(lambda name: name not in (".", ".."))
PLACES = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    "pattern, meant, not_meant",
    [
        ("", "a|a/b|.env", ""),
        ("**", "a|a/b/c|.env", ""),
        ("src/**", "src/a|src/a/b|src/.env", "src|a/src/b|srcs/a"),
        ("src/", "src/a|src/a/b", "src|a/src/b"),
        ("src/*", "src/a|src/.env", "src|src/a/b"),
        ("*.{env,pem}", "a.env|x/b.pem", "a.envs|env"),
        ("[^s]*.env", "a.env", "s.env"),
        ("*.env *.pem", "a.env|x/b.pem", "env pem|a.env b"),
        ("*.env", "a.env|.env|deep/er/a.env", "a.env/b|env|a.envs"),
        ("/*.md", "a.md", "docs/a.md"),
        ("./a", "a", "b/a"),
        ("a.txt", "a.txt|deep/a.txt", "a.txt/b|A.txt|atxt"),
        ("docs/**/a", "docs/a|docs/x/a|docs/x/y/a", "a|docs/x/b|docs/a/b"),
        ("**/test_*.py", "test_a.py|x/y/test_a.py", "test_a.pyc|x/a_test.py"),
        ("a?[bc]", "axb|d/ayc", "ab|axd|a/b"),
        ("a/**/**/b", "a/b|a/x/y/b", "b"),
        (".", "", "a|."),
    ],
)
def test_a_pattern_means_places(pattern: str, meant: str, not_meant: str) -> None:
    assert [place for place in meant.split("|") if place and not matches(pattern, place)] == []
    assert [place for place in not_meant.split("|") if place and pattern != place and matches(pattern, place)] == []


@given(PLACES, PLACES)
def test_an_offered_rule_means_the_place_it_was_made_of_and_no_other(place: str, other: str) -> None:
    pattern = literal(place)
    assert matches(pattern, place)
    assert matches(pattern, other) == (place == other)
    assert coverage(pattern, f"{place}/{other}") != "all"
    assert pattern == pattern.strip()


@pytest.mark.parametrize("pattern", ["secrets", "**/secrets", "secrets/", "/sub/secrets", "sub"])
def test_what_is_in_a_folder_that_a_pattern_means_is_forbidden_with_it_and_not_allowed(pattern: str) -> None:
    assert coverage(pattern, "sub/secrets/k") == "some"
    assert coverage(pattern, "other/k") == "none"


def test_a_pattern_may_name_the_workspace_itself(tmp_path: Path) -> None:
    (tmp_path / "k").touch()
    assert covers(f"{tmp_path}/k", "k", tmp_path) == "all"
    assert covers(f"{tmp_path}/other", "k", tmp_path) == "none"


def test_a_pattern_full_of_stars_takes_no_time() -> None:
    assert not matches("**/" * 40 + "x", "a/" * 40 + "a")
    assert not matches("*a" * 20 + "b", "a" * 200)


def test_a_git_folder_is_covered_only_where_the_pattern_names_it() -> None:
    for place in (".git/config", "sub/.git/hooks/pre-commit", ".GIT/config", ".git"):
        for pattern in ("", "**", "/**"):
            assert coverage(pattern, place) == "some"
    assert coverage("*", ".git/config") == "some"
    assert coverage(".git/**", ".git/config") == "all"
    assert coverage("**/.git/config", "sub/.git/config") == "all"
    assert coverage("src/**", ".git/config") == "none"
    assert [coverage("**", place) for place in (".gitignore", "a.git/b", "git/a")] == ["all"] * 3


def test_what_counts_is_the_place_that_a_path_leads_to(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a").touch()
    (tmp_path / "link").symlink_to("src")
    (tmp_path / "out").symlink_to("..")
    for path in ("src/a", "./src/../src/a", "link/a", str(tmp_path / "src" / "a")):
        assert covers("src/**", path, tmp_path) == "all"
        assert covers("link/**", path, tmp_path) == "none"
    for path in ("out/a", "..", "/etc/passwd", "", "a\0"):
        assert covers("**", path, tmp_path) == "none"
