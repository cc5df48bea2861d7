"""The reader of AppWorld's runs, on made-up experiments in AppWorld's shapes."""

from __future__ import annotations

import json

import pytest
from made_experiments import (
    CELLS,
    DENIED,
    MODEL,
    READER,
    TASK,
    TEXTS,
    Root,
    failed,
    log,
    reply,
    report,
    told,
    verdict,
)

from amd.build import admit
from amd.errors import ConfigError, TrajectoryError
from amd.traces import Refusal, Trajectory, reader_options

GOOD = "Execution successful."


@pytest.fixture
def root(tmp_path):
    """A root with one task of train and its good run."""
    return Root(tmp_path).data().run()


def test_a_run_is_read(root):
    """Task, words, calls with their own answers, outcome, source; the tools are the world's."""
    run = root.only()
    assert (run.task.task_id, run.task.family, run.task.split) == (TASK, "abc1234", "train")
    assert [step.text for step in run.turns[0].steps] == list(TEXTS)
    assert told(run) == [
        ("music.show_songs", False, DENIED),
        ("music.login", True, GOOD),
        ("music.show_songs", True, '[\n {\n  "song_id": 3\n }\n]'),
        ("supervisor.complete_task", True, GOOD),
    ]
    assert (run.outcome.success, run.outcome.score) == (True, 1.0)
    assert (run.source.teacher, run.source.run_id, run.source.kind) == (MODEL, "run", "teacher")
    assert run.source.memory_assisted is False
    assert [tool.name for tool in run.tools][:2] == ["music.login", "music.show_song"]
    assert root.notes() == {}


def test_what_the_code_computes_is_what_was_sent(root):
    """Where all requests say the same; without the log of requests it is a stand-in."""
    assert root.only().calls[2].arguments == {"access_token": "t-123", "order": "louder"}
    assert root.only().calls[3].arguments == {"answer": 1}
    (root.logs() / "api_calls.jsonl").unlink()
    assert root.only().calls[2].arguments == {"access_token": "<access_token>", "order": "louder"}


def test_a_call_that_was_never_sent_did_not_happen(root):
    """A branch that was not taken; counted."""
    cells = ((f"if False:\n    apis.music.show_song(song_id=1)\n{CELLS[1][0]}", GOOD), *CELLS[2:])
    root.run(cells=cells, texts=TEXTS[1:])
    assert [call.name for call in root.only().calls] == ["music.login", "music.show_songs", "supervisor.complete_task"]
    assert root.notes() == {"calls_never_sent": 1}


def test_success_comes_from_the_evaluation_or_the_report(tmp_path):
    """And from neither if there is neither."""
    root = Root(tmp_path).data().run(scored=None)
    assert root.only().outcome.success is None
    root.evaluation({TASK: verdict(success=False)})
    assert root.only().outcome.success is False
    root.evaluation({TASK: {"passes_fully": True}})
    assert root.only().outcome.success is True
    assert admit(root.items()).refused == {}


def test_scores_that_contradict_each_other(root):
    """Refused: the evaluation and the report, two evaluations, a success of an agent that did nothing."""
    root.evaluation({TASK: verdict(success=True)})
    assert isinstance(root.only(), Trajectory)
    root.evaluation({TASK: verdict(success=False)})
    assert (root.only().reason, "failure" in root.only().detail) == ("score_mismatch", True)
    root.evaluation({TASK: verdict(success=True)}, "again")
    assert root.only().reason == "score_mismatch"
    root.evaluation({}).evaluation({}, "again").run(cells=(), texts=(), requests=())
    assert root.only().reason == "score_mismatch"


def test_a_report_that_cannot_be_read(root):
    """It is no success by itself; torn, or with counts that do not add up."""
    for text in ("# Report", report().replace("Tests : 3", "Tests : 4", 1), report(0, 0)):
        root.write(f"experiments/outputs/run/tasks/{TASK}/evaluation/report.md", text)
        found = root.only()
        assert found.reason == "score_mismatch" if isinstance(found, Refusal) else found.outcome.success is False


def test_without_the_data_there_is_no_instruction(tmp_path):
    """Refused with the next step; the root may be named, and lie anywhere."""
    root = Root(tmp_path / "runs").run()
    assert root.only().reason == "unreadable"
    assert "--root" in root.only().detail
    other = Root(tmp_path / "data_root").data()
    assert root.only(root=str(other.path)).task.instruction.startswith("How many")
    assert root.only(root=str(other.path / "data")).task.split == "train"
    with pytest.raises(ConfigError, match="has no data/tasks"):
        root.only(root=str(tmp_path / "nowhere"))


