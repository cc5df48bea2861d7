"""When a failure ends a task, and when it ends the run."""

from __future__ import annotations

import openai
import pytest

from amd.errors import ClientError, ConfigError, StoreError
from amd.testing import Fault, LoopbackServer
from amd_bfcl.service import Service, Stopped

OURS = {"no usage": AttributeError("no usage"), "no choice": IndexError("no choice")}
THEIRS = {
    "timeout": Fault(delay=0.6),
    "server error": Fault(500),
    "too many": Fault(429),
    "cut off": Fault(cut=True),
    "no key": Fault(401),
    "forbidden": Fault(403),
    "no model": Fault(404),
}
OF_THE_REQUEST = {"refused": Fault(400), "unprocessable": Fault(422)}


def _error(cause):
    """What the client really raises for a server's fault."""
    if cause in OURS:
        return OURS[cause]
    with LoopbackServer(faults=[(THEIRS | OF_THE_REQUEST)[cause]]) as server:
        http = openai.DefaultHttpxClient(timeout=0.3)  # the one spelling that works with all versions
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=0.3, http_client=http)
        with client, pytest.raises(openai.APIError) as caught:
            client.chat.completions.create(model="stub", messages=[{"role": "user", "content": "Hello"}])
    return caught.value


class _Trial:
    """As much of a trial as a service looks at."""

    def __init__(self, answered):
        self.answered = answered


@pytest.fixture
def service():
    """Makes a service whose students have, or have not, answered before they fail, and whose endpoint may be gone."""

    def make(answered=False, *, gone=False):
        def probe():
            if gone:
                raise ClientError("the endpoint cannot be reached")

        return Service({"base_url": "http://127.0.0.1/v1"}, lambda _: _Trial(answered), lambda _: None, probe)

    return make


def _fail(service, error):
    with service.task("multi_turn_base_1"):
        raise error


@pytest.mark.parametrize("cause", [*OURS, *THEIRS])
def test_the_third_task_in_a_row_without_an_answer_ends_the_run(service, cause):
    """Two may fail on their own, though the endpoint is there; one that comes to its end counts anew (the control)."""
    one, error = service(), _error(cause)
    for _ in range(2):
        with pytest.raises(type(error)):
            _fail(one, error)
        with pytest.raises(type(error)):
            _fail(one, error)
        with one.task("multi_turn_base_2"):
            pass
    for _ in range(2):
        with pytest.raises(type(error)):
            _fail(one, error)
    with pytest.raises(Stopped) as stopped:
        _fail(one, error)
    assert isinstance(stopped.value.error, ClientError)
    assert "run the same command again" in str(stopped.value)


@pytest.mark.parametrize("cause", [*OURS, *THEIRS, *OF_THE_REQUEST])
def test_what_fails_after_an_answer_is_the_task_s_own(service, cause):
    """A context that grew too long, an answer without end: the run goes on however many there are."""
    one, error = service(answered=True), _error(cause)
    for _ in range(9):
        with pytest.raises(type(error)):
            _fail(one, error)


@pytest.mark.parametrize("cause", OF_THE_REQUEST)
def test_a_verdict_about_one_request_never_counts(service, cause):
    """A first message that is too long for the context: however many tasks there are of those, in a row or not."""
    one, error, broken = service(), _error(cause), _error("server error")
    for _ in range(9):
        with pytest.raises(type(error)):
            _fail(one, error)
    for _ in range(2):
        with pytest.raises(type(broken)):
            _fail(one, broken)
    with pytest.raises(Stopped):
        _fail(one, broken)


@pytest.mark.parametrize("cause", [*THEIRS, *OF_THE_REQUEST])
@pytest.mark.parametrize("answered", [False, True])
def test_an_endpoint_that_is_gone_ends_the_run_at_once(service, cause, answered):
    """Whatever the task had been answered before; what the endpoint is asked then is whether it is there at all."""
    error = _error(cause)
    with pytest.raises(Stopped) as stopped:
        _fail(service(answered, gone=True), error)
    assert stopped.value.error.exit_code == 3
    assert ("/v1?" in str(stopped.value.error)) == (cause == "no model")
    with pytest.raises(type(error)):
        _fail(service(answered), error)


@pytest.mark.parametrize("cause", OURS)
def test_a_failure_that_is_not_the_service_s_asks_no_endpoint(service, cause):
    """An answer without a member that it should have came from an endpoint that is there."""
    with pytest.raises(type(OURS[cause])):
        _fail(service(gone=True), OURS[cause])


def test_an_error_of_ours_is_never_a_result(service):
    """A memory that is not fit, a task that is not held out, a full disk: the harness must not log it as an answer."""
    for error in (StoreError("bad"), ConfigError("not held out")):
        with pytest.raises(Stopped) as stopped:
            _fail(service(), error)
        assert stopped.value.error is error
    with pytest.raises(Stopped, match="No space left") as stopped:
        _fail(service(), OSError(28, "No space left on device", "journal.jsonl"))
    assert stopped.value.error.exit_code == 1


def test_a_task_that_cannot_begin_ends_the_run():
    """What goes wrong before the first message is no result either."""

    def refuse(_):
        raise ConfigError("the task is not held out")

    with pytest.raises(Stopped, match="not held out"), Service({}, refuse, print, print).task("multi_turn_base_1"):
        pass


def test_an_interrupt_is_an_interrupt(service):
    """Ctrl-C is not counted and not turned into anything."""
    one = service()
    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            _fail(one, KeyboardInterrupt())


def test_a_run_goes_on_until_it_is_stopped(service):
    """Each run has a switch of its own."""
    one, other = service(), service()
    one.stopping.set()
    assert not other.stopping.is_set()


def test_stopped_is_no_exception():
    """The harness makes a result of every Exception."""
    assert not issubclass(Stopped, Exception)
