"""An utterance without the wake phrase before it, as it was heard and as it may have been said."""

from sayso.app.attention import Address
from sayso.app.commands.other_text import OtherText
from sayso.app.said import Said

HEARD = Said(
    1, "Hey, say so. Pies.", others=(OtherText("Hey sayso. Pause.", 0.5, -2.0), OtherText("A sofa pause.", 0.9))
)


def test_behind_the_phrase_only_what_begins_with_it_counts() -> None:
    said = HEARD.to_us(Address("Pies.", phrase=True), "hey sayso")
    assert (said.text, said.others) == ("Pies.", (OtherText("Pause.", 0.5, -2.0),))
    assert (said.turn, said.moments) == (HEARD.turn, HEARD.moments)


def test_without_a_phrase_all_stays_as_it_was() -> None:
    assert HEARD.to_us(Address(HEARD.text), "hey sayso") == HEARD
