"""Recorded conversations, which `Phone.play` of `parley.testing` plays."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

if TYPE_CHECKING:
    from .testing import Phone, PhoneMessage


def read_scenario(given: Union[str, "os.PathLike[str]", Mapping[str, Any]]) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        name, scenario = "The scenario", given
    else:
        name, scenario = f'"{os.fspath(given)}"', _read_json(given)
    if not _is_scenario(scenario):
        raise ValueError(
            f'{name} is not a scenario. It needs "version": 1 and "steps", '
            'each from the "person" with an "action" or from the "business" with "expect".'
        )
    return scenario


def _read_json(path: Union[str, "os.PathLike[str]"]) -> Any:
    with open(path, encoding="utf-8") as file:
        try:
            return json.load(file)
        except ValueError:
            return None


def _is_scenario(value: Any) -> bool:
    if not isinstance(value, Mapping) or value.get("version") != 1 or not isinstance(value.get("steps"), list):
        return False
    return all(isinstance(step, Mapping) and _is_step(step) for step in value["steps"])


def _is_step(step: Mapping[str, Any]) -> bool:
    if step.get("from") == "person":
        return isinstance(step.get("action"), str)
    return step.get("from") == "business" and isinstance(step.get("expect"), Mapping)


def play_scenario(
    phone: "Phone",
    advance: Callable[[float], None],
    scenario: Mapping[str, Any],
    *,
    reorder: bool,
    delays: bool,
    speed: float,
    to: Optional[str],
    within: float,
) -> None:
    steps: List[Mapping[str, Any]] = scenario["steps"]
    redacted = bool(scenario.get("redacted"))
    ids: Dict[str, str] = {}
    #: The steps of the business that have not been received, with their numbers.
    awaited: List[Tuple[int, Mapping[str, Any]]] = []

    def receive() -> None:
        while awaited:
            message = _next_message(phone, awaited[0], len(steps), redacted, within)
            fitting = (each for each in awaited if _fits(each[1]["expect"], message, redacted))
            number, step = next(fitting, awaited[0]) if reorder else awaited[0]
            awaited.remove((number, step))
            if not _fits(step["expect"], message, redacted):
                raise AssertionError(
                    f"Step {number} of {len(steps)}: the bot sent another message.\n"
                    f"  expected  {_expected(step, redacted)}\n"
                    f"  received  {describe(message.type, message.text)}"
                )
            if "id" in step:
                ids[step["id"]] = message.id

    for number, step in enumerate(steps, 1):
        if step["from"] == "person":
            receive()
        wait_ms = step.get("after_ms", 0) / speed if delays else 0
        if wait_ms > 0:
            advance(wait_ms / 1000)
        if step["from"] == "business":
            awaited.append((number, step))
        else:
            # Later steps go to the sender of the latest message.
            address = {"to": to} if number == 1 and to is not None else {}
            _act(phone, step, number, ids, address)
    receive()


def _next_message(
    phone: "Phone", awaited: Tuple[int, Mapping[str, Any]], count: int, redacted: bool, within: float
) -> "PhoneMessage":
    number, step = awaited
    try:
        return phone.received(within=within)
    except AssertionError as error:
        raise AssertionError(
            f"Step {number} of {count}: the bot sent nothing.\n  expected  {_expected(step, redacted)}\n{error}"
        ) from None


def _act(phone: "Phone", step: Mapping[str, Any], number: int, ids: Dict[str, str], address: Mapping[str, str]) -> None:
    values: Dict[str, Any] = {**address, **step.get("input", {})}
    for key in ("message", "replyTo"):
        if values.get(key) in ids:
            values[key] = ids[values[key]]
    try:
        id = phone.act(step["action"], values)
    except RuntimeError as error:
        raise AssertionError(f"""Step {number}, the person's "{step['action']}": {error}""") from None
    if "id" in step:
        ids[step["id"]] = id


def _fits(expected: Mapping[str, Any], message: "PhoneMessage", redacted: bool) -> bool:
    if expected.get("type", message.type) != message.type:
        return False
    return redacted or expected.get("text", message.text) == message.text


def _expected(step: Mapping[str, Any], redacted: bool) -> str:
    return describe(step["expect"].get("type"), None if redacted else step["expect"].get("text"))


def describe(type: Optional[str], text: Optional[str]) -> str:
    """A message in one line."""
    kind = type or "any type"
    return kind if text is None else f"{kind} {json.dumps(text, ensure_ascii=False)}"
