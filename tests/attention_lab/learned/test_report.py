from dataclasses import replace

import pytest
import torch

from attention_lab.learned import report
from attention_lab.learned.train import Run


def run(num_heads, *accuracy, losses=(2.0, 1.0)):
    shares = {"before": torch.zeros(num_heads, 3), "after": torch.zeros(num_heads, 3)}
    return Run(num_heads, 7, 5814, list(losses), accuracy, ["a"], {}, shares)


ONE, TWO = run(1, 0.9, 0.2, 1.0), run(2, 1.0, 0.3, 1.0)
FOUR = run(4, 1.0, 1.0, 1.0, losses=(2.0, 0.0))


def test_the_verdict_names_who_learned_everything():
    assert report.verdict([ONE, TWO, FOUR], 8) == (
        "4 heads learned all three jobs to 99 %. 1 head and 2 heads did not."
    )


def test_the_verdict_owns_up_when_two_heads_did_it_too():
    two = replace(TWO, accuracy=(1.0, 1.0, 1.0))
    assert "and so did 2 heads this time. Try seed 8." in report.verdict([ONE, two, FOUR], 8)


def test_the_verdict_owns_up_to_a_failure_and_offers_another_seed():
    words = report.verdict([ONE, TWO, replace(FOUR, accuracy=(1.0, 0.8, 1.0))], 8)
    assert "With seed 7 even 4 heads did not" in words
    assert words.endswith("Try seed 8.")


def test_results_are_a_table_and_a_picture_in_words():
    html = report.results([ONE, TWO, FOUR])
    assert "<td" in html
    assert ">90 %<" in html
    assert ">5,814<" in html
    alt = "Loss over 2 steps of training, one curve each: 1 head at 1.50, 2 heads at 1.50, "
    assert f'alt="{alt}4 heads at 1.00."' in html


def test_the_curves_are_a_png():
    assert report.curves([ONE, TWO, FOUR]).startswith(b"\x89PNG")


def test_the_final_loss_is_the_mean_of_the_last_ten():
    assert ">4.50<" in report.results([run(4, 1, 1, 1, losses=[100.0] * 5 + list(range(10)))])


@pytest.mark.parametrize(("step", "bar"), [(0, 'value="0"'), (30, 'value="30"')])
def test_progress(step, bar):
    html = report.progress([ONE], 2, 40, step, 1.25)
    assert "1 head: loss 1.50" in html
    assert f'<progress max="40" {bar}' in html
    assert (
        f'2 heads: <progress max="40" {bar} aria-label="progress"></progress> step {step}' in html
    )
