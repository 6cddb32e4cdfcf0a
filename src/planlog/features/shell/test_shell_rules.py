"""A pattern allows one simple command that begins so, and forbids all in which such a command can be read."""

import os
import subprocess
from pathlib import Path
from shutil import which

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.features.shell.reading import Unclear, simple_commands
from planlog.features.shell.rules import LONGEST, covered, offered
from planlog.features.shell.tool import Command, bash
from planlog.tools.tool import Execution, Proposal

OPERATORS = [";", "&", "&&", "|", "||", "<", ">", "$x", "$(id)", "`id`", "(", ")", "{", "}", "\n", "\r", "\0"]


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("", "anything; at all"),
        ("git diff", "git diff"),
        ("git diff", "  git\tdiff HEAD -- src/*.py\n"),
        ("git diff", "git 'diff' \"a b\""),
        ("git diff", 'g"i"t di\\ff'),
        ("git", "git push --force"),
        ("pytest -q", "pytest -q tests"),
        ("= git diff", "git diff"),
        ("= git diff", " git diff\n"),
        ("=git commit -m 'a b'", "git commit -m 'a b'"),
        ("git commit -m 'a b'", "git commit -m 'a b' --amend"),
        ("rm *.pyc", "rm *.pyc"),
    ],
)
def test_a_simple_command_that_begins_with_the_words_is_meant_whole(pattern: str, command: str) -> None:
    assert covered(pattern, command) == "all"


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("git diff", "git"),
        ("git diff", "git difftool"),
        ("git diff", "gitk diff"),
        ("git diff", "git log diff"),
        ("git diff", "echo git diff"),
        ("git push", "git log # git push"),
        ("git push", "git commit -m 'git push comes next'"),
        ("rm", "echo 'do not; rm that'"),
        ("rm", 'git commit -m "first\nrm second"'),
        ("git push", ""),
        ("make", "cat Makefile"),
    ],
)
def test_other_commands_are_not_meant(pattern: str, command: str) -> None:
    assert covered(pattern, command) == "none"


@pytest.mark.parametrize(
    "command",
    [
        "git push; ls",
        "ls; git push",
        "ls && git push origin",
        "ls | git push",
        "ls &\ngit push",
        "(cd x; git push)",
        "{ git push; }",
        "if git push; then ls; fi",
        "while ! git push; do sleep 1; done",
        "for x in a; do git push; done",
        "case x in a) git push;; esac",
        "f() { git push; }; f",
        "function f { git push; }",
        "echo $(git push)",
        'echo "$(git push)"',
        'echo "`git push`"',
        "cat <(git push)",
        "git push > log",
        "> log git push",
        "2>log git push",
        "&>log git push",
        "X=1 git push",
        "X=$(date) Y=2 git push",
        "sudo -u root git push",
        "env -i A=b git push",
        "env -S 'git push'",
        "time git push",
        "nohup git push &",
        "timeout 5 git push",
        "find . -exec git push \\;",
        "echo origin | xargs git push",
        "bash -c 'git push'",
        "sudo bash -lc 'cd x && git push'",
        "bash -c 'X=1 git push'",
        "sh -c \"sh -c 'git push'\"",
        "eval git push",
        'eval "git" "push"',
        "ssh host git push",
        "trap 'git push' EXIT",
        "/usr/bin/git push",
        'g"i"t pu\\sh; ls',
        "git \\\n  push",
        "git -C x --no-pager push",
        "cat <<EOF\ndon't\nEOF\ngit push",
        "bash <<'EOF'\ncd x\ngit push\nEOF",
        "ls # don't\ngit push",
        "echo a#b; git push",
        'echo "$\'"; git push; echo "\'"',
        "echo x\u00a0# ; git push",
        "echo $'it\\'s'; git push",
        "echo ${x#y}; git push",
        "echo '; git push",  # a quote without an end: nobody knows what it is
        "echo " + "$(" * 50 + "git push",
        f"git push {'x' * LONGEST}; ls",
    ],
)
def test_a_command_is_found_wherever_it_can_be_read(command: str) -> None:
    assert covered("git push", command) == "some"
    assert covered("= git push", command) == "some"


def test_one_word_is_found_too() -> None:
    for command in ("reboot", "sh -c reboot", "eval reboot", "sudo /sbin/reboot; ls", "$(reboot)"):
        assert covered("reboot", command) != "none"
    assert covered("reboot", "cat reboot") == "none"


