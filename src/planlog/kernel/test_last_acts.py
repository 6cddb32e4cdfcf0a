from planlog.kernel.last_acts import LastActs


def test_the_last_acts_are_those_whose_block_lasts_newest_first_and_a_failure_stops_none() -> None:
    done: list[str] = []
    acts = LastActs()

    def fail() -> None:
        done.append("failed")
        raise OSError

    with acts.add(lambda: done.append("first")), acts.add(fail):
        with acts.add(lambda: done.append("gone")):
            pass
        assert done == []
        acts.perform()
    assert done == ["failed", "first"]
    acts.perform()
    assert len(done) == 2
