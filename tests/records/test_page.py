"""The page about records: the rule that it shows is one, and so is the function beside it."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

from jobservice import records
from jobservice.application import Application
from jobservice.rules.items import Content, Payment
from jobservice.rules.scores import score_item
from tests.records.applications import GOOD, an_application, reject

PAGE = (Path(__file__).parents[2] / "docs" / "records.md").read_text()


def block(language: str, begins: str) -> str:
    """The one block of code in the page that begins so."""
    found = [each for each in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if each.startswith(begins)]
    assert len(found) == 1
    return str(found[0])


def shown_application(folder: Path) -> Application:
    """The good set with the rule of the page besides, registered as the page does it."""
    application = an_application(reject=reject)
    application.records = shutil.copytree(GOOD, folder / "records")
    (application.records / "rules" / "shown.yaml").write_text(block("yaml", "kind: rule"))
    exec(block("python", "from jobservice.application import"), {"application": application, "datetime": datetime})  # noqa: S102  # a page of this repository
    return application


def test_the_rule_of_the_page_has_no_findings_and_scores(tmp_path: Path) -> None:
    application = shown_application(tmp_path)
    found, findings = records.check(application)
    assert findings == ()
    assert found is not None
    identifier = "payout.release-score"
    payment = Payment(minor=90_126_13, currency="GBP", payee_id="S-1", payee_name="Payee", account="XJ00DEMO1")
    content = Content(title="T", payment=payment, inputs={"invoice": "missing"})
    now = datetime(2026, 3, 10, tzinfo=UTC)
    function = application.rules[identifier].function
    scored = score_item(found.rules[identifier], function, content, now - timedelta(days=6), now)
    assert (scored.failure, [part.points for part in scored.parts]) == (None, [36, 24, 20])
