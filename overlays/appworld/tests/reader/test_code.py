"""The calls in a cell of code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd_appworld.code import calls_in, read_cell


def names(code, before=None):
    """The APIs that are called, in order."""
    return [call.api for call in read_cell(code, before).calls]


@pytest.mark.parametrize(
    "code",
    [
        "apis.music.play()",
        "music = apis.music\nmusic.play()",
        "a = apis\nplay = a.music.play\nplay()",
        "m, n = apis.music, 3\nm.play()",
        "getattr(apis.music, 'play')()",
        "getattr(getattr(apis, 'music'), 'play')()",
        "requester.request('music', 'play', song_id=1)",
        "def go(m):\n    return apis.music.play()\ngo(1)",
        "print(f'{apis.music.play()}')",
        "x = [apis.music.play() for _ in range(3)]",
        "with open_it() as f:\n    apis.music.play()",
        "match 1:\n    case 1:\n        apis.music.play()",
        "async def f():\n    pass\napis.music.play()",
        "if (s := apis.music.play()):\n    pass",
        "play = apis.music.play\nagain = play\nagain()",
        "x: dict = apis.music.play()",
        "sorted([1], key=lambda i: apis.music.play())",
        "try:\n    pass\nfinally:\n    apis.music.play()",
    ],
)
def test_one_call_in_many_ways(code):
    """Aliases, functions, loops: it is one call of one API."""
    assert names(code) == ["music.play"]


@pytest.mark.parametrize(
    "code",
    [
        "# apis.music.play()",
        "print('apis.music.play()')",
        "play = apis.music.play",
        "def go():\n    apis.music.play()",
        "apis.music()",
        "apis.music.play.more()",
        "apis = 1\napis.music.play()",
        "m = apis.music\nm = other\nm.play()",
        "for m in apps:\n    m.play()",
        "print('a'",
        "\0",
        "",
    ],
)
def test_what_is_no_call(code):
    """Text is never a call, nor is a name that no longer means an API."""
    assert names(code) == []


def test_calls_come_in_the_order_in_which_python_makes_them():
    """An argument's call before its own, a comprehension's source before its element."""
    assert names("apis.a.outer(x=apis.a.inner())") == ["a.inner", "a.outer"]
    assert names("[apis.a.each(x=x) for x in apis.a.rows() if apis.a.test(x=x)]") == ["a.rows", "a.test", "a.each"]
    assert names("for x in apis.a.rows():\n    apis.a.each()\nelse:\n    apis.a.last()") == [
        "a.rows",
        "a.each",
        "a.last",
    ]


def test_arguments_are_literals_or_stand_ins():
    """A stand-in is ``<name>``, and told apart from what the agent wrote."""
    code = (
        "page = 2\n"
        "apis.m.find(a=1, b=-2.5, c=[True, None], d={'k': 'v'}, e=token, f=f'{x}', g=page, h=1e999, i=b'x', j={1, 2})"
    )
    (call,) = calls_in(code)
    assert call.arguments == {
        "a": 1,
        "b": -2.5,
        "c": [True, None],
        "d": {"k": "v"},
        "g": 2,
        "j": [1, 2],
        "e": "<e>",
        "f": "<f>",
        "h": "<h>",
        "i": "<i>",
    }
    assert call.computed == set("efhi")
    assert call.written == {"a": 1, "b": -2.5, "c": [True, None], "d": {"k": "v"}, "g": 2, "j": [1, 2]}


def test_a_name_that_changes_is_not_known():
    """A loop's second round, a branch, a function's own argument."""
    assert calls_in("p = 0\nwhile True:\n    apis.m.find(p=p)\n    p += 1")[0].arguments == {"p": "<p>"}
    assert calls_in("p = 0\nif x:\n    p = 1\napis.m.find(p=p)")[0].arguments == {"p": "<p>"}
    assert calls_in("p = 0\ndef f(p):\n    apis.m.find(p=p)\nf(3)")[0].arguments == {"p": "<p>"}
    assert calls_in("p = 0\napis.m.find(p=p)")[0].arguments == {"p": 0}


def test_an_unpacked_dictionary():
    """Written out it gives its members; computed it gives nothing."""
    assert calls_in("q = {'a': 1}\napis.m.find(**q, b=2)")[0].arguments == {"a": 1, "b": 2}
    assert calls_in("apis.m.find(**q, b=2)")[0].arguments == {"b": 2}


def test_cells_share_their_names():
    """Aliases, values and functions of an earlier cell; what it defined happens where it is called."""
    first = read_cell("box = apis.mail\nsize = 5\ndef look(n):\n    return box.show(n=n, size=size)")
    assert first.calls == ()
    (call,) = read_cell("x = 1\nlook(3)", first.names).calls
    assert (call.api, call.arguments, call.line, call.site) == ("mail.show", {"n": "<n>", "size": 5}, 4, 2)


def test_what_surrounds_a_call():
    """Guarded by a handler that catches, repeated in a loop."""
    guarded = calls_in("try:\n    apis.m.a()\nexcept KeyError:\n    apis.m.b()")
    assert [call.guarded for call in guarded] == [True, False]
    assert [call.repeated for call in calls_in("for x in apis.m.rows():\n    apis.m.each()")] == [False, True]
    assert read_cell("import contextlib\nwith contextlib.suppress(OSError):\n    apis.m.a()").calls[0].guarded


@pytest.mark.parametrize(
    ("code", "printed", "part"),
    [
        ("print(apis.m.a())", True, ""),
        ("r = apis.m.a()\nprint(r)", True, ""),
        ("print(apis.m.a()['title'])", True, "title"),
        ("r = apis.m.a()\nprint(r[0]['title'])", True, "title"),
        ("print(len(apis.m.a()))", False, ""),
        ("print('rows:', apis.m.a())", False, ""),
        ("print(apis.m.a(), end='')", False, ""),
        ("r = apis.m.a()\nr = 2\nprint(r)", False, ""),
        ("for r in apis.m.a():\n    print(r)", False, ""),
        ("apis.m.a()", False, ""),
        ("def print(x): pass\nprint(apis.m.a())", False, ""),
    ],
)
def test_what_is_printed(code, printed, part):
    """Only the whole of a call's value, or a part of it under a key, that one print shows once."""
    (call,) = calls_in(code)
    assert (call.printed, call.part) == (printed, part)


