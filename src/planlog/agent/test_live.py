"""Live news reaches those who listen, for as long as they listen."""

from planlog.agent.live import Live, LiveNotice


def test_news_of_a_session_go_to_its_listeners_in_order() -> None:
    live = Live()
    heard: list[str] = []

    with live.listen("a", lambda news: heard.append(f"first: {news}")):
        with live.listen("a", lambda news: heard.append(f"second: {news}")):
            live.say("a", LiveNotice("1"))
            live.say("b", LiveNotice("2"))
        live.say("a", LiveNotice("3"))
    live.say("a", LiveNotice("4"))
    assert heard == [f"{who}: {LiveNotice(text)}" for who, text in (("first", "1"), ("second", "1"), ("first", "3"))]
