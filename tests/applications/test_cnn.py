"""Kim's classifier: against loops in NumPy, plain convolution in PyTorch, and tasks with a known answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasgauge.applications.classification.cnn import NumberedTexts
from biasgauge.applications.classification.settings import PUBLISHED, CnnSettings
from biasgauge.errors import InputError, ParameterError

torch = pytest.importorskip("torch", reason="an extra")

from biasgauge.applications.classification.cnn import Evaluation, KimCnn, best_evaluation, fixed_threads, logits, train  # noqa: E402 - needs PyTorch

WORDS = {f"w{number}": number for number in range(1, 41)}
SMALL = CnnSettings(widths=(2, 3), filters=8, batch=16, epochs=12, patience=None)


def table(dimensions: int = 6, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    vectors = np.random.default_rng(seed).standard_normal((len(WORDS) + 2, dimensions)).astype(np.float32)
    vectors[[0, -1]] = 0
    return vectors


def random_texts(count: int, seed: int, longest: int = 12) -> list[list[str]]:
    random = np.random.default_rng(seed)
    names = [*WORDS, "unknown"]
    return [list(random.choice(names, random.integers(0, longest + 1))) for _ in range(count)]


def planted(count: int, seed: int) -> NumberedTexts:
    """Texts of class 1 have the words w1 w2 side by side; those of class 0 have both, apart."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for at in range(count):
        text = list(random.choice(list(WORDS)[2:], 8))
        label = at % 2
        places = (3, 4) if label else (int(random.integers(0, 3)), int(random.integers(5, 8)))
        text[places[0]], text[places[1]] = "w1", "w2"
        texts.append(text)
        labels.append(label)
    return NumberedTexts.of(texts, labels, WORDS, least=3)


def model(settings: CnnSettings = SMALL, seed: int = 1, classes: int = 3) -> KimCnn:
    return KimCnn(settings, torch.from_numpy(table()), classes, torch.Generator().manual_seed(seed))


def looped(one: KimCnn, text: list[str]) -> np.ndarray[Any, Any]:
    """Logits of one text by loops over filters, windows and places; Kim 2014, equations 1 to 4, no dropout."""
    vectors = table().astype(np.float64)
    rows = [vectors[WORDS.get(word, 0)] for word in text]
    rows += [np.zeros(vectors.shape[1])] * (max(one.settings.widths) - len(rows))
    weights, bias = (one.state_dict()[name].double().numpy() for name in ("weights", "bias"))
    features, start = [], 0
    for number, width in enumerate(one.settings.widths):
        filters = one.settings.filters
        bank = weights[start : start + width * filters].reshape(width, filters, -1)
        start += width * filters
        for each in range(filters):
            best = 0.0
            for first in range(len(rows) - width + 1):
                answer = bias[number * filters + each]
                for place in range(width):
                    answer += float(bank[place, each] @ rows[first + place])
                best = max(best, answer)
            features.append(best)
    output = one.output.detach().double().numpy() @ np.array(features)
    found: np.ndarray[Any, Any] = output + one.output_bias.detach().double().numpy()
    return found


def test_logits_are_those_of_loops() -> None:
    texts = [[], ["w3"], *random_texts(30, seed=2)]
    numbered = NumberedTexts.of(texts, [0] * len(texts), WORDS, least=3)
    one = model().eval()
    expected = np.stack([looped(one, text) for text in texts])
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(logits(one, numbered).numpy(), expected, atol=1e-5)


def test_a_text_gets_the_same_logits_in_any_batch_unless_padding_counts() -> None:
    texts = random_texts(20, seed=3)
    numbered = NumberedTexts.of(texts, [0] * 20, WORDS, least=3)
    alone = [NumberedTexts.of([text], [0], WORDS, least=3) for text in texts]

    def both(settings: CnnSettings) -> tuple[Any, Any]:
        one = model(settings).eval()
        with torch.no_grad():
            together = one(torch.from_numpy(numbered.batch(np.arange(20))))
        return together.numpy(), np.concatenate([logits(one, text).numpy() for text in alone])

    np.testing.assert_allclose(*both(SMALL), atol=1e-6)
    together, apart = both(CnnSettings(widths=(2, 3), filters=8, padding_counts=True))
    assert np.abs(together - apart).max() > 1e-3


