from tests.attention_lab.check.learner import evidence


def test_right_and_wrong_calls_are_told_apart():
    found = evidence("attend", "return weights @ v if v.size(0) > 2 else v")
    assert {trial.sizes["B"] for trial in found.basic if trial.right} == {3, 4}
    assert {trial.sizes["B"] for trial in found.wrong} == {2}
    assert not evidence("attend", "return weights @ v").wrong


def test_sizes_go_by_name():
    trial = evidence("split_heads", "return x").trials[0]
    assert trial.sizes == {"B": 3, "T": 7, "d_model": 30, "H": 5, "d_head": 6}
    assert evidence("causal_mask", "return 1").trials[0].sizes == {"T": 7}
    sizes = {"B": 3, "H": 5, "T": 7}
    assert evidence("masked_softmax", "return 1").trials[0].sizes == sizes
    assert evidence("attend", "return 1").trials[0].sizes == sizes | {"d_head": 6}


def test_what_was_raised():
    found = evidence("merge_heads", "raise ValueError('no such thing')")
    assert {failure.type for failure, _ in found.failures} == {"ValueError"}
    assert all(trial.got is None and not trial.right for trial in found.trials)


def test_one_tensor_in_a_tuple_is_not_what_was_asked_for():
    assert evidence("attend", "return (weights @ v,)").trials[0].got is None


def test_another_device_is_no_trial():
    found = evidence("merge_heads", "return x.transpose(1, 2).flatten(2)", hidden=True)
    assert len(found.trials) < sum(len(probe.calls) for probe in found.probes)
    assert all(not wanted.is_meta for trial in found.trials for wanted in trial.wanted)
