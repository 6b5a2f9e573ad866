"""What a build leaves out of modules, and what it keeps."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from scripts.page.compiling import shortened


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""Words."""\nx = 1', '"""-"""\nx = 1'),
        ('def f():\n    """Words."""\n    return 1', 'def f():\n    """-"""\n    return 1'),
        ('class C:\n    """Words."""', 'class C:\n    """-"""'),
        ("class C:\n    x: int = 1", "class C:\n    x: int = 1"),
        (
            "def f(a: int, /, b: str, *c: int, d: int=0, **e: int) -> int:\n    return a",
            "def f(a, /, b, *c, d=0, **e):\n    return a",
        ),
        ("@registered\ndef f(a: int) -> str:\n    return a", "@registered\ndef f(a: int) -> str:\n    return a"),
        ("if TYPE_CHECKING:\n    import a\nelse:\n    b = 1", "b = 1"),
        ("if typing.TYPE_CHECKING:\n    import a", "pass"),
        ("if not TYPE_CHECKING:\n    b = 1", "if not TYPE_CHECKING:\n    b = 1"),
        ("class C:\n    if TYPE_CHECKING:\n        import a", "class C:\n    pass"),
        ("@overload\ndef f(a: int) -> int: ...\ndef f(a):\n    return a", "def f(a):\n    return a"),
        ("class C:\n    @typing.overload\n    def f(a: int) -> int: ...", "class C:\n    pass"),
    ],
)
def test_what_only_people_and_type_checkers_read_is_left_out(source: str, expected: str) -> None:
    assert ast.unparse(shortened(source.encode())) == expected


def test_what_is_asserted_stays() -> None:
    source = dedent(
        """
        def f(before: int, after: int) -> int:
            '''Words.'''
            assert before == after, "money has vanished"
            return after
        """
    )
    found: dict[str, object] = {}
    exec(compile(shortened(source.encode()), "", "exec"), found)  # noqa: S102  # the text above
    function = found["f"]
    assert callable(function)
    with pytest.raises(AssertionError, match="money has vanished"):
        function(1, 2)
