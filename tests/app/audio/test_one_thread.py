"""The limit for a library that is being loaded, and that nothing of it is left behind."""

from __future__ import annotations

from sayso.app.audio.one_thread import one_thread


def test_the_limit_holds_while_a_library_is_loaded_and_is_gone_after_it() -> None:
    environment: dict[str, str] = {}
    with one_thread(environment):
        assert environment == {"OMP_THREAD_LIMIT": "1"}
    assert environment == {}


def test_a_limit_that_was_set_before_is_put_back() -> None:
    environment = {"OMP_THREAD_LIMIT": "3"}
    with one_thread(environment):
        assert environment == {"OMP_THREAD_LIMIT": "1"}
    assert environment == {"OMP_THREAD_LIMIT": "3"}
