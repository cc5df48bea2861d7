"""A scenario that asks for an answer: songs of a library are counted, page by page."""

from __future__ import annotations

from appworld_world.belongings import library, plays
from appworld_world.people import person
from appworld_world.scenarios.shapes import ANSWERS, Check, Scenario, Variant

__all__ = ["PLAYED"]

CELLS = (
    """
token = apis.spotify.login(username=profile["email"], password=passwords["spotify"])["access_token"]
print(apis.spotify.show_song_library(access_token=token, page_index=0))
""",
    """
song_ids = []
for page in range(100):
    rows = apis.spotify.show_song_library(access_token=token, page_index=page)
    if not rows:
        break
    song_ids.extend(row["song_id"] for row in rows)
print(len(song_ids))
""",
    """
count = sum(apis.spotify.show_song(song_id=song_id)["play_count"] > $least for song_id in song_ids)
print(count)
""",
    "apis.supervisor.complete_task(answer=count)",
)


def _variant(first_name: str, least: int) -> Variant:
    """One task; its answer is counted in what the world is made from."""
    asking = person(first_name)
    return Variant(
        asking,
        f"How many of the songs in my Spotify library have been played more than {least} times?",
        {"least": least},
        answer=sum(plays(song_id) > least for song_id in library(asking)),
    )


PLAYED = Scenario(
    "0e66e05",
    "train",
    2,
    (_variant("Ada", 250), _variant("Bo", 500), _variant("Cleo", 700)),
    CELLS,
    (ANSWERS, Check("assert nothing changed.", 'test.case(models.changed_model_names(), "==", set())', "no_op_pass")),
)