def test_the_log_that_lost_its_tail(root):
    """A last reply whose code did not run: it is counted, and the words stay with their own cells."""
    lines = (root.logs() / "lm_calls.jsonl").read_text(encoding="utf-8")
    (root.logs() / "lm_calls.jsonl").write_text(lines + reply("print('a'", "Wait.") + "\n", encoding="utf-8")
    assert [step.text for step in root.only().turns[0].steps] == list(TEXTS)
    assert root.notes() == {"cells_lost": 1}


def test_replies_that_were_asked_for_again(root):
    """A reply without the code of any cell is passed over."""
    lines = (root.logs() / "lm_calls.jsonl").read_text(encoding="utf-8").split("\n")
    lines.insert(1, reply("nothing_of_the_kind()", "Hm."))
    (root.logs() / "lm_calls.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert [step.text for step in root.only().turns[0].steps] == list(TEXTS)


def test_words_that_cannot_be_told_apart_are_left_out(root):
    """A hole in the model's log, replies of another run, no log at all: the calls stay."""
    path = root.logs() / "lm_calls.jsonl"
    good = path.read_text(encoding="utf-8").split("\n")
    other = [reply("other()", "Other words.") for _ in CELLS]
    for lines, note in (
        ([good[0], '{"torn', *good[2:]], {"unreadable_lm_calls": 1}),
        (other, {"replies_do_not_match": 1}),
    ):
        path.write_text("\n".join(lines), encoding="utf-8")
        run = root.only()
        assert {step.text for step in run.turns[0].steps} == {""}
        assert (len(run.calls), root.notes()) == (4, note)
    path.unlink()
    assert root.notes() == {"no_lm_calls": 1}
    assert root.only().source.teacher == "unknown"


def test_a_cell_that_nobody_wrote_refuses_the_run(root):
    """More cells than replies, one in none of them: an answer may have forged it."""
    cells = (*CELLS, ("apis.music.show_song(song_id=1)", "{}"))
    (root.logs() / "environment_io.md").write_text(log(*cells), encoding="utf-8")
    assert root.only().reason == "unreadable"
    assert "5 cells" in root.only().detail


def test_a_torn_last_line_of_the_models_log(root):
    """The last reply is not known: no words, and the run stays."""
    path = root.logs() / "lm_calls.jsonl"
    path.write_bytes(path.read_bytes()[:-100])
    assert (len(root.only().calls), root.notes()) == (4, {"replies_do_not_match": 1})


def test_failures_end_their_cell(tmp_path):
    """What stands after the call that failed did not happen; what stands before it did."""
    line = "b = apis.music.show_songs(access_token='x')"
    code = f"a = apis.music.show_song(song_id=1)\n{line}\nc = apis.music.show_song(song_id=2)"
    said = failed(2, line, DENIED, marks="    " + "^" * 39)
    root = Root(tmp_path).data().run(cells=((code, said),), texts=("",), requests=None)
    assert told(root.only()) == [("music.show_song", True, ""), ("music.show_songs", False, DENIED)]


def test_a_plain_error_of_python_ends_its_cell_too(tmp_path):
    """The calls of earlier lines happened; those of its own line and of later ones are not certain."""
    code = "a = apis.music.show_song(song_id=1)\nprint(a['x'])\nb = apis.music.show_songs(access_token='x')"
    said = (
        "Execution failed. Traceback:\n  File \"<python-input>\", line 2, in <module>\n    print(a['x'])\nKeyError: 'x'"
    )
    root = Root(tmp_path).data().run(cells=((code, said),), texts=("",), requests=None)
    assert told(root.only()) == [("music.show_song", True, "")]


def test_an_error_that_the_code_caught(tmp_path):
    """The one call that is guarded failed; of two, and in a loop, nobody knows, and they are left out."""
    said = f"sorry Response status code is 401:\n{json.dumps({'message': DENIED})}"
    one = "try:\n    apis.music.show_songs(access_token='x')\nexcept Exception as e:\n    print('sorry', e)"
    root = Root(tmp_path).data().run(cells=((one, said),), texts=("",), requests=None)
    assert told(root.only()) == [("music.show_songs", False, DENIED)]
    two = one.replace("    apis", "    apis.music.show_song(song_id=1)\n    apis", 1)
    root.run(cells=((two, said),), texts=("",), requests=None)
    assert (told(root.only()), root.notes()) == ([], {"calls_left_out": 2})
    loop = f"for t in 'ab':\n    {one.replace(chr(10), chr(10) + '    ')}"
    root.run(cells=((loop, said),), texts=("",), requests=None)
    assert (told(root.only()), root.notes()) == ([], {"calls_left_out": 1})


@pytest.mark.parametrize(
    ("code", "output", "observations"),
    [
        ("print(apis.music.show_song(song_id=1))", '{"title": "Loud"}', ['{"title": "Loud"}']),
        ("print(apis.music.show_song(song_id=1)['title'])", "Loud", ['{"title": "Loud"}']),
        ("print(apis.music.show_song(song_id=1)['plays'])", "7", ['{"plays": 7}']),
        ("s = apis.music.show_song(song_id=1)\nprint(len(s))", "7", [""]),
        ("s = apis.music.show_song(song_id=1)\nprint(s)\nprint('done')", "{}\ndone", [""]),
        ("s = apis.music.show_song(song_id=1)\nif s:\n    print(s)", GOOD, [""]),
        ("a = apis.music.show_song(song_id=1)\nprint(apis.music.show_song(song_id=2))", '{"a": 1}', ["", '{"a": 1}']),
        (
            "print('a'",
            "Execution failed. Traceback:\nSyntax error in line:\nprint('a'\nMessage: '(' was never closed",
            [],
        ),
    ],
)
def test_which_answer_is_a_calls_own(tmp_path, code, output, observations):
    """Only the whole of what it gave, or a part that its key names; all else is nobody's."""
    root = Root(tmp_path).data().run(cells=((code, output),), texts=("",), requests=None)
    assert [call.observation for call in root.only().calls] == observations


def test_folders(tmp_path):
    """Several experiments below a path, links, each once; no path, a file, an empty experiment."""
    one, two = Root(tmp_path, "one").data().run(), Root(tmp_path, "two").run(scored=False)
    (tmp_path / "link").symlink_to(one.experiment)
    options = reader_options(READER, {})

    def count(*paths):
        return sum(isinstance(item, Trajectory) for item in READER.read(list(paths), options))

    assert count(tmp_path) == count(one.experiment, two.experiment, tmp_path / "link") == 2
    assert count(tmp_path / "link") == count(one.experiment / "tasks") == 1
    (one.experiment / "loop").symlink_to(tmp_path)
    assert count(tmp_path) == 2
    (tmp_path / "empty" / "tasks").mkdir(parents=True)
    for path, said in (
        (tmp_path / "no", "no such folder"),
        (one.logs() / "lm_calls.jsonl", "a file"),
        (tmp_path / "empty", "no experiment"),
        (tmp_path / "data", "no experiment"),
    ):
        with pytest.raises(TrajectoryError, match=said):
            count(path)


def test_folders_that_are_no_task_or_have_no_log(root):
    """Each is refused by itself."""
    root.write("experiments/outputs/run/tasks/notes/logs/environment_io.md", log(*CELLS))
    root.data(TASK, "abc1234_2")
    root.write("experiments/outputs/run/tasks/abc1234_2/logs/other.txt", "x")
    refused = {item.task_id: item.detail for item in root.items() if isinstance(item, Refusal)}
    assert set(refused) == {"notes", "abc1234_2"}
    assert "cannot be read" in refused["abc1234_2"]


def test_hostile_logs(root):
    """Surrogates, NaN, bytes that are no text, two megabytes, data of another version: each run is read or refused."""
    surrogate = reply(CELLS[0][0], "sm\ud83dile")
    lines = [surrogate, *[reply(code, text) for (code, _), text in zip(CELLS[1:], TEXTS[1:], strict=True)]]
    (root.logs() / "lm_calls.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert root.only().turns[0].steps[0].text == "sm?ile"
    (root.logs() / "api_calls.jsonl").write_text(
        '{"method": "get", "url": "/x", "data": {"a": NaN}}\n', encoding="utf-8"
    )
    assert root.only().calls[2].arguments["access_token"] == "<access_token>"
    cells = (*CELLS[:3], (CELLS[3][0], "x" * 2_000_000))
    (root.logs() / "environment_io.md").write_bytes(log(*cells).encode())
    assert len(root.only().calls) == 4
    (root.logs() / "environment_io.md").write_bytes(b"\xff\xfe" + log(*CELLS).encode())
    assert root.only().reason == "unreadable"
    root.run().write("data/api_docs/standard/music.json", {"play": {"path": 7}})
    with pytest.raises(ConfigError, match=r"music\.play"):
        root.items()
