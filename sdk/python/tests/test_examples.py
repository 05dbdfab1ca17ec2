import importlib
import os
import sys
import unittest
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

from test_receiver import SECRET, delivery

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))


def load(name: str) -> Any:
    with patch.dict(os.environ, {"PARLEY_WEBHOOK_SECRET": SECRET}):
        return importlib.import_module(name)


class ExamplesTest(unittest.TestCase):
    @unittest.skipUnless(find_spec("flask"), "flask is not installed")
    def test_flask(self) -> None:
        client = load("flask_receiver").app.test_client()

        def post(headers: Any, body: bytes) -> int:
            return int(client.post("/hooks/parley", headers=headers, data=body).status_code)

        self.assertEqual([post(*delivery("a")), post(*delivery("a", "whsec_other")), post({}, b"")], [204, 400, 400])

    @unittest.skipUnless(find_spec("fastapi") and find_spec("httpx"), "fastapi or httpx is not installed")
    def test_fastapi(self) -> None:
        from fastapi.testclient import TestClient

        client = TestClient(load("fastapi_receiver").app)

        def post(headers: Any, body: bytes) -> int:
            return int(client.post("/hooks/parley", headers=headers, content=body).status_code)

        self.assertEqual([post(*delivery("a")), post(*delivery("a", "whsec_other")), post({}, b"")], [204, 400, 400])


if __name__ == "__main__":
    unittest.main()
