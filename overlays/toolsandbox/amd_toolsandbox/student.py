"""The agent and the user simulator in the harness: its own, with memory, and with endpoints that can be chosen.

Nothing of the harness is replaced: one method is overridden, ``model_inference``, and both roles are put into the
harness's own tables when this module is imported. Workers are processes of their own, and a role is made without
arguments, so the run directory is named by the environment.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import openai
from tool_sandbox.cli.utils import AGENT_TYPE_TO_FACTORY, USER_TYPE_TO_FACTORY
from tool_sandbox.common.execution_context import RoleType, get_current_context
from tool_sandbox.common.scenario import Scenario
from tool_sandbox.roles.openai_api_agent import OpenAIAPIAgent
from tool_sandbox.roles.openai_api_user import OpenAIAPIUser

from amd.arms import OpenArm, replace_text
from amd.errors import ConfigError
from amd_toolsandbox.faults import ours
from amd_toolsandbox.repair import repair
from amd_toolsandbox.run import Model, Run
from amd_toolsandbox.trial import Trial

__all__ = ["AGENT", "ENVIRONMENT", "USER", "MemoryAgent", "NamedScenario", "SimulatedUser"]

AGENT, USER = "amd_agent", "amd_user"
ENVIRONMENT = "AMD_TOOLSANDBOX_RUN"
"""The variable that names the run directory to worker processes."""


@cache
def _run() -> Run:
    """The run of this process."""
    return Run(Path(os.environ[ENVIRONMENT]))


@cache
def _opened() -> OpenArm:
    """The memory, opened once in each process and closed with it."""
    settings = _run().settings
    opened = settings.arm.open(settings.seed, split=settings.split.split if settings.split else None)
    if opened.seal != settings.memory_seal:
        raise ConfigError(
            f"the memory has the seal {opened.seal}, the run began with {settings.memory_seal}",
            next_step="give it back, or run into a new directory",
        )
    return opened


def _client(model: Model) -> openai.OpenAI:
    timeout = _run().settings.timeout
    return openai.OpenAI(
        base_url=model.base_url,
        api_key=os.environ.get("OPENAI_API_KEY") or "none",  # the client insists on one
        timeout=timeout,
        # Without it the pinned client cannot be made beside a newer httpx.
        http_client=openai.DefaultHttpxClient(timeout=timeout),
    )


class _Sampled:
    """A client of which the harness makes completions, each with these members beside its own."""

    def __init__(self, client: openai.OpenAI, **sampling: float | None) -> None:
        self.chat = self.completions = self
        self._create: Any = client.chat.completions.create
        self._sampling = {name: value for name, value in sampling.items() if value is not None}

    def create(self, **request: Any) -> Any:  # noqa: ANN401 - the client's own
        """Make one completion."""
        return self._create(**request, **self._sampling)


class MemoryAgent(OpenAIAPIAgent):  # type: ignore[misc]  # the harness is no typed package
    """The harness's agent for chat-completions models, with a memory or without one."""

    def __init__(self) -> None:
        # One more is made to name the output folder, and never used: nothing is opened here.
        self.model_name = _run().settings.agent.name
        settings = _run().settings
        sampling = {"seed": settings.sent_seed, "temperature": settings.temperature}
        self.openai_client = _Sampled(_client(settings.agent), **sampling)
        self._trial: Trial | None = None

    def begin_scenario(self, name: str) -> None:
        """Hear which scenario is played; the harness itself does not tell."""
        with ours():
            self._trial = Trial(name, _opened(), _real_name)
            self._keep(self._trial)

    def model_inference(self, openai_messages: Any, openai_tools: Any) -> Any:  # noqa: ANN401 - the harness's own
        """Ask the model, with what the memory has for this request."""
        with ours():
            assert self._trial is not None
            # The k-th tool message is the k-th result that the harness shows the agent.
            seen = self.filter_messages(self.get_messages())
            exceptions = [each.tool_call_exception for each in seen if each.sender == RoleType.EXECUTION_ENVIRONMENT]
            tools = [] if openai_tools is openai.NOT_GIVEN else list(openai_tools)
            messages = self._trial.request(openai_messages, tools, exceptions)
            self._keep(self._trial)
        return repair(super().model_inference(messages, openai_tools))

    def _keep(self, trial: Trial) -> None:
        log = trial.log()
        value = {"amd": log.as_json() if log else None}
        replace_text(_run().exposures_file(trial.scenario), json.dumps(value) + "\n")


def _real_name(shown: str) -> str:
    return str(get_current_context().get_execution_facing_tool_name(shown))


class SimulatedUser(OpenAIAPIUser):  # type: ignore[misc]  # as above
    """The harness's user simulator at an endpoint of one's own; it knows no memory."""

    def __init__(self) -> None:
        self.model_name = _run().settings.user.name
        self.openai_client = _Sampled(_client(_run().settings.user), seed=_run().settings.sent_seed)

    def model_inference(self, openai_messages: Any, openai_tools: Any) -> Any:  # noqa: ANN401 - the harness's own
        """Ask the model."""
        return repair(super().model_inference(openai_messages, openai_tools))


class NamedScenario(Scenario):  # type: ignore[misc]  # as above
    """A scenario that tells the agent its name. A worker that unpickles one imports this module, which registers."""

    @classmethod
    def of(cls, scenario: Scenario) -> NamedScenario:
        """The same scenario, named."""
        return cls(
            starting_context=scenario.starting_context,
            evaluation=scenario.evaluation,
            max_messages=scenario.max_messages,
            categories=scenario.categories,
        )

    def play(self, roles: Any, scenario_name: str) -> Any:  # noqa: ANN401 - the harness's own
        """Play it, once the agent knows which one it is."""
        roles[RoleType.AGENT].begin_scenario(scenario_name)
        return super().play(roles=roles, scenario_name=scenario_name)


AGENT_TYPE_TO_FACTORY[AGENT] = MemoryAgent
USER_TYPE_TO_FACTORY[USER] = SimulatedUser