@pytest.mark.parametrize("padding_counts", [False, True])
def test_outputs_and_gradients_are_those_of_convolution_layers(padding_counts: bool) -> None:  # noqa: FBT001 - a case
    settings = CnnSettings(widths=(3, 4, 5), filters=7, padding_counts=padding_counts)
    one = model(settings)
    texts = random_texts(25, seed=4)
    numbered = NumberedTexts.of(texts, [0] * 25, WORDS, least=5)
    batch = numbered.batch(np.arange(25))
    found = one.features(torch.from_numpy(batch))
    weight = torch.randn(found.shape, generator=torch.Generator().manual_seed(0))
    (found * weight).sum().backward()

    vectors = torch.from_numpy(table())[torch.from_numpy(batch)].transpose(1, 2)
    beyond = torch.from_numpy(batch == numbered.beyond)
    start, pieces, layers = 0, [], []
    for number, width in enumerate(settings.widths):
        layer = torch.nn.Conv1d(6, 7, width)
        bank = one.weights.detach()[start : start + width * 7].view(width, 7, 6)
        layer.weight = torch.nn.Parameter(bank.permute(1, 2, 0).clone())
        layer.bias = torch.nn.Parameter(one.bias.detach()[number * 7 : number * 7 + 7].clone())
        answers = torch.relu(layer(vectors))
        if not padding_counts:
            answers = answers.masked_fill(beyond.unfold(1, width, 1).any(-1)[:, None], 0)
        pieces.append(answers.amax(dim=2))
        layers.append(layer)
        start += width * 7
    expected = torch.cat(pieces, dim=1)
    (expected * weight).sum().backward()
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    gradient = torch.cat([layer.weight.grad.permute(2, 0, 1).reshape(-1, 6) for layer in layers])
    torch.testing.assert_close(one.weights.grad, gradient, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(one.bias.grad, torch.cat([layer.bias.grad for layer in layers]), atol=1e-5, rtol=1e-5)


def test_max_norm_limits_every_class_and_shortens_only_long_ones() -> None:
    one = model(CnnSettings(widths=(2,), filters=4, max_norm=3.0))
    with torch.no_grad():
        one.output[0] = torch.tensor([3.0, 4.0, 0.0, 0.0])  # norm 5
        one.output[1] = torch.tensor([1.0, 2.0, 2.0, 0.0])  # norm 3
    short = one.output[2].clone()
    one.limit_norms()
    torch.testing.assert_close(one.output[0], torch.tensor([1.8, 2.4, 0.0, 0.0]))
    torch.testing.assert_close(one.output[1], torch.tensor([1.0, 2.0, 2.0, 0.0]))
    assert torch.equal(one.output[2], short)


def test_max_norm_holds_after_training_and_not_without_it() -> None:
    texts = planted(64, 0)

    def longest(limit: float | None) -> float:
        settings = CnnSettings(
            widths=(2, 3), filters=8, batch=16, epochs=4, patience=None, max_norm=limit, learning_rate=0.05
        )
        return float(train(texts, texts, table(), 2, settings, seed=0).model.output.detach().norm(dim=1).max())

    assert longest(0.4) <= 0.4 + 1e-6
    assert longest(None) > 0.4


def test_dropout_leaves_out_half_in_training_and_nothing_in_evaluation() -> None:
    one = model(CnnSettings(widths=(2,), filters=100))
    batch = torch.from_numpy(planted(200, 0).batch(np.arange(200)))
    with torch.no_grad():
        one.output.fill_(1)
        one.output_bias.zero_()
        one.eval()
        assert torch.equal(one(batch), one(batch))
        whole = one(batch)[:, 0]
        torch.testing.assert_close(whole, one.features(batch).sum(dim=1), atol=1e-4, rtol=1e-5)
        one.train()
        first, second = one(batch)[:, 0], one(batch)[:, 0]
    assert not torch.equal(first, second)
    ratio = (torch.stack([first, second]) / whole).numpy()
    assert ratio.mean() == pytest.approx(1, abs=0.02)  # scaled by 2 where kept, so right on average
    assert 0.05 < ratio.std() < 0.25  # 100 features, each 0 or twice itself: about 1 / √100 and more


def test_dropout_is_on_at_every_step_unless_as_published() -> None:
    texts = planted(64, 0)
    ours = train(texts, texts, table(), 2, CnnSettings(filters=4, batch=16, epochs=3, evaluate_every=2), seed=0)
    assert (ours.steps, ours.dropout_steps) == (12, 12)
    settings = CnnSettings.named(as_published=True, filters=4, batch=16, epochs=3, evaluate_every=2)
    published = train(texts, texts, table(), 2, settings, seed=0)
    assert (published.steps, published.dropout_steps) == (12, 2)
    assert not published.stopped_early


def test_patience_on_planted_curves() -> None:
    def steps_until_stop(monitor: Any, curve: list[float], patience: int | None) -> tuple[int, int | None]:  # noqa: ANN401 - a literal
        settings = CnnSettings(monitor=monitor, patience=patience)
        evaluations = [Evaluation(step, value, value) for step, value in enumerate(curve)]
        for step in range(len(curve)):
            best, exhausted = best_evaluation(evaluations[: step + 1], settings)
            if exhausted:
                return step, best.step
        return len(curve), best.step

    losses = [1.0, 0.8, 0.9, 0.7, 0.7, 0.75, 0.71, 0.2]
    assert steps_until_stop("loss", losses, 3) == (6, 3)  # 0.7 again is no improvement
    assert steps_until_stop("loss", losses, 4) == (8, 7)
    assert steps_until_stop("loss", losses, None) == (8, 7)
    assert steps_until_stop("accuracy", [0.5, 0.6, 0.6, 0.55, 0.9], 2) == (3, 1)


def test_training_stops_and_the_best_weights_come_back() -> None:
    learned, dev = planted(96, 0), planted(96, 1)
    flipped = NumberedTexts(dev.tokens, dev.starts, dev.lengths, 1 - dev.labels, dev.beyond)  # the better, the worse
    settings = CnnSettings(widths=(2, 3), filters=8, batch=16, epochs=40, patience=3, learning_rate=0.01)
    found = train(learned, flipped, table(), 2, settings, seed=0)
    assert found.stopped_early
    assert len(found.losses) < 40
    losses = [one.loss for one in found.history]
    assert found.best.loss == min(losses) < losses[-1]
    again = torch.nn.functional.cross_entropy(logits(found.model, flipped), torch.from_numpy(flipped.labels))
    assert float(again) == pytest.approx(found.best.loss, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_task_is_learned(seed: int) -> None:
    """Only words side by side tell the classes apart, so a bag of words would stay at one half."""
    settings = CnnSettings(widths=(2, 3), filters=16, batch=16, epochs=60, patience=10, learning_rate=5e-3)
    found = train(planted(400, 10 + seed), planted(100, 20 + seed), table(16), 2, settings, seed=seed)
    test = planted(200, 30 + seed)
    right = (logits(found.model, test).argmax(dim=1).numpy() == test.labels).mean()
    assert right >= 0.95


def test_the_same_seed_gives_the_same_bits_and_another_does_not() -> None:
    texts = planted(64, 0)
    with fixed_threads():
        first, again, other = (train(texts, texts, table(), 2, SMALL, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(logits(first.model, texts), logits(again.model, texts))
    assert first.history == again.history
    assert not torch.equal(logits(first.model, texts), logits(other.model, texts))


def test_training_leaves_the_global_state_alone() -> None:
    torch.manual_seed(5)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    with fixed_threads():
        train(planted(32, 0), planted(32, 1), table(), 2, SMALL, seed=0)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads


def test_a_loss_that_is_not_finite_is_said() -> None:
    vectors = table() * np.float32(9e37)
    with pytest.raises(InputError, match="Training diverged"), np.errstate(all="ignore"):
        train(planted(32, 0), planted(32, 1), vectors, 2, SMALL, seed=0)


def test_published_settings_are_those_of_the_released_code() -> None:
    """METHODS: 3, 4, 5 × 100, dropout .5, Adam 1e-3, batch 64, 256 epochs, every 100 steps on dev accuracy."""
    one = CnnSettings.named(as_published=True)
    assert (one.widths, one.filters, one.dropout, one.learning_rate, one.batch) == ((3, 4, 5), 100, 0.5, 1e-3, 64)
    assert (one.epochs, one.evaluate_every, one.monitor) == (256, 100, "accuracy")
    assert (one.max_norm, one.patience, one.dropout_after_evaluation) == (None, None, False)
    assert CnnSettings.named(as_published=True, epochs=2).epochs == 2
    assert set(PUBLISHED) <= CnnSettings.names()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"widths": ()}, "'widths' parameter must be a whole number of at least 1. Got None"),
        ({"filters": 0}, "'filters' parameter must be a whole number of at least 1. Got 0"),
        ({"dropout": 1.0}, "must be at least 0 and below 1"),
        ({"patience": 0}, "'patience' parameter must be a whole number of at least 1. Got 0"),
        ({"learning_rate": 0}, "'learning_rate' parameter must be a number above 0"),
        ({"max_norm": -1}, "'max_norm' parameter must be a number above 0. Got -1"),
        ({"max_norm": 0}, "'max_norm' parameter must be a number above 0. Got 0"),
        ({"monitor": "f1"}, "'monitor' parameter must be one of loss, accuracy. Got 'f1'"),
    ],
)
def test_settings_that_cannot_be_used(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        CnnSettings(**wrong)


def test_batches_for_evaluation_have_few_tokens_and_every_text_once() -> None:
    texts = [["w1"] * length for length in (3, 50, 7, 7, 200, 5, 5, 5)]
    numbered = NumberedTexts.of(texts, [0] * 8, WORDS, least=5)
    batches = [one.tolist() for one in numbered.by_length(20)]
    assert batches == [[0, 5, 6, 7], [2, 3], [1], [4]]


def test_batches_hold_every_text_once_and_are_of_like_length() -> None:
    texts = random_texts(500, seed=5, longest=40)
    numbered = NumberedTexts.of(texts, list(range(500)), WORDS, least=5)
    random = np.random.default_rng(0)
    batches = list(numbered.shuffled(16, random))
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    assert np.mean([np.ptp(numbered.lengths[one]) for one in batches]) < 3
    assert not np.array_equal(np.concatenate(list(numbered.shuffled(16, random))), np.concatenate(batches))
    for places in batches[:5]:
        batch = numbered.batch(places)
        for row, place in zip(batch.tolist(), places.tolist(), strict=True):
            expected = [WORDS.get(word, 0) for word in texts[place]] + [0] * (5 - len(texts[place]))
            assert row == expected + [numbered.beyond] * (len(row) - len(expected))