def test_words_alone_do_not_find_what_is_written_another_way() -> None:
    """The fence has gaps, and the page about approvals says so."""
    assert covered("git push", "g=git; $g push") == "none"
    assert covered("git push", "python -c 'import os; os.system(\"git push\")'") == "none"


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("git diff", "X=1 git diff"),
        ("git diff", "sudo git diff"),
        ("git diff", "env git diff"),
        ("git diff", "command git diff"),
        ("git diff", "/tmp/git diff"),
        ("git diff", "git -C x diff"),
        ("= git diff", "git diff --output=x"),
        ("= rm -rf build", "rm -rf build /"),
        ("rm '*.pyc'", "rm *.pyc"),
        ("git diff", f"git diff {'x' * LONGEST}"),
    ],
)
def test_what_allows_skips_nothing(pattern: str, command: str) -> None:
    assert covered(pattern, command) != "all"


@given(st.sampled_from(["git diff", "= git diff"]), st.text(), st.sampled_from(OPERATORS), st.text())
def test_an_allowed_beginning_allows_nothing_behind_an_operator(
    pattern: str, before: str, operator: str, after: str
) -> None:
    # Blanks and line feeds at the very end are nothing to bash either.
    command = f"git diff {before}{operator}{after}x"
    assert covered(pattern, command) != "all"


@given(st.text("ab '\"\\;&|<>$`(){}\n\t*#=!~-", max_size=12))
def test_bash_itself_runs_one_command_where_all_is_allowed(suffix: str) -> None:
    command = f"git diff{suffix}"
    if covered("git diff", command) != "all":
        return
    script = f'git() {{ builtin echo "ran $1"; }}; command_not_found_handle() {{ builtin echo other; }}\n{command}'
    done = subprocess.run(
        [which("bash") or "", "-c", script], env={"PATH": "/nowhere"}, cwd=os.sep, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("ran diff\n", "")


@pytest.mark.parametrize(
    ("command", "offer"),
    [
        ("git diff HEAD~1", "git diff"),
        ("git status", "git status"),
        ("git push origin main", "= git push origin main"),
        ("pytest -q tests", "pytest"),
        ("python -m pytest -x", "python -m pytest"),
        ("cargo test --all", "cargo test"),
        ("npm test", "npm test"),
        ("npm run build", "npm run build"),
        ("npm install left-pad", "= npm install left-pad"),
        ("go test ./...", "go test"),
        ("make test", "make test"),
        ("make", "= make"),
        ("make -B", "= make -B"),
        ("rm -rf build", "= rm -rf build"),
        (" python script.py\n", "= python script.py"),
        ("'git diff'", "= 'git diff'"),
        # Nothing sensible.
        ("git diff; ls", ""),
        ("git diff > x", ""),
        ("python -c 'print()'", ""),
        ("python -Ic pass", ""),
        ("node -e 1", ""),
        ("sudo perl -pe 1 x", ""),
        ("bash -lc ls", ""),
        ("echo 'no end", ""),
        ("", ""),
        (f"echo {'x' * 200}", ""),
    ],
)
def test_a_beginning_is_offered_where_it_is_harmless_else_the_command_itself(command: str, offer: str) -> None:
    assert offered(command) == offer


@given(st.one_of(st.text(), st.text("gitdfmake '\"\\*=-", max_size=20)))
def test_what_is_offered_covers_what_was_asked_about(command: str) -> None:
    assert not offered(command) or covered(offered(command), command) == "all"


@given(st.text("ab '\"\\;&|<>$`(){}\n\t#!", max_size=40))
def test_whatever_it_is_it_is_read_or_unclear(command: str) -> None:
    try:
        assert all(words for words in simple_commands(command))
    except Unclear:
        assert covered("a", f"a{command}") in ("some", "all")


async def test_the_tool_says_what_its_rules_mean() -> None:
    tool = bash(120, 30_000)
    assert tool.covered
    assert tool.propose
    assert tool.covered("git diff", Command("git diff; rm x"), Path("/")) == "some"
    execution = Execution("call-1", None, Path("/"))
    assert await tool.propose(Command("git diff x"), execution) == Proposal("", "bash git diff")
    assert await tool.propose(Command("a; b"), execution) == Proposal("", "")
