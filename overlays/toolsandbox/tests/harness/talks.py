"""What was on the wire, scenario by scenario, beside what the harness wrote down of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from amd.testing import LoopbackServer
from amd.traces import strip_memory
from amd_toolsandbox.context import read_context
from amd_toolsandbox.folders import CONTEXT
from amd_toolsandbox.oracle.player import AGENT
from amd_toolsandbox.run import Run
from amd_toolsandbox.standing import harness_folders

HINT = "<memory_hint>"
SCENARIOS = (
    "wifi_off",
    "cellular_off_3_distraction_tools",
    "get_wifi_10_distraction_tools",
    "turn_on_wifi_low_battery_mode_all_tools",
    "turn_on_cellular_low_battery_mode_implicit_3_distraction_tools_arg_type_scrambled",
    "turn_on_location_low_battery_mode_3_distraction_tools_arg_description_scrambled",
    "send_message_with_phone_number_and_content_3_distraction_tools",
    "send_message_with_contact_content_cellular_off_3_distraction_tools_tool_name_scrambled",
    "send_message_with_contact_content_cellular_off_multiple_user_turn",
    "find_thanksgiving_timestamp_all_tools",
    "find_days_till_holiday_wifi_off_10_distraction_tools",
    "find_days_till_holiday_wifi_off_multiple_user_turn_3_distraction_tools_tool_name_scrambled",
    "find_days_till_holiday_insufficient_information_all_tools",
    "remove_contact_by_phone_no_remove_contact_insufficient_information",
    "modify_contact_with_message_recency_3_distraction_tools_arg_type_scrambled",
    "update_contact_relationship_with_relationship_3_distraction_tools_tool_description_scrambled",
    "update_contact_relationship_with_relationship_twice_multiple_user_turn_10_distraction_tools",
    "search_message_with_recency_oldest_multiple_user_turn",
    "add_reminder_content_and_week_delta_and_time_3_distraction_tools_tool_name_scrambled",
    "remove_reminder_with_recency_latest_all_tools",
)
"""What the arms play: a scenario of each variant and each category, a third of them with errors."""


@dataclass(frozen=True)
class Played:
    """One arm that was played: what the command said, the run, the server, and each scenario's talk."""

    done: object
    run: Path
    server: LoopbackServer
    talks: dict


@dataclass(frozen=True)
class Talk:
    """One scenario: the bodies of the agent's requests in order, the rows that the agent could see, and its tools."""

    requests: list
    rows: list
    tools: frozenset

    @property
    def last(self):
        """The messages of the last request."""
        return self.requests[-1]["messages"]

    @property
    def results(self):
        """The tool messages of the last request, each with the row that the harness kept of it."""
        sent = [message for message in self.last if message["role"] == "tool"]
        kept = [row for row in self.rows if row.way == ("EXECUTION_ENVIRONMENT", "AGENT")]
        return list(zip(sent, kept, strict=False))

    @property
    def injected(self):
        """All that memory put into the last request: (role, text)."""
        return [(message["role"], memory) for message in self.last if (memory := memory_of(message["content"]))]


def memory_of(content):
    """The part of a message that memory put there."""
    plain, found = strip_memory(content or "")
    return content.removeprefix(plain).removesuffix(plain) if found else ""


def bodies(server, model):
    """The bodies of a model's chat requests, in order."""
    return [each.body for each in server.requests if each.method == "POST" and each.body["model"] == model]


def offered(body):
    """The names of the tools of a request."""
    return frozenset(tool["function"]["name"] for tool in body.get("tools") or ())


def talks(run, server, scrambled):
    """Scenario -> its talk, for a run directory and the server that it asked; every request is of one scenario."""
    kept = {path.name: path / CONTEXT for folder in harness_folders(Run(run)) for path in folder.scenarios}
    found = {name: _kept(path.read_bytes(), scrambled) for name, path in kept.items()}
    for body in bodies(server, AGENT):
        said = [strip_memory(each["content"])[0] for each in body["messages"] if each["role"] == "user"]
        (talk,) = [talk for talk in found.values() if talk.tools == offered(body) and talk.rows[1].text in said]
        talk.requests.append(body)
    return found


def _kept(content, scrambled):
    """A scenario as the harness keeps it; its rows begin with a word to the agent and the user's first words."""
    context, value = read_context(content), json.loads(content)
    names = scrambled if context.scrambled_names else {}
    tools = set(value["tool_allow_list"]) - set(value["tool_deny_list"] or ()) - {"end_conversation"}
    rows = [row for row in context.rows if row.seen_by("AGENT")]
    return Talk([], rows, frozenset(names.get(tool, tool) for tool in tools))
