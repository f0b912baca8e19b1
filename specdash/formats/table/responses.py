"""Reads a table with a row a response, or with the sums of a dataset in each row."""

from __future__ import annotations

from collections.abc import Sequence

from specdash.formats import aggregate
from specdash.formats.collect import Drafting, Responses, stepwise
from specdash.formats.producer import Context
from specdash.formats.steprows import Whose
from specdash.formats.table.cells import Cells, check_step
from specdash.formats.table.columns import Reading, Rows
from specdash.formats.table.opened import Table
from specdash.formats.table.steps import rows_of
from specdash.schema import MAX_DRAFTED, Bonus, Run, RunWarning


class ResponseTable:
    """Tables of the same columns, a row a response.

    Args:
        tables: The shards of one table.
        how: Which column is what.
        context: What the user says.
    """

    def __init__(self, tables: Sequence[Table], how: Reading, context: Context) -> None:
        self.tables, self.how, self.context = tables, how, context
        self.bonus = 1 if how.bonus is Bonus.IN else 0

    def run(self, warnings: Sequence[RunWarning]) -> Run:
        """Read them.

        Raises:
            InputError: The first row that is wrong, by its line.
        """
        if self._is_by_dataset():
            rows = [self._counters(row) for row in rows_of(self.tables, self.how)]
            return aggregate.run("", rows, self.context.k, warnings)
        responses = Responses(self.context.workspace, self.tables[0].path)
        for number, row in enumerate(rows_of(self.tables, self.how), start=1):
            dataset = row.text("dataset") or self.context.dataset
            whose = Whose(dataset, row.text("request"), row.text("prompt"), row.whole("copy", 2**31 - 1))
            by_place = f"{row.path.rpartition('/')[2]}:{number}"
            responses.add(
                whose.named if whose.request or whose.prompt else by_place,
                self._listed(row) if self.how.rows is Rows.STEPS else self._summed(row),
                dataset=dataset,
                prompt=whose.prompt,
                copy=whose.copy,
                output_tokens=row.whole("output_tokens"),
                line=row.line,
            )
        responses.warnings += warnings
        return responses.run("", self.context.k, k_listed=False)

    def _is_by_dataset(self) -> bool:
        """Tell whether rows differ in nothing but their dataset: then each is the sum of it."""
        if self.how.rows is not Rows.RESPONSE or "dataset" not in self.how.columns:
            return False
        if {"request", "prompt"} & self.how.columns.keys():
            return False
        seen: set[str | None] = set()
        for row in rows_of(self.tables, self.how):
            if (dataset := row.text("dataset")) in seen:
                return False
            seen.add(dataset)
        return True

    def _counters(self, row: Cells) -> dict[str, object]:
        found = self._summed(row)
        return aggregate.row(
            row.text("dataset") or self.context.dataset,
            row.path,
            steps=found.steps,
            drafted=found.drafted,
            accepted=found.accepted or 0,
            k=self.context.k,
        )

    def _listed(self, row: Cells) -> Drafting:
        """Return the drafting of a response whose steps stand in one cell."""
        lengths = row.wholes("accepted", MAX_DRAFTED + 1) or []
        drafts = row.wholes("drafted", MAX_DRAFTED)
        total = row.whole("drafted") if drafts is None else sum(drafts)
        if drafts is None and total is None and self.context.k is not None:
            drafts = [self.context.k] * len(lengths)
            total = sum(drafts)
        if drafts is not None and len(drafts) != len(lengths):
            found = f"{len(drafts)} and {len(lengths)}"
            raise row.wrong("drafted and accepted are not of one length", found=found, expected="an entry a step each")
        known: Sequence[int | None] = [None] * len(lengths) if drafts is None else drafts
        steps = [(k, length - self.bonus) for k, length in zip(known, lengths, strict=True)]
        for drafted, accepted in steps:
            check_step(accepted, drafted, self.how.bonus, row)
        ordered = None if drafts is None else steps
        return Drafting(stepwise(steps), len(steps), total, sum(a for _, a in steps), ordered)

    def _summed(self, row: Cells) -> Drafting:
        """Return the drafting of a response in sum."""
        steps = row.needed("steps")
        drafted = row.whole("drafted")
        if "drafted" not in self.how.columns and self.context.k is not None:
            drafted = self.context.k * steps
        if "accepted" in self.how.columns:
            accepted = row.needed("accepted") - self.bonus * steps
        else:
            accepted = self._of_mean(row, steps)
        if accepted < 0:
            found, expected = f"{accepted + steps} in {steps} steps", "a bonus token a step at least"
            raise row.wrong("an accepted length cannot be", found=found, expected=expected)
        return Drafting(None, steps, drafted, accepted)

    def _of_mean(self, row: Cells, steps: int) -> int:
        """Return the accepted tokens that a mean length means, where its decimals leave no doubt."""
        mean = row.number("accept_len")
        if mean is None:
            if steps:
                raise row.wrong("accept_len is empty", expected="a number")
            return 0
        total = (mean - self.bonus) * steps
        decimals = len(str(row.raw("accept_len")).strip().replace(",", ".").partition(".")[2])
        doubt = steps * 0.5 * 10.0**-decimals
        if doubt >= 0.5 or abs(total - round(total)) > doubt + 1e-6 * max(1.0, abs(total)):
            expected = f"a mean of whole numbers over {steps} steps, with decimals enough to tell their sum"
            raise row.wrong("the mean does not tell the accepted tokens", found=mean, expected=expected)
        return round(total)
