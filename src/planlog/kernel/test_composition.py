from pathlib import Path

import pytest

from planlog.kernel.composition import Composition, Row, parse_composition, read_composition
from planlog.kernel.errors import ConfigError

ROLES = "event, fold, service, tool, cli, stdio, tui, web, acp"


def test_a_composition_names_its_roles_and_its_rows_in_order(tmp_path: Path) -> None:
    file = tmp_path / "stdio.toml"
    file.write_text(
        """
        roles = ["event", "tool", "stdio"]

        [[plugin]]
        id = "todo"
        use = "planlog.features.todo"
        allow_parallel_in_progress = true

        [[plugin]]
        id = "shell"
        use = "planlog.features.shell"
        """
    )
    assert read_composition(file) == Composition(
        "stdio",
        str(file),
        ("event", "tool", "stdio"),
        (
            Row("todo", "planlog.features.todo", {"allow_parallel_in_progress": True}, str(file)),
            Row("shell", "planlog.features.shell", {}, str(file)),
        ),
    )


ASKED = 'roles = ["tool"]\n'
TODO = '[[plugin]]\nid = "todo"\nuse = "planlog.features.todo"\n'


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("roles = [\n", "is not valid TOML: Invalid value (at line 2, the end of the file)"),
        (
            "roles = []\nplugin yes",
            "is not valid TOML: Expected '=' after a key in a key/value pair (at line 2, column 8)",
        ),
        ("", f"roles is required: a list of {ROLES}"),
        ('roles = "tool"', f'roles must be a list of {ROLES}, got "tool"'),
        ("roles = []", f"roles must be a list of {ROLES}, got []"),
        ('roles = ["tools"]', f'unknown role "tools"; roles are {ROLES}'),
        ("roles = [1]", f"unknown role 1; roles are {ROLES}"),
        ('roles = ["tool", "tool"]', 'the role "tool" is listed twice'),
        (ASKED, "plugins are rows, each under a line [[plugin]]"),
        (ASKED + '[plugin]\nid = "todo"', "plugins are rows, each under a line [[plugin]]"),
        (ASKED + "plugin = []", "plugins are rows, each under a line [[plugin]]"),
        (ASKED + 'plugin = ["todo"]', 'plugin row 1: is "todo"; a row is a table under a line [[plugin]]'),
        (ASKED + "[[plugins]]\n", 'unknown key "plugins"; a composition has roles and plugin'),
        (ASKED + TODO + '[[plugin]]\nuse = "x"', 'plugin row 2: has no id; give it one, as in id = "todo"'),
        (ASKED + '[[plugin]]\nid = "a b"', 'plugin row 1 ("a b"): its id must be small letters, digits, "-" and "_"'),
        (ASKED + "[[plugin]]\nid = 1", 'plugin row 1 (1): its id must be small letters, digits, "-" and "_"'),
        (
            ASKED + '[[plugin]]\nid = "todo"',
            'plugin row 1 ("todo"): has no use; name its package, as in use = "planlog.features.todo"',
        ),
        (
            ASKED + '[[plugin]]\nid = "todo"\nuse = "./todo.py"',
            'plugin row 1 ("todo"): use must be the dotted path of a package, got "./todo.py"',
        ),
        (ASKED + TODO + TODO, 'plugin row 2: the id "todo" is taken by an earlier row'),
    ],
)
def test_what_is_wrong_is_told_in_one_line_that_names_file_and_row(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_composition(text, "stdio", "stdio.toml")
    assert str(caught.value) == f"stdio.toml: {complaint}"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_composition(tmp_path / "none.toml")
    assert str(caught.value) == f"{tmp_path / 'none.toml'}: cannot be read: No such file or directory"
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    with pytest.raises(ConfigError) as caught:
        read_composition(tmp_path / "latin.toml")
    assert str(caught.value) == f"{tmp_path / 'latin.toml'}: is not UTF-8 (byte 2)"
