"""Next-call prediction, the measurement of ``scripts/bench_student.py``: items, arms, answers, figures."""
