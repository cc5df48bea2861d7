"""A made-up phone of a gardener, and a harness around it: the conversations that a player has with itself."""

from __future__ import annotations

import json

from sheets import DUE, FERN, GARDENER, ROSE

from amd_toolsandbox.oracle.player import AGENT, USER

DAY = 86_400.0
NOW = DUE - 3 * DAY
MOST = 30
SYSTEM = {"role": "system", "content": "Ask if anything is unclear."}
END = {"type": "function", "function": {"name": "end_conversation", "parameters": {}}}


class Phone:
    """Everything is off, and low battery mode is on; what is called is answered as the harness prints it."""

    def __init__(self):
        self.settings = {"wifi": False, "cellular": False, "location_service": False, "low_battery_mode": True}
        self.people = {person["person_id"]: dict(person) for person in (ROSE, FERN, GARDENER)}
        self.sent = []

    def answer(self, tool, arguments):
        """The result of a call, or its error."""
        try:
            return repr(getattr(self, f"_{tool}")(**arguments))
        except (ConnectionError, PermissionError) as error:
            return f"{type(error).__name__}: {error}"

    def _switch(self, name, on):
        if on and self.settings["low_battery_mode"] and name != "low_battery_mode":
            raise PermissionError(f"{name} is for full batteries")
        self.settings[name] = on

    def _set_wifi_status(self, on):
        self._switch("wifi", on)

    def _set_cellular_service_status(self, on):
        # In this garden the battery does not matter for it.
        self.settings["cellular"] = on

    def _set_low_battery_mode_status(self, on):
        self._switch("low_battery_mode", on)

    def _search_contacts(self, **wanted):
        return [
            person for person in self.people.values() if all(person[name] == value for name, value in wanted.items())
        ]

    def _modify_contact(self, person_id, **news):
        self.people[person_id].update(news)

    def _send_message_with_phone_number(self, **message):
        if not self.settings["cellular"]:
            raise ConnectionError("the wire of the garden is off")
        self.sent.append(message)
        return "m-1"

    def _get_current_timestamp(self):
        return NOW

    def _search_holiday(self, holiday_name):
        if not self.settings["wifi"]:
            raise ConnectionError("the almanac is online")
        return DUE

    def _timestamp_diff(self, timestamp_0, timestamp_1):
        return {"days": int((timestamp_1 - timestamp_0) // DAY), "seconds": 0}


def offered(tools, names):
    """Tools as OpenAI functions, by the names that are shown."""
    return [
        {"type": "function", "function": {"name": names.get(name, name), "parameters": {}}} for name in sorted(tools)
    ]


def called(message, names):
    """The calls of a message as (real name, arguments), and its ids."""
    real = {shown: name for name, shown in names.items()}
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    calls = [(real.get(each["name"], each["name"]), json.loads(each["arguments"])) for each in functions]
    return calls, [call["id"] for call in message.get("tool_calls") or ()]


def converse(player, sheet, *, names=None, shown=lambda messages: messages, permuted=False):
    """Play a sheet to the user's end: every request with its answer, and the phone.

    Args:
        player: the agent and the user.
        sheet: what is played.
        names: the shown names, where they are scrambled.
        shown: what becomes of the agent's messages in each request: memory may be put in.
        permuted: results of parallel calls come back the other way round.
    """
    names, phone, asked = names or {}, Phone(), []
    tools = offered(sheet.tools, names)
    agent = [SYSTEM, {"role": "user", "content": sheet.first}]
    user = [{"role": "system", "content": sheet.brief}, {"role": "assistant", "content": sheet.first}]

    def ask(request):
        message = player(request)
        asked.append((request, message))
        return message

    for _ in range(MOST):
        message = ask({"model": AGENT, "messages": shown(list(agent)), "tools": tools})
        agent.append(message)
        calls, ids = called(message, names)
        if calls:
            results = [
                {"role": "tool", "tool_call_id": ids[at], "content": phone.answer(*call)}
                for at, call in enumerate(calls)
            ]
            agent += reversed(results) if permuted else results
            continue
        user.append({"role": "user", "content": message["content"]})
        reply = ask({"model": USER, "messages": list(user), "tools": [END]})
        if reply.get("tool_calls"):
            return asked, phone
        user.append(reply)
        agent.append({"role": "user", "content": reply["content"]})
    raise AssertionError("the conversation never ends")


def moves(asked, names=None):
    """What the agent did: words, or calls as (name, arguments)."""
    own = [message for request, message in asked if request["model"] == AGENT]
    return [called(message, names or {})[0] or message["content"] for message in own]
