from sayso.app.feed import LIMIT, Feed
from sayso.app.snapshot import FeedState, Why


def test_an_item_keeps_its_words_while_its_state_moves_on() -> None:
    feed = Feed().heard("open firefox", "Open Firefox")
    moved = feed.moved(1, FeedState.DONE, "a window opened", can_undo=True)
    assert feed.items[0].state is FeedState.HEARD
    assert moved.items[0].heard == "open firefox"
    assert moved.items[0].state is FeedState.DONE
    assert moved.items[0].can_undo


def test_ids_are_never_used_twice_even_when_old_items_leave() -> None:
    feed = Feed()
    for _ in range(LIMIT + 5):
        feed = feed.heard("again", "Again")
    ids = [item.id for item in feed.items]
    assert len(ids) == LIMIT
    assert len(set(ids)) == LIMIT
    assert ids[-1] == LIMIT + 5


def test_an_item_that_has_left_the_feed_changes_nothing() -> None:
    feed = Feed().heard("one", "One")
    assert feed.moved(99, FeedState.DONE) == feed
    assert feed.find(99) is None


def test_open_items_are_those_that_still_wait() -> None:
    feed = Feed().heard("a", "A").heard("b", "B", FeedState.CONFIRM).heard("c", "C").moved(3, FeedState.DONE)
    assert [item.id for item in feed.open_items()] == [1, 2]


def test_when_an_action_was_over_is_told_once() -> None:
    feed = Feed().heard("volume up", "Louder", why=Why("volume.change", "volume up", 100.0, decided_at=10.0))
    feed = feed.finished(1, 11.0).finished(1, 25.0)
    assert feed.items[0].why is not None
    assert feed.items[0].why.done_at == 11.0
    unexplained = Feed().heard("", "The timer is over")
    assert unexplained.finished(1, 11.0) == unexplained


def test_what_is_over_can_be_dropped_while_the_rest_goes_on() -> None:
    feed = Feed().heard("open firefox", "Open Firefox").heard("play music", "Play music", FeedState.RUNNING)
    left = feed.moved(1, FeedState.DONE).without_finished()
    assert [item.id for item in left.items] == [2]
    assert left.next_id == feed.next_id
