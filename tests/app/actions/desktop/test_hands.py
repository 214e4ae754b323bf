"""What counts as a hand in a window, event by event."""

from __future__ import annotations

import pytest

from sayso.app.actions.desktop.hands import Focus, Hands, Source

OURS, OTHER = 7, 8


@pytest.fixture
def hands() -> Hands:
    made = Hands()
    made.watch(OURS, focused=True)
    return made


def test_a_window_that_is_not_watched_is_not_known_to_be_untouched(hands: Hands) -> None:
    assert hands.untouched(OURS)
    assert not hands.untouched(OTHER)
    hands.forget(OURS)
    assert not hands.untouched(OURS)


@pytest.mark.parametrize("source", Source)
def test_a_key_counts_for_the_window_that_has_the_keyboard_alone(hands: Hands, source: Source) -> None:
    hands.watch(OTHER, focused=False)
    hands.key(source)
    hands.settle()

    assert not hands.untouched(OURS)
    assert hands.untouched(OTHER)


def test_a_key_that_a_program_has_reserved_reaches_no_window(hands: Hands) -> None:
    hands.key(Source.DEVICE)
    hands.focus(OURS, Focus.RESERVED)
    hands.settle()
    # Tab again and again, while Alt is held.
    hands.key(Source.DEVICE)
    hands.settle()
    assert hands.untouched(OURS)

    hands.focus(OURS, Focus.RETURNED)
    hands.key(Source.DEVICE)
    hands.settle()
    assert not hands.untouched(OURS)


def test_keys_count_again_once_the_window_has_the_keyboard_again(hands: Hands) -> None:
    hands.focus(OURS, Focus.LOST)
    hands.key(Source.DEVICE)
    hands.settle()
    assert hands.untouched(OURS)

    hands.focus(OURS, Focus.GAINED)
    hands.key(Source.DEVICE)
    hands.settle()
    assert not hands.untouched(OURS)


def test_a_button_counts_for_the_window_under_it(hands: Hands) -> None:
    hands.button(OTHER, Source.DEVICE)
    assert hands.untouched(OURS)
    hands.button(OURS, Source.DEVICE)
    assert not hands.untouched(OURS)


def test_watched_anew_what_was_made_is_forgotten_and_what_came_from_a_device_is_not(hands: Hands) -> None:
    hands.key(Source.MADE)
    hands.settle()
    hands.watch(OURS, focused=True)
    assert hands.untouched(OURS)

    hands.key(Source.DEVICE)
    hands.settle()
    hands.watch(OURS, focused=True)
    assert not hands.untouched(OURS)


def test_nothing_has_to_be_heard_once_every_window_was_used(hands: Hands) -> None:
    assert hands.waiting
    hands.button(OURS, Source.DEVICE)
    assert not hands.waiting
    hands.watch(OTHER, focused=False)
    assert hands.waiting
