"""Cells of our own, with what the real environment answered to each: which API failed, by the log and by the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from naming import found

from amd_appworld.api_docs import ApiDocs
from amd_appworld.failing import HINTED, failing_api

# Without the log three cells cannot be named: the API's name stands nowhere in the code or the traceback.
ONLY_BY_THE_LOG = {"dictionary of functions", "getattr with a name", "class method"}


def test_there_are_cells_of_both_kinds(cells):
    """18 that the finder was written against, 35 that it had never seen."""
    sets = [cell["set"] for cell in cells]
    assert (sets.count("catalogue"), sets.count("held out")) == (18, 35)


def test_with_the_request_log_every_cell_is_named(cells):
    """All 53, with the kind of the failure; 33 of them have a failing API."""
    wrong = {
        cell["name"]: failure
        for cell, failure in found(cells, by_log=True)
        if (failure and failure.api, failure and failure.kind) != (cell["api"], cell["kind"])
    }
    assert wrong == {}


def test_from_the_text_alone_all_but_three_are_named(cells):
    """And of these three the app is told."""
    wrong = {
        cell["name"]: failure
        for cell, failure in found(cells, by_log=False)
        if (failure and failure.api) != cell["api"]
    }
    assert set(wrong) == ONLY_BY_THE_LOG
    assert {(failure.api, failure.app, failure.via) for failure in wrong.values()} == {(None, "phone", "message")}


def test_hints_go_to_what_a_call_could_have_done_better(cells):
    """Not to syntax, unsafe code, time, or plain Python."""
    kinds = {cell["kind"]: failure.hinted for cell, failure in found(cells, by_log=True) if failure}
    assert kinds == {kind: kind in HINTED for kind in kinds}
    assert {"api_status", "api_status_caught", "unknown_api", "unknown_app", "arguments"} == {
        k for k in kinds if kinds[k]
    }


def test_what_went_wrong_is_told_in_the_apis_own_words(cells):
    """One line each, which is what a pitfall is matched by."""
    errors = {cell["name"]: failure.error for cell, failure in found(cells, by_log=True) if failure}
    assert errors["argument missing"] == "Validation error: password: field required"
    assert errors["id that is not there"] == "The artist with id 90210 does not exist."
    assert errors["API that is not there"] == "No API named 'send_money' found in the venmo app."
    assert errors["caught, then a good call"].startswith("You are either not authorized to access this venmo")
    assert "\n" not in "".join(errors[cell["name"]] for cell in cells if cell["kind"] in HINTED)


def test_an_error_that_is_only_quoted_is_none():
    """Nothing in the code could have caught it; with a ``try`` it counts."""
    said = "Response status code is 401:\n{}"
    assert failing_api("print(note)", said) is None
    assert failing_api("try:\n    apis.music.play()\nexcept Exception as e:\n    print(e)", said).api == "music.play"


def test_a_request_of_another_app_than_the_message_names_is_not_it(cells):
    """The last request may have come after the error; the message knows better."""
    cell = next(cell for cell in cells if cell["name"] == "getattr with a name")
    other = {"method": "get", "url": "/venmo/balance"}
    docs = ApiDocs.of({"venmo": {"show_venmo_balance": {"path": "/venmo/balance", "method": "get"}}})
    failure = failing_api(cell["code"], cell["output"], last_request=other, docs=docs)
    assert (failure.api, failure.app) == (None, "phone")


WORLD = ApiDocs.of({"bank": {"pay": {"path": "/pay", "method": "post"}, "rate": {"path": "/rate", "method": "get"}}})


def test_an_error_that_was_kept_and_raised_again():
    """The line of the code counts more than the last request, which came after the error."""
    code = "e = None\ntry:\n    apis.bank.pay(amount=9)\nexcept Exception as x:\n    e = x\napis.bank.rate()\nraise e"
    said = (
        'Execution failed. Traceback:\n  File "<python-input>", line 7, in <module>\n    raise e\n'
        '  File "<python-input>", line 3, in <module>\n    apis.bank.pay(amount=9)\n'
        'Exception: Response status code is 422:\n{"message":"Too much."}'
    )
    after = {"method": "get", "url": "/bank/rate"}
    failure = failing_api(code, said, last_request=after, docs=WORLD)
    assert (failure.api, failure.via, failure.site) == ("bank.pay", "traceback", 7)
    own = {"method": "post", "url": "/bank/pay"}
    assert failing_api(code, said, last_request=own, docs=WORLD).via == "request"


def test_of_two_errors_in_a_chain_the_later_one_counts():
    """The first was handled, by a call that failed in its turn."""
    code = "try:\n    apis.bank.pay(amount=9)\nexcept Exception:\n    apis.bank.rate()"
    said = (
        'Execution failed. Traceback:\n  File "<python-input>", line 2, in <module>\n    apis.bank.pay(amount=9)\n'
        'Exception: Response status code is 422:\n{"message":"Too much."}\n\n'
        "During handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n"
        '  File "<python-input>", line 4, in <module>\n    apis.bank.rate()\n'
        'Exception: Response status code is 409:\n{"message":"No rate today."}'
    )
    failure = failing_api(code, said)
    assert (failure.api, failure.status, failure.error) == ("bank.rate", 409, "No rate today.")


PIECES = st.sampled_from(
    [
        "Execution failed. Traceback:\n",
        '  File "<python-input>", line 1, in <module>\n',
        "    apis.music.play()\n",
        "    ^^^^^^^^^^^^^^^^^\n",
        "Exception: Response status code is 401:\n",
        '{"message":"You are either not authorized to access this music API endpoint"}',
        "No API named 'x' found in the music app.",
        "\nThe above exception was the direct cause of the following exception:\n",
        "TypeError: f() takes 0 positional arguments",
        "try:\n    apis.music.play()\nexcept Exception as e:\n    print(e)\n",
        "f = apis.music.play\nf(\n",
        "\ud800",
        "\0",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=20), max_size=8).map("".join)


@given(code=TEXTS, output=TEXTS)
def test_it_never_raises_and_names_what_stands_there(code, output):
    """Whatever is printed and whatever the code; a name comes from the code or the answer, app first."""
    failure = failing_api(code, output, last_request={"method": "get", "url": "/music"}, docs=ApiDocs())
    if failure is not None and failure.api is not None:
        app, _, api = failure.api.partition(".")
        assert app == failure.app
        assert app in code + output
        assert api in code + output
