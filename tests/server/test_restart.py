"""When the engine is started again."""

from __future__ import annotations

from sayso.server.restart import Decision, Ending, RestartPolicy

DIED = Ending("It died.", was_ready=True, lived_s=1.0)
NEVER = Ending("It died.", was_ready=False)


def test_the_first_death_is_answered_at_once() -> None:
    assert RestartPolicy().after(DIED) == Decision(0.0, failed=False)


def test_repeated_early_deaths_back_off_up_to_the_last_delay() -> None:
    policy = RestartPolicy(delays_s=(0.0, 1.0, 4.0))
    assert [policy.after(DIED).delay_s for _ in range(5)] == [0.0, 1.0, 4.0, 4.0, 4.0]


def test_a_long_life_clears_the_record() -> None:
    policy = RestartPolicy(delays_s=(0.0, 1.0), settled_s=30.0)
    policy.after(DIED)
    assert policy.after(Ending("It died.", was_ready=True, lived_s=31.0)).delay_s == 0.0


def test_sessions_are_told_after_a_few_starts_that_came_to_nothing_and_it_goes_on_trying() -> None:
    policy = RestartPolicy(patience=3)
    assert [policy.after(NEVER).failed for _ in range(4)] == [False, False, True, True]
    assert policy.after(NEVER).delay_s is not None
    assert not policy.after(DIED).failed


def test_an_engine_that_says_it_cannot_load_is_not_started_again() -> None:
    assert RestartPolicy().after(Ending("Wrong weights.", False, refused="bad_hash")) == Decision(None, failed=True)