def test_functions_that_call_themselves_end():
    """They are followed a few times, and not for ever."""
    assert 0 < len(names("def f():\n    apis.m.a()\n    f()\n    f()\nf()")) <= 1000


@pytest.mark.parametrize(
    "code", ["(" * 5000, "-" * 50_000 + "1", "a" + ".b" * 20_000, "x = " + "1+" * 20_000 + "1", "[" * 150 + "]" * 150]
)
def test_code_that_python_itself_cannot_hold(code):
    """It has no calls, and nothing breaks."""
    assert names(code) == []


def test_a_lone_surrogate_is_replaced():
    """Written as an escape it is a program, and its value is none that UTF-8 can hold."""
    assert calls_in(r"apis.m.a(x='s\ud83d')")[0].arguments == {"x": "s\ufffd"}


def test_many_calls_are_cut():
    """An environment answers 1,000 requests a cell."""
    assert len(names("apis.m.a()\n" * 5000)) == 1000


LINES = st.sampled_from(
    [
        "x = apis.m",
        "x.a(k=1)",
        "apis.m.b(y=x)",
        "print(apis.m.c())",
        "def f(v): return apis.m.d(v=v)",
        "f(2)",
        "del x",
        "import os as x",
        "global x",
        "x += 1",
        "try: apis.m.e()\nexcept E as x: pass",
        "for x in y: apis.m.g()",
        "lambda: (yield)",
        "x, *y = apis.m.h()",
        "class C:\n    z = apis.m.i()",
        "r'\\d' '\\d'",
        "'\ud800'",
    ]
)


@given(st.lists(LINES, max_size=8).map("\n".join) | st.text(max_size=60))
def test_any_code(code):
    """Nothing raises; each call stands where it says, and its arguments are JSON's."""
    cell = read_cell(code)
    for call in cell.calls:
        assert call.api.count(".") == 1
        assert set(call.computed) <= set(call.arguments)
        assert 1 <= call.line <= code.count("\n") + 1
