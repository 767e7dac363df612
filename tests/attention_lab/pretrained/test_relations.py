import pytest

from attention_lab.pretrained.relations import pronouns, relations

RELATIONS = relations()
CASES = [case for cases in RELATIONS.values() for case in cases]


@pytest.mark.parametrize("sentence", sorted({" ".join(case.words) for case in CASES}))
def test_every_word_is_one_token(sentence, minilm):
    assert minilm.tokens(sentence)[1:-1] == sentence.split()


def test_pronoun_sentences_have_one_token_a_word(minilm):
    for case in pronouns()[::20]:
        assert minilm.tokens(" ".join(case.words))[1:-1] == [w.lower() for w in case.words]


def pairs(name):
    return [(c.words[i], c.words[j]) for c in RELATIONS[name] for i, j in c.pairs]


def test_determiners_lead_to_nouns():
    assert {determiner for determiner, _ in pairs("determiner → noun")} == {"the", "a"}
    assert ("the", "dog") in pairs("determiner → noun")
    assert ("a", "bone") in pairs("determiner → noun")


def test_verbs_lead_to_objects():
    assert pairs("verb → object")[:2] == [("found", "bone"), ("wrote", "letter")]
    assert len(pairs("verb → object")) == 10


def test_neighbours_repeats_and_full_stops():
    first = RELATIONS["previous token"][0]
    assert all(j == i - 1 for i, j in first.pairs)
    assert len(first.pairs) == len(first.words) - 1
    assert all(j == i + 1 for c in RELATIONS["next token"] for i, j in c.pairs)
    assert all(a == b for a, b in pairs("same word"))
    assert all(i != j for c in RELATIONS["same word"] for i, j in c.pairs)
    assert {target for _, target in pairs("full stop")} == {"."}


def test_pronouns_mean_who_they_can_mean():
    cases = pronouns()
    assert len(cases) == len({case.words for case in cases}) == 200
    women = {"Mary", "Anna", "Susan", "Linda", "Emma"}
    for case in cases:
        pronoun, right, wrong = (case.words[i] for i in (case.pronoun, case.right, case.wrong))
        assert pronoun in ("he", "she")
        assert (right in women) == (pronoun == "she")
        assert (wrong in women) == (pronoun == "he")
    assert sum(case.right == 0 for case in cases) == 100
