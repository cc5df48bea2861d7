"""Made-up run folders in the harness's shapes: invented texts and tools, under the names of real scenarios."""

from __future__ import annotations

import json
from pathlib import Path

from amd.traces import Note, Refusal, Trajectory, load_reader, reader_options

READER = load_reader("toolsandbox")
ASKED = "Please water bed 4 in the garden"
BRIEF = "User A wants bed 4 watered with the red can. The can is behind the shed, which must not be told."
DRY = "ConnectionError: The pump of the garden is off"


def row(sender, recipient, content, **more):
    """One row; what is not given is null, as the harness writes it."""
    usual = dict.fromkeys(
        ("openai_tool_call_id", "openai_function_name", "tool_call_exception", "tool_trace", "visible_to")
    )
    return {"sandbox_message_index": 0, "sender": sender, "recipient": recipient, "content": content, **usual} | {
        "conversation_active": True,
        **more,
    }


def guard():
    """A row that holds nothing: the harness writes one before each snapshot."""
    return dict.fromkeys(row(None, None, None))


def start(asked=ASKED):
    """What a scenario begins with: imports, a word to the agent, examples for the user, the brief, the first words."""
    example = {"visible_to": ["USER"]}
    return [
        guard(),
        row("SYSTEM", "EXECUTION_ENVIRONMENT", "import json\nfrom garden import water"),
        row("SYSTEM", "AGENT", "Ask if anything is unclear."),
        row("SYSTEM", "USER", "You play a gardener.", **example),
        row("USER", "AGENT", "I want a rose.", **example),
        row("AGENT", "USER", "Which rose?", **example),
        row("USER", "EXECUTION_ENVIRONMENT", "end_conversation()", **example),
        row("SYSTEM", "USER", BRIEF),
        row("USER", "AGENT", asked),
    ]


def call(name="water", arguments=None, call_id="call_1", shown=None, written=None):
    """The agent's call as the code that the harness makes of it."""
    written = repr({"bed": 4} if arguments is None else arguments) if written is None else written
    code = f"{call_id}_parameters = {written}\n{call_id}_response = {name}(**{call_id}_parameters)\n"
    code += f"print(repr({call_id}_response))"
    return row(
        "AGENT",
        "EXECUTION_ENVIRONMENT",
        code,
        openai_tool_call_id=call_id,
        openai_function_name=shown or name,
        visible_to=["AGENT", "EXECUTION_ENVIRONMENT"],
    )


def result(name="water", content="None", call_id="call_1", error=None, arguments=None, shown=None):
    """The result of a call: its value and its trace, or the exception that was recorded."""
    trace = {"tool_name": name, "arguments": {"bed": 4} if arguments is None else arguments, "result": None}
    return row(
        "EXECUTION_ENVIRONMENT",
        "AGENT",
        content if error is None else error,
        openai_tool_call_id=call_id,
        openai_function_name=shown or name,
        tool_call_exception=error,
        tool_trace=None if error else [json.dumps(trace)],
        visible_to=["EXECUTION_ENVIRONMENT", "AGENT"],
    )


def says(text="Bed 4 is watered."):
    """The agent speaks to the user."""
    return row("AGENT", "USER", text, visible_to=["AGENT", "USER"])


def asks(text="And bed 5, please"):
    """The user speaks to the agent."""
    return row("USER", "AGENT", text, visible_to=["USER", "AGENT"])


def ends():
    """The user ends the conversation, by a call of its own."""
    code = "c_parameters = {}\nc_response = end_conversation(**c_parameters)\nprint(repr(c_response))"
    to, back = ("USER", "EXECUTION_ENVIRONMENT"), ("EXECUTION_ENVIRONMENT", "USER")
    return [
        row(*to, code, visible_to=[*to], conversation_active=False),
        row(*back, "None", visible_to=[*back], conversation_active=False),
    ]


def played(*rows, asked=ASKED, ended=True):
    """All rows of a scenario, with empty ones in between."""
    whole = [*start(asked), guard(), *rows, *(ends() if ended else [])]
    return [each for played_row in whole for each in (guard(), played_row)]


def context(*rows, scrambled=False, **more):
    """A context whose conversation is these rows; without any, one call and a word."""
    return {
        "_dbs": {"SANDBOX": played(*(rows or (call(), result(), says())), **more), "SETTING": [{"wifi": True}]},
        "interactive_console": None,
        "tool_allow_list": ["water"],
        "trace_tool": True,
        "tool_augmentation_list": ["TOOL_NAME_SCRAMBLED"] if scrambled else [],
    }


def score(name, similarity=1.0, **more):
    """A row of a summary."""
    return {
        "name": name,
        "categories": ["SINGLE_TOOL_CALL"],
        "traceback": None,
        "exception_type": None,
        "milestone_similarity": similarity,
        "minefield_similarity": 0,
        "similarity": similarity,
        "turn_count": 3,
        "milestone_mapping": {"0": [17, similarity]},
        "minefield_mapping": {},
        **more,
    }


def write(folder: Path, contexts, scores="all", name="result_summary.json") -> Path:
    """A folder as the harness leaves it; ``scores`` are its rows, ``None`` for no summary."""
    for scenario, value in contexts.items():
        place = folder / "trajectories" / scenario
        place.mkdir(parents=True, exist_ok=True)
        content = value if isinstance(value, bytes) else json.dumps(value, indent=4).encode()
        (place / "execution_context.json").write_bytes(content)
        (place / "conversation.json").write_text("[the expected answers", encoding="utf-8")
    if scores is not None:
        rows = [score(scenario) for scenario in contexts] if scores == "all" else scores
        summary = {"per_scenario_results": rows, "category_aggregated_results": {}, "git_sha": None}
        (folder / name).write_text(json.dumps(summary), encoding="utf-8")
    return folder


def items(*paths, **options):
    """Everything that the reader gives for the paths."""
    return list(READER.read(list(paths), reader_options(READER, options)))


def runs(*paths, **options):
    """The runs that it gives."""
    return [item for item in items(*paths, **options) if isinstance(item, Trajectory)]


def refusals(*paths, **options):
    """What it refuses."""
    return [item for item in items(*paths, **options) if isinstance(item, Refusal)]


def notes(*paths, **options):
    """What it counts."""
    return {item.name: item.count for item in items(*paths, **options) if isinstance(item, Note)}
