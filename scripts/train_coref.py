"""Train a coreference model on frozen vectors and measure its gender bias; made for a machine with a GPU.

    python scripts/train_coref.py --vectors FILE --train ontogum_conll.tar.xz litbank_coref_conll.tar.xz --out DIR
        [--dev PATH…] [--test PATH…] [--winobias DIR] [--gap FILE…] [--winogender templates.tsv]
        [--minutes M] [--device cuda] [--seed 0] [--set epochs=20 …]

Without --dev every tenth training document, by name, is kept for choosing the epoch, and without --test the one five
after it for testing. DIR/model has the best model and where training stands: the same command goes on from there.
DIR/log.json has the F1 on the dev documents after each epoch, DIR/results.json the scores on the test documents and
all gaps. Needs PyTorch, NumPy, SciPy (for CEAF and intervals) and safetensors beside the source of this package.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from biasgauge.applications.coref import (
    CorefSettings,
    evaluate_coref,
    gap_f1,
    read_conll,
    train_coref,
    winobias,
    winogender,
)
from biasgauge.applications.coref.document import held_out
from biasgauge.vectors import load

if TYPE_CHECKING:
    from biasgauge.applications.coref import Document


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--train", type=Path, nargs="+", required=True, help="CoNLL files, folders or tar archives")
    parser.add_argument("--dev", type=Path, nargs="+", default=[])
    parser.add_argument("--test", type=Path, nargs="+", default=[])
    parser.add_argument("--winobias", type=Path)
    parser.add_argument("--winogender", type=Path)
    parser.add_argument("--gap", type=Path, nargs="+", default=[])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, help="of training; what follows takes about a minute on a GPU")
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1; by default cuda where there is one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="settings of the model")
    return parser.parse_args()


def settings(given: list[str]) -> CorefSettings:
    """Settings from NAME=VALUE."""
    kinds = {one.name: one.type for one in fields(CorefSettings)}
    chosen: dict[str, Any] = {}
    for one in given:
        name, _, value = one.partition("=")
        if name not in kinds:
            sys.exit(f"--set {one}: the settings are {', '.join(kinds)}.")
        chosen[name] = (
            value == "true" if kinds[name] == "bool" else int(value) if kinds[name] == "int" else float(value)
        )
    return CorefSettings(**chosen)


def documents(options: argparse.Namespace) -> tuple[list[Document], list[Document], list[Document]]:
    """To train on, to choose the epoch by, to test on."""
    train = read_conll(options.train, problems="mend")
    dev = read_conll(options.dev, problems="mend") if options.dev else None
    test = read_conll(options.test, problems="mend") if options.test else None
    for document in train:
        for notice in document.notices:
            if "full stops" not in notice:
                print(f"{document.name}: {notice}")
    return held_out(train, dev, test)


def bias(options: argparse.Namespace, model: Any) -> dict[str, Any]:  # noqa: ANN401 - a CorefModel
    """Gaps on the sets that were named."""
    found: dict[str, Any] = {}
    if options.winobias is not None:
        result = winobias(model, options.winobias)
        found["winobias"] = result.to_dict()
        for one in result.gaps:
            print(f"WinoBias {one.subset} {one.metric}: pro {one.first}, anti {one.second}, gap {one}, p {one.p_value}")
    if options.winogender is not None:
        found["winogender"] = winogender(model, options.winogender).to_dict()
        print(
            f"Winogender: {found['winogender']['changed']['value']:.1f} % of answers change with the pronoun's gender"
        )
    for path in options.gap:
        scores = gap_f1(model, path)
        found[path.name] = scores.to_dict()
        print(f"{path.name}: {', '.join(f'{one.subset} {one.value}' for one in scores.scores if one.metric == 'f1')}")
    return found


def write(path: Path, content: dict[str, Any]) -> None:
    """Write JSON."""
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")


def main() -> None:
    """Train, evaluate, write."""
    import torch

    options = arguments()
    chosen = settings(options.set)
    device = options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    start = time.monotonic()
    vectors = load(options.vectors)
    train, dev, test = documents(options)
    print(f"{vectors!r}; {len(train)}, {len(dev)} and {len(test)} documents; {device}", flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    about = {"vectors": str(options.vectors), "device": device, "settings": asdict(chosen), "seed": options.seed}
    log: list[dict[str, Any]] = []

    def told(entry: dict[str, Any]) -> None:
        log.append(entry)
        print(json.dumps(entry), flush=True)
        write(options.out / "log.json", {**about, "epochs": log})

    model = train_coref(
        vectors,
        train,
        dev,
        chosen,
        device=device,
        random_state=options.seed,
        minutes=options.minutes,
        folder=options.out / "model",
        progress=told,
    )
    write(options.out / "log.json", {**about, **model.record, "epochs": list(model.log)})
    scores = evaluate_coref(model, test)
    print(f"CoNLL F1 on {len(test)} test documents: {scores.conll_f1}", flush=True)
    results = {**about, "test": scores.to_dict(), **bias(options, model), "seconds": time.monotonic() - start}
    write(options.out / "results.json", results)


if __name__ == "__main__":
    main()
