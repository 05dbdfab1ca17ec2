"""Plays scenarios against a bot with the Python SDK. The test of the guide runs it."""

import pytest

SAID = {"from": "person", "action": "say", "input": {"text": "hi"}}


def expect(text):
    return {"from": "business", "expect": {"type": "text", "text": text}}


def scenario(*steps, **more):
    return {"version": 1, "steps": list(steps), **more}


@pytest.fixture
def ana(parley):
    """The phone of a person. The bot replies with two messages to each one."""

    def bot(event):
        if event["type"] == "message.received":
            for body in ("first", "second"):
                reply = {"type": "text", "text": {"body": body}}
                parley.client.messages.send({"in_reply_to": event["data"]["message_id"], **reply})

    parley.endpoint(bot)
    return parley.phone("+16505550123")


def test_a_changed_bot_fails_with_the_difference(ana):
    with pytest.raises(AssertionError) as failed:
        ana.play(scenario(SAID, expect("first"), expect("third")))
    assert str(failed.value) == (
        "Step 3 of 3: the bot sent another message.\n"
        '  expected  text "third"\n'
        '  received  text "second"'
    )


def test_texts_of_a_redacted_scenario_are_not_compared(ana):
    ana.play(scenario(SAID, expect("xxxx"), expect("xxxx"), redacted=True))


def test_replies_may_be_in_another_order_with_reorder(ana):
    ana.play(scenario(SAID, expect("second"), expect("first")), reorder=True, duplicates=True)


def test_the_clock_moves_with_delays(ana, parley):
    before = parley.now()
    quote = {**SAID, "after_ms": 7_200_000, "input": {"text": "hi", "replyTo": "a"}}
    ana.play(scenario({**SAID, "id": "a"}, expect("first"), expect("second"), quote, expect("first"), expect("second")), delays=True)
    assert round((parley.now() - before) / 3600) == 2


def test_too_much_or_nothing_fails(ana, parley):
    with pytest.raises(AssertionError, match='After the last step, the bot also sent text "second".'):
        ana.play(scenario(SAID, expect("first")))
    parley.reset()
    with pytest.raises(AssertionError, match="Step 2 of 2: the bot sent nothing."):
        ana.play(scenario(SAID, expect("first")), within=0.05)
    with pytest.raises(ValueError, match="is not a scenario"):
        ana.play({"version": 2, "steps": []})
    with pytest.raises(AssertionError, match="""Step 1, the person's "tap": This phone does not have"""):
        ana.play(scenario({"from": "person", "action": "tap", "input": {"button": "no"}}))
