"""The sections on what a run of a task cost, what each memory cost, and when that is repaid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from amd.evaluate.blocks import Block, Heading, Table
from amd.evaluate.costs import BuildCost, Repayment
from amd.evaluate.report import Report
from amd.evaluate.wording import UNCOUNTED, counted, mean

__all__ = ["cost_section", "runs_cost_table"]


def runs_cost_table(report: Report) -> Table:
    """One row an arm: what one run of a task took; a column that no arm has a value for is left out."""
    columns = {
        "steps": [mean(arm.steps) for arm in report.arms],
        "seconds": [mean(arm.seconds) for arm in report.arms],
        "prompt tokens": [mean(arm.prompt_tokens, digits=0) for arm in report.arms],
        "reply tokens": [mean(arm.completion_tokens, digits=0) for arm in report.arms],
    }
    known = {head: cells for head, cells in columns.items() if any(cell != UNCOUNTED for cell in cells)}
    titles = [arm.title for arm in report.arms]
    return Table(("arm", *known), tuple(zip(titles, *known.values(), strict=True)), _counted_how(known))


def _counted_how(known: Mapping[str, Sequence[str]]) -> str:
    """What the columns that are there mean."""
    told = ["What the student took for one run of a task: means over those that came to an end."]
    if "steps" in known:
        told.append(
            "A step is what the harness counts: on BFCL a request to the student, in ToolSandbox a message, in "
            "AppWorld a cell of code, elsewhere a request."
        )
    if "prompt tokens" in known or "reply tokens" in known:
        told.append("Tokens are what the student's endpoint counted over all steps, memory among them.")
    if any(UNCOUNTED in cells for cells in known.values()):
        told.append("A dash where the harness does not say.")
    return " ".join(told)


def cost_section(report: Report) -> Iterator[Block]:
    """What a run of a task cost, what each memory cost, and when it is repaid where prices were given."""
    spent = runs_cost_table(report)
    if len(spent.head) > 1:
        yield Heading("What a run of a task cost")
        yield spent
    built = tuple((arm.title, *_built(arm.build)) for arm in report.arms if arm.build)
    if built:
        yield Heading("What the memory cost")
        yield Table(
            ("arm", "distiller", "runs in it", "runs read", "requests", "prompt tokens", "reply tokens", "seconds"),
            built,
            "What the last build that changed the memory asked of its distiller, from the memory's manifest; the rules "
            "ask for nothing. Runs read counts the refused ones too; it is unknown of a memory that was published more "
            "than once.",
            words=(0, 1),
        )
    repaid = tuple((arm.title, *_repaid(arm.repayment)) for arm in report.arms if arm.repayment)
    if repaid:
        only = any(arm.repayment and arm.repayment.admitted_only for arm in report.arms)
        yield Table(
            ("arm", "teacher's runs paid", "invested", "a run of the teacher", "a run of the student", "repaid after"),
            repaid,
            "In the currency of the prices that were given. Invested are the teacher's runs, the failed and otherwise "
            "refused ones too, and the distiller's work; each run of the student in the teacher's place saves the "
            "difference of the two."
            + (
                " Admitted only: the manifest of a memory that was published more than once does not tell how many "
                "runs were read, so these count only the runs that the memory is made of, and the true figures may be "
                "higher."
                if only
                else ""
            ),
            words=(0, 1),
        )


def _built(cost: BuildCost) -> tuple[str, ...]:
    if cost.unknown:
        return (cost.unknown, "", "", "", "", "", "")
    return (
        cost.distiller,
        str(cost.runs),
        "unknown" if cost.read is None else str(cost.read),
        f"{cost.requests:,}",
        f"{cost.prompt_tokens:,}",
        f"{cost.completion_tokens:,}",
        mean(cost.seconds),
    )


def _repaid(found: Repayment) -> tuple[str, ...]:
    if found.unknown:
        return (found.unknown, "", "", "", "")
    after = "never: the student costs as much" if found.runs is None else counted(found.runs, "run")
    paid = f"{found.teacher_runs:,}{' admitted only' if found.admitted_only else ''}"
    return (paid, f"{found.invested:.4f}", f"{found.teacher:.6f}", f"{found.student:.6f}", after)
