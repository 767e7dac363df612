import numpy as np
import pytest

from attention_lab.heatmap import follow_query

FEATURES = ["noun", "plural", "verb"]
VECTORS = {"keys": [1, 1, 0], "cabinet": [1, 0, 0], "are": [0, 1, 1]}
TO_QUERY = [[0, 0, 4], [0, 4, 0], [0, 0, 0]]


@pytest.fixture
def walk():
    return follow_query(VECTORS, FEATURES, "are", TO_QUERY)


def test_it_goes_from_vectors_to_the_mixture(walk):
    titles = [step.title for step in walk.steps]
    assert titles == ["The vectors", "Query, keys, values", "Scores", "Weights", "The mixture"]
    x = np.array(list(VECTORS.values()))
    query, _ = (grid.values for grid in walk.steps[1].grids)
    np.testing.assert_array_equal(query[0], np.array(TO_QUERY) @ x[2])
    scores = walk.steps[2].grids[0].values[:, -1]
    np.testing.assert_allclose(scores, x @ query[0] / np.sqrt(3))
    weights = walk.steps[3].grids[0].values[-1]
    np.testing.assert_allclose(weights, [*np.exp(scores) / np.exp(scores).sum(), 1])
    np.testing.assert_allclose(walk.steps[4].grids[0].values[-1], weights[:-1] @ x)


def test_a_page_a_picture_and_words(walk):
    assert set(walk._repr_mimebundle_()) == {"text/html", "image/png", "text/plain"}


@pytest.mark.parametrize(
    ("token", "features", "to_query", "says"),
    [
        ("is", FEATURES, TO_QUERY, "'is' is not among the vectors: keys, cabinet, are"),
        ("are", FEATURES[:2], TO_QUERY, "There are 2 features"),
        ("are", FEATURES, TO_QUERY[:2], "to_query 3 rows of 3"),
    ],
)
def test_what_does_not_fit_is_refused(token, features, to_query, says):
    with pytest.raises(ValueError, match=says):
        follow_query(VECTORS, features, token, to_query)
