"""Log lines are JSON on stderr and hold no secret, whoever writes them."""

from __future__ import annotations

import json
import subprocess
import sys

from jobservice.logs import hide_secrets

TOKEN = "jc_" + "a" * 43


def test_secrets_are_hidden_at_any_depth() -> None:
    event = hide_secrets(
        None,
        "info",
        {
            "event": f"got {TOKEN} from postgresql://me:s3cret@host/db",
            "token": "s3cret",
            "deep": {"authorization": "Bearer s3cret", "list": [f"Bearer {TOKEN}", ("password=s3cret x",)]},
            "error": ValueError(f"{TOKEN}"),
            "count": 3,
            "none": None,
        },
    )
    assert "s3cret" not in str(event)
    assert "aaa" not in str(event)
    assert (event["count"], event["none"]) == (3, None)
    assert "postgresql://me:***@host/db" in event["event"]


def test_every_library_writes_json_to_stderr_without_secrets() -> None:
    code = (
        "import logging, structlog; from jobservice import logs; logs.configure();"
        f"structlog.get_logger('x').info('hello', url='postgresql://a:s3cret@h/d', said='{TOKEN}');"
        f"logging.getLogger('other').warning('warned of %s', '{TOKEN}');"
        "logging.getLogger('psycopg.pool').warning('noise');\n"
        "try:\n    raise ValueError('password=s3cret')\n"
        "except ValueError:\n    structlog.get_logger('x').exception('broke')\n"
    )
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert done.stdout == ""
    assert [line["event"] for line in lines] == ["hello", "warned of jc_***", "broke"]
    assert "s3cret" not in done.stderr
    assert "aaa" not in done.stderr
    assert "ValueError" in lines[2]["exception"]
    assert all(line["timestamp"].endswith("Z") and line["level"] for line in lines)
