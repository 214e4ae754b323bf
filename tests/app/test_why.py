from sayso.app.why import TurnMoments


def test_the_moments_of_a_turn_are_kept_until_its_text_is_there() -> None:
    moments = TurnMoments()
    moments.began(1, 100.0)
    moments.began(2, 103.0)
    moments.ended(1, 102.0)
    told = moments.text(1)
    assert (told.began_at, told.ended_at) == (100.0, 102.0)
    assert told.text_at > 0
    assert moments.text(1).began_at == 0.0, "a turn is over once its text is there"


def test_the_end_of_no_turn_is_none() -> None:
    moments = TurnMoments()
    moments.ended(None, 5.0)
    moments.ended(7, 5.0)
    assert moments.text(7).ended_at == 0.0


def test_turns_that_never_get_a_text_do_not_pile_up() -> None:
    moments = TurnMoments()
    for turn in range(1000):
        moments.began(turn, float(turn))
    assert moments.text(1).began_at == 0.0
    assert moments.text(999).began_at == 999.0
