"""The student in the harness: its own chat-completions handler, with memory put into what it sends.

Nothing of the harness is replaced. Each method here is one that its handlers are meant to override, and calls the
harness's own; in a run without memory everything is passed on as it came, so the requests are those of the stock
handler.
"""

# ruff: noqa: ANN401, FBT001, N802 - names and signatures are the harness's, which has no types

from __future__ import annotations

import itertools
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, TypeAlias

from bfcl_eval.model_handler.api_inference.openai_completion import OpenAICompletionsHandler
from bfcl_eval.utils import make_json_serializable
from tenacity import stop_after_delay

from amd.errors import AmdError, ConfigError
from amd_bfcl.package import TESTED_VERSION
from amd_bfcl.service import Service, Stopped
from amd_bfcl.trial import Message, Trial

__all__ = ["HOOKS", "Student"]

HOOKS: Mapping[str, tuple[str, ...]] = {
    "inference": ("test_entry", "include_input_log", "exclude_state_log"),
    "decode_execute": ("result", "has_tool_call_tag"),
    "_build_client_kwargs": (),
    "generate_with_backoff": ("inner_kwargs",),
    "add_first_turn_message_FC": ("inference_data", "first_turn_message"),
    "add_first_turn_message_prompting": ("inference_data", "first_turn_message"),
    "_add_next_turn_user_message_FC": ("inference_data", "user_message"),
    "_add_next_turn_user_message_prompting": ("inference_data", "user_message"),
    "_add_execution_results_FC": ("inference_data", "execution_results", "model_response_data"),
    "_add_execution_results_prompting": ("inference_data", "execution_results", "model_response_data"),
}
"""What is overridden or called, with the parameters that bfcl-eval 2026.3.23 gives it."""

_PATIENCE = stop_after_delay(300)  # seconds of being told to come back later
_OTHER_VERSION = f"install the version that was tested: bfcl-eval=={TESTED_VERSION}"

# One handler serves all threads, and one task runs in one thread.
_trial: ContextVar[Trial] = ContextVar("trial")
_handlers = itertools.count()

_State: TypeAlias = dict[str, Any]
"""What the harness hands from method to method while a task runs."""


class Student(OpenAICompletionsHandler):  # type: ignore[misc]  # the harness has no types
    """The stock handler with memory.

    A subclass carries its ``service``, since the harness makes the instance; without one it decodes what it once
    answered, which is all that an evaluation asks of it.
    """

    service: Service | None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # The harness keeps live backends in globals under this name, made of the model's name alone: two arms of one
        # model in one process would go on in each other's state.
        if not hasattr(self, "model_name_underline_replaced"):
            raise Stopped(ConfigError("bfcl-eval names its backends otherwise now", next_step=_OTHER_VERSION))
        self.model_name_underline_replaced = f"amd_student_{next(_handlers)}"

    def _build_client_kwargs(self) -> dict[str, Any]:
        # The client insists on a key, even to be constructed.
        own = self.service.client if self.service else {"api_key": "none"}
        return {**super()._build_client_kwargs(), **own}

    def generate_with_backoff(self, **request: Any) -> Any:
        """Send one request. Too many requests are waited for as the harness does, but not without end."""
        assert self.service is not None
        if self.service.stopping.is_set():
            raise Stopped(AmdError("interrupted", next_step="run the same command again"))
        patient = OpenAICompletionsHandler.generate_with_backoff.retry_with(stop=_PATIENCE, reraise=True)
        return patient(self, **request, **self.service.sampling)

    def inference(self, test_entry: _State, include_input_log: bool, exclude_state_log: bool) -> Any:
        """Run one task; its metadata say what it was shown."""
        assert self.service is not None
        with self.service.task(test_entry["id"]) as trial:
            token = _trial.set(trial)
            try:
                result, metadata = super().inference(test_entry, include_input_log, exclude_state_log)
            finally:
                _trial.reset(token)
            metadata["amd"] = trial.log().as_json()
            self.service.keep(make_json_serializable({"id": test_entry["id"], "result": result, **metadata}))
        return result, metadata

    def add_first_turn_message_FC(self, inference_data: _State, first_turn_message: list[Message]) -> Any:
        """Put what the memory has for task and turn into the first messages."""
        return super().add_first_turn_message_FC(inference_data, _trial.get().first_turn(first_turn_message))

    def add_first_turn_message_prompting(self, inference_data: _State, first_turn_message: list[Message]) -> Any:
        """Put what the memory has for task and turn into the first messages."""
        return super().add_first_turn_message_prompting(inference_data, _trial.get().first_turn(first_turn_message))

    def _add_next_turn_user_message_FC(self, inference_data: _State, user_message: list[Message]) -> Any:
        return super()._add_next_turn_user_message_FC(inference_data, _next_turn(inference_data, user_message))

    def _add_next_turn_user_message_prompting(self, inference_data: _State, user_message: list[Message]) -> Any:
        return super()._add_next_turn_user_message_prompting(inference_data, _next_turn(inference_data, user_message))

    def _add_execution_results_FC(
        self, inference_data: _State, execution_results: list[str], model_response_data: _State
    ) -> Any:
        shown = self._hinted(execution_results, model_response_data)
        return super()._add_execution_results_FC(inference_data, shown, model_response_data)

    def _add_execution_results_prompting(
        self, inference_data: _State, execution_results: list[str], model_response_data: _State
    ) -> Any:
        shown = self._hinted(execution_results, model_response_data)
        return super()._add_execution_results_prompting(inference_data, shown, model_response_data)

    def _hinted(self, results: list[str], response: _State) -> list[str]:
        """The results with their hints, in a list of its own: the harness logs the one it gave."""
        calls = self.decode_execute(response["model_responses"], has_tool_call_tag=False)
        message = response.get("model_responses_message_for_chat_history")
        # In prompting, the content is the call itself.
        names = (
            ("reasoning_content", "reasoning", "content") if self.is_fc_model else ("reasoning_content", "reasoning")
        )
        said = (getattr(message, name, None) for name in names)
        return _trial.get().hinted(calls, results, next((text for text in said if text), ""))


def _next_turn(inference_data: _State, user_message: list[Message]) -> list[Message]:
    inference_data["message"], shown = _trial.get().next_turn(inference_data["message"], user_message)
    return shown
