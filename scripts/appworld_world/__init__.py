"""A small world for AppWorld, of people, songs, notes and tasks that are invented here.

``place`` knows whose a root's data is, ``people`` and ``belongings`` what the world holds, ``scenarios`` what is asked
in it; ``building`` alone imports appworld.
"""
