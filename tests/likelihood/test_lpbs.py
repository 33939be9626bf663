"""Log probability bias scores: a slow reference, words of several pieces, and where the released code errs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import biasgauge as bg
from biasgauge.errors import ParameterError

MASK = 4


@torch.no_grad()
def logits(model: Any, ids: list[int]) -> np.ndarray:  # noqa: ANN401 - the library has no types
    return torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1).numpy()


def test_words_of_one_piece_against_the_definition(masked: tuple[Any, Any]) -> None:
    model, tokenizer = masked
    result = bg.analyses.likelihood.lpbs(masked, ["[person] is a [word]."], ["nurse", "doctor"])
    he, she = tokenizer.convert_tokens_to_ids(["he", "she"])
    for row in result.scores:
        ids = tokenizer(f"he is a {row.word}.")["input_ids"]
        asked, prior = list(ids), list(ids)
        asked[1] = prior[1] = MASK
        prior[4] = MASK
        given, without = logits(model, asked)[1], logits(model, prior)[1]
        expected = (given[he] - without[he]) - (given[she] - without[she])
        assert row.value == pytest.approx(expected, abs=1e-5)
    assert result.mean.value == pytest.approx(np.mean([row.value for row in result.scores]))


def test_swapping_the_persons_negates(masked: tuple[Any, Any]) -> None:
    asked = (["My [person] is a [word]."], ["nurse", "old", "walker"])
    forth = bg.analyses.likelihood.lpbs(masked, *asked, [("uncle", "aunt")])
    back = bg.analyses.likelihood.lpbs(masked, *asked, [("aunt", "uncle")])
    # Other sentences share a batch, and single precision adds up in another order, with any number of threads.
    assert [row.value for row in back.scores] == pytest.approx([-(row.value or 0) for row in forth.scores], abs=1e-5)


def test_words_and_persons_of_several_pieces_are_hidden_whole(masked: tuple[Any, Any]) -> None:
    model, tokenizer = masked
    (row,) = bg.analyses.likelihood.lpbs(
        masked, ["The [person] is a [word]."], ["walkers"], [("baker", "singer")]
    ).scores
    total = 0.0
    for sign, person in ((1, "baker"), (-1, "singer")):
        ids = tokenizer(f"the {person} is a walkers.")["input_ids"]
        own = [at for at, word in enumerate(tokenizer(f"the {person} is a walkers.").word_ids()) if word == 1]
        words = [at for at, word in enumerate(tokenizer(f"the {person} is a walkers.").word_ids()) if word == 4]
        assert (len(own), len(words)) == (2, 3)
        for prior in (1, -1):
            for at in own:
                hidden = [MASK if place in own and place >= at else piece for place, piece in enumerate(ids)]
                if prior < 0:
                    hidden = [MASK if place in words else piece for place, piece in enumerate(hidden)]
                total += sign * prior * logits(model, hidden)[at][ids[at]]
    assert row.value == pytest.approx(total, abs=1e-5)


def test_the_released_code_reads_the_prior_at_the_wrong_place(masked: tuple[Any, Any]) -> None:
    """The last mask is the word's, and its index was counted without [CLS]: it lands on the token before the word."""
    model, tokenizer = masked
    asked = (["[person] is a [word]."], ["nurse"])
    (published,) = bg.analyses.likelihood.lpbs(masked, *asked, as_published=True).scores
    (corrected,) = bg.analyses.likelihood.lpbs(masked, *asked).scores
    he, she = tokenizer.convert_tokens_to_ids(["he", "she"])
    ids = tokenizer("he is a nurse.")["input_ids"]
    prior = [MASK if place in (1, 4) else piece for place, piece in enumerate(ids)]
    given = logits(model, [MASK if place == 1 else piece for place, piece in enumerate(ids)])[1]
    wrong = logits(model, prior)[3]
    assert published.value == pytest.approx((given[he] - wrong[he]) - (given[she] - wrong[she]), abs=1e-5)
    assert abs((published.value or 0) - (corrected.value or 0)) > 0.01


def test_the_released_code_cuts_words_to_their_first_piece(masked: tuple[Any, Any]) -> None:
    asked = (["The [person] is a [word]."], ["nurse"])
    cut = bg.analyses.likelihood.lpbs(masked, *asked, [("walkers", "teachers")], as_published=True)
    same = bg.analyses.likelihood.lpbs(masked, *asked, [("walker", "teacher")], as_published=True)
    assert cut.scores[0].value == pytest.approx(same.scores[0].value, abs=1e-6)  # another word, the same number


def test_intervals_are_over_words_and_templates(masked: tuple[Any, Any]) -> None:
    templates = ["[person] is a [word].", "[person] was a [word].", "The [word] likes [person]."]
    result = bg.analyses.likelihood.lpbs(masked, templates, ["nurse", "doctor", "baker", "teacher", "dog"])
    assert result.mean.over == "targets and attributes"
    assert result.mean.low is not None
    assert len(result.by_word()) == 5
    assert "nurse" in repr(result.summary())
    assert bg.analyses.likelihood.LpbsResult.from_dict(result.to_dict()).to_dict() == result.to_dict()


def test_bad_input_is_one_sentence(masked: tuple[Any, Any], causal: tuple[Any, Any]) -> None:
    with pytest.raises(ParameterError, match=r"must hold \[person\] and \[word\], each once"):
        bg.analyses.likelihood.lpbs(masked, ["[person] is old."], ["nurse"])
    with pytest.raises(ParameterError, match="template"):
        bg.analyses.likelihood.lpbs(masked, ["[person] is [word]."], [])
    with pytest.raises(ParameterError, match="language"):
        bg.analyses.likelihood.lpbs(causal, ["[person] is [word]."], ["old"])
    long = bg.analyses.likelihood.lpbs(masked, [f"[person] is {'very ' * 26}[word]."], ["old", "walkers"])
    assert [row.reason is None for row in long.scores] == [True, False]
    assert long.warnings == ("1 words do not fit the model's window in some template and are left out.",)
