"""Freeze what every command prints as JSON, so that a later tree can be compared with this one number by number.

Each row of `COMMANDS` is run as `python -m biasgauge ROW --seed 0 --json` in the folder given by `--out`, and leaves there

- NAME.json: its stdout,
- NAME.err: its exit code and its stderr,
- NAME/: what it wrote, for rows with `{out}`,
- NAME.files.json: the numbers in those files, since some commands print only where they wrote them: tables and results
  as they are, arrays and texts as checksums.

`scripts/compare_frozen.py OLD NEW` compares two such folders.

    python scripts/freeze_outputs.py --out frozen/before
    python scripts/freeze_outputs.py --out frozen/before --only 'bayes-*'
    python scripts/freeze_outputs.py --out frozen/other --src ../other-tree

Rows with `{shared}` need the folder of real data that the variable BIASGAUGE_SHARED names, and are left out without it.
"""

# ruff: noqa: E501 - one row a command, however long it is

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
AT_A_TIME = 2
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

# One row a command: its name and its arguments. {out} is the row's own folder, {other-row} the folder of another row,
# which runs first ({other-row}.json is what that one printed), {inputs} the folder that make_inputs fills, {glove} the
# vectors that ship, {replicates} the models that ship, {r0} to {r7} each of them, {shared} the folder of real data. A
# pattern with * stands for the files that it matches.
COMMANDS = {
    # audit
    "audit": "audit --out {out}",
    "audit-replicates": "audit {replicates} --out {out}",
    "audit-before-after": "audit --before {glove} --after {mitigate-hard}/v.safetensors --out {out}",
    "audit-lexicons": "audit {glove} --lexicon weat7 --lexicon {inputs}/own-test.toml --lexicon religion --lexicon du2021 --out {out}",
    "audit-two-models": "audit {r0} {r1} --lexicon weat6b --lexicon occ16 --lexicon gender --seed 7 --out {out}",
    "audit-rules": "audit {glove} --alpha 0.2 --agreement 0.6 --reliability 0.8 --lexicon weat7 --lexicon weat8 --out {out}",
    "audit-limit": "audit {glove} --limit 4000 --min-coverage 0.5 --case-fallback --out {out}",
    "audit-spanish": "audit {inputs}/small.txt --language es --out {out}",
    "audit-points": "audit {glove} --lexicon weat7 --points {inputs}/points.csv --out {out}",
    "audit-points-columns": "audit {glove} --lexicon weat7 --points {inputs}/points.csv --points-x weat --points-y gap --points-by metric --points-unit variant --points-seed seed --out {out}",
    "audit-tasks": "audit {glove} --lexicon weat7 --tasks {extrinsic-csv}.json --tasks {extrinsic-csv-seeds}.json --out {out}",
    "audit-trained": "audit {train-sgns}/models/*.safetensors --lexicon weat7 --out {out}",
    # balance
    "balance": "balance {inputs}/corpus.txt --lexicon weat6b --max-removed 0.5 --out {out}/text.txt",
    "balance-half": "balance {inputs}/corpus.txt --lexicon weat6b --degree 0.5 --max-removed 0.5 --seed 7 --out {out}/text.txt",
    "balance-overbias": "balance {inputs}/corpus.txt --lexicon weat7 --direction overbias --degree 0.5 --max-removed 0.5 --out {out}/text.txt.gz",
    "balance-max-earliest": "balance {inputs}/corpus.txt --lexicon weat7 --degree max --keep earliest --max-removed 1 --out {out}/text.txt",
    "balance-published": "balance {inputs}/corpus.txt --lexicon weat6b --as-published --out {out}/text.txt",
    "balance-own-words": "balance {inputs}/tweets.tsv --field text --x he,man --y she,woman --a salary,office --b home,family --max-removed 0.5 --out {out}/text.tsv",
    "balance-too-much": "balance {inputs}/corpus.txt --lexicon weat6b --max-removed 0.0001 --out {out}/text.txt",
    # bayes
    "bayes": "bayes {glove} --lexicon religion",
    "bayes-single-sigma": "bayes {glove} --lexicon religion --variant single-sigma",
    "bayes-intercept": "bayes {glove} --lexicon religion --variant intercept",
    "bayes-student": "bayes {glove} --lexicon religion --variant student --draws 400",
    "bayes-crossed": "bayes {glove} --lexicon religion --variant crossed",
    "bayes-gender": "bayes {glove} --lexicon gender",
    "bayes-race": "bayes {glove} --lexicon race --min-coverage 0.5 --seed 7",
    "bayes-weat7-crossed": "bayes {glove} --lexicon weat7 --variant crossed",
    "bayes-percentile": "bayes {glove} --lexicon gender --interval percentile --prob 0.95 --set rope=0.05 --draws 1000",
    "bayes-integrated": "bayes {glove} --lexicon gender --variant crossed --set sampler=integrated --seed 7",
    "bayes-exact": "bayes {glove} --lexicon religion --set sampler=exact --seed 7",
    "bayes-nuts": "bayes {glove} --lexicon religion --set sampler=nuts --draws 400",
    "bayes-no-controls": "bayes {glove} --lexicon gender --set human=none --set neutral=none",
    "bayes-priors": "bayes {glove} --lexicon religion --variant crossed --set 'priors.group=normal(1, 0.2)' --set 'priors.between=exponential(3)' --set 'priors.residual=halfnormal(0.5)' --set 'priors.attribute=exponential(4)'",
    "bayes-band-and-plan": "bayes {glove} --lexicon religion --band mac --width 0.05",
    "bayes-band-and-contrast": "bayes {glove} --lexicon gender --band 0.1 --width 0.1 --set contrast=associated,human",
    "bayes-change": "bayes {glove} --lexicon gender --after {mitigate-hard}/v.safetensors --band mac",
    "bayes-change-crossed": "bayes {glove} --lexicon weat7 --after {mitigate-hard}/v.safetensors --variant crossed",
    "bayes-distances": "bayes --distances {inputs}/distances.csv",
    "bayes-distances-keep": "bayes --distances {inputs}/distances.csv --duplicates keep --interval percentile",
    "bayes-distances-change": "bayes --distances {inputs}/distances.csv --after {inputs}/distances-after.csv --variant single-sigma",
    "bayes-distances-shared": "bayes --distances {shared}/bayes_distances/religion_group_reddit_dataset.csv.gz --after {shared}/bayes_distances/debiased_religion_reddit.csv.gz --band mac",
    "bayes-own": "bayes {glove} --lexicon {inputs}/own-stereotypes.toml --min-coverage 0.5 --case-fallback",
    # calibrate, corpus-bias
    "calibrate": "calibrate {inputs}/corpus.txt --pairs {inputs}/own-pairs.toml --carriers {inputs}/carriers.txt --doses -1,0,1 --per-dose 2 --set blanks=10 --plantings 2 --seeds 1 --dim 10 --epochs 1 --sizes 2 --measures dbwa --work {out}/work --out {out}/calibration.json",
    "corpus-bias": "corpus-bias {inputs}/corpus.txt --words doctor,nurse --a he,him,his --b she,her,hers",
    "corpus-bias-folder": "corpus-bias {inputs}/texts --words doctor,nurse --a he,him,his --b she,her,hers --documents file",
    # correlate
    "correlate": "correlate {inputs}/points.csv --x weat --y gap",
    "correlate-by": "correlate {inputs}/points.csv --x weat --y gap --by metric,method --unit variant",
    "correlate-seeds": "correlate {inputs}/points.csv --x weat --y gap --by metric --unit variant --seed-column seed",
    "correlate-spearman": "correlate {inputs}/points.csv --x weat --y gap --by method --method spearman --interval percentile --level 0.9 --resamples 500 --seed 7",
    "correlate-drop": "correlate {inputs}/points-twice.csv --x weat --y gap --drop metric=precision --drop variant=v1 --duplicates drop --power-of 0.3",
    "correlate-twice": "correlate {inputs}/points-twice.csv --x weat --y gap --by metric",
    "correlate-shared": "correlate {shared}/goldfarb_tarrant_results/hsd_en.csv --x WEAT --y 'Performance Gap' --by Metric,Method --unit Name",
    # extrinsic
    "extrinsic-csv": "extrinsic csv --vectors {glove} --data {inputs}/texts.csv --set epochs=3 --set resamples=300",
    "extrinsic-csv-seeds": "extrinsic csv --vectors {glove} --data {inputs}/texts.csv --set epochs=3 --set resamples=300 --seeds 3 --order women,men --cache {out}/cells --seed 4",
    "extrinsic-csv-cached": "extrinsic csv --vectors {glove} --data {inputs}/texts.csv --set epochs=3 --set resamples=300 --seeds 3 --cache {extrinsic-csv-seeds}/cells --seed 4 --level 0.9",
    "extrinsic-csv-words": "extrinsic csv --vectors {glove} --data {inputs}/texts.csv --set epochs=2 --set resamples=300 --group-words bolukbasi2016 --positive fine --set split_seed=3 --set tokenizer=words",
    "extrinsic-csv-columns": "extrinsic csv --vectors {r0} --data {inputs}/comments.csv --set text_column=comment --set label_column=verdict --set group_column=about --set epochs=4 --set patience=1 --set monitor=accuracy --set retweets=keep --set resamples=300",
    "extrinsic-csv-published": "extrinsic csv --vectors {glove} --data {inputs}/texts.csv --set epochs=2 --set resamples=300 --as-published",
    "extrinsic-csv-subwords": "extrinsic csv --vectors {train-fasttext}/models/*.safetensors --data {inputs}/texts.csv --set epochs=2 --set resamples=300 --set unknown=subwords",
    "extrinsic-hateval-en": "extrinsic hateval-en --vectors {glove} --data {inputs}/examples/hateval2019 --set epochs=1 --set resamples=300",
    "extrinsic-davidson": "extrinsic davidson --vectors {glove} --data {inputs}/labeled_data.csv --set epochs=2 --set resamples=300 --group-words goldfarb2021_expansion:male,female",
    "extrinsic-edos": "extrinsic edos --vectors {glove} --data {inputs}/edos --set epochs=2 --set resamples=300 --group-words bolukbasi2016",
    "extrinsic-mlma": "extrinsic mlma --vectors {glove} --data {inputs}/mlma --set epochs=2 --set resamples=300",
    "extrinsic-founta": "extrinsic founta --vectors {glove} --data {inputs}/founta --set epochs=2 --set resamples=300 --positive 2",
    "extrinsic-hatecheck-en": "extrinsic hatecheck-en --vectors {glove} --data {inputs}/hatecheck --train-on edos --train-data {inputs}/edos --set epochs=2 --set resamples=300 --positive sexist",
    "extrinsic-hatecheck-hateval": "extrinsic hatecheck-en --vectors {glove} --data {inputs}/hatecheck --train-data {inputs}/examples/hateval2019 --set epochs=1 --set resamples=300",
    "extrinsic-coref": "extrinsic coref --vectors {glove} --data {inputs}/coref --set epochs=5 --set resamples=300 --set device=cpu --seed 1",
    "extrinsic-coref-seeds": "extrinsic coref --vectors {glove} --data {inputs}/coref/stories.conll --winobias {inputs}/coref/wino --set epochs=5 --set resamples=300 --seeds 2 --set device=cpu --seed 1",
    # factors
    "factors": "factors sgns:wiki={score-first}/store sgns:news={score-second}/store --counts wiki={inputs}/counts.txt --counts news={inputs}/counts.txt --refits 20 --out {out}/rows.csv",
    "factors-inter-rater": "factors sgns:wiki={score-first}/store sgns:news={score-second}/store --counts wiki={inputs}/counts.txt --counts news={inputs}/counts.txt --outcome inter-rater --standardize --refits 10 --level 0.9 --seed 7",
    "factors-trained": "factors sgns:tiny={score-trained-sgns}/store glove:tiny={score-trained-glove}/store --refits 10 --n-jobs 1",
    "factors-no-counts": "factors sgns:wiki={score-first}/store sgns:news={score-second}/store --refits 10",
    # lexicons
    "lexicons-list": "lexicons list",
    "lexicons-list-es": "lexicons list --kind test --language es",
    "lexicons-show-weat7": "lexicons show weat7",
    "lexicons-show-du2021": "lexicons show du2021",
    "lexicons-show-religion": "lexicons show religion --words",
    "lexicons-show-seed-bank": "lexicons show seed_bank",
    "lexicons-show-values": "lexicons show occupations_percent_female",
    "lexicons-show-translations": "lexicons show xweat_es",
    "lexicons-show-own": "lexicons show {inputs}/own-test.toml",
    "lexicons-check": "lexicons check",
    "lexicons-check-vectors": "lexicons check --vectors {glove}",
    "lexicons-check-limit": "lexicons check weat7 occ16 {inputs}/own-test.toml --vectors {glove} --limit 3000",
    "lexicons-check-bad": "lexicons check {inputs}/bad-test.toml --vectors {glove}",
    "lexicons-expand": "lexicons expand weat7 {glove} -n 10 --out {out}/large.toml",
    "lexicons-expand-any": "lexicons expand {inputs}/own-test.toml {glove} -n 5 --to any --exclude tax,cash --limit 9000 --case-fallback --out {out}/large.toml",
    "lexicons-expand-sets": "lexicons expand bsri {r0} -n 5 --exclude {inputs}/words.txt --out {out}/large.toml",
    # mitigate
    "mitigate-hard": "mitigate --effect --out {out}/v.safetensors",
    "mitigate-hard-half": "mitigate {glove} --strength 0.5 --norms unit --effect --compare weat8,gender --out {out}/v.bin",
    "mitigate-hard-overbias": "mitigate {glove} --direction overbias --strength 2 --equalize none --specific none --set components=2 --out {out}/v.safetensors",
    "mitigate-double-hard": "mitigate {glove} --method double_hard --effect --out {out}/v.safetensors",
    "mitigate-half-sibling": "mitigate {glove} --method half_sibling --set alpha=30 --effect --out {out}/v.safetensors",
    "mitigate-half-sibling-words": "mitigate {glove} --method half_sibling --lexicon he,him,man,she,her,woman --out {out}/v.safetensors",
    "mitigate-ran": "mitigate {r0} --method ran --words occ16 --set epochs=5 --out {out}/v.safetensors",
    "mitigate-multiclass-hard": "mitigate {glove} --method multiclass_hard --lexicon religion --effect --compare religion --out {out}/v.safetensors",
    "mitigate-multiclass-soft": "mitigate {glove} --method multiclass_soft --lexicon religion --set weight=0.3 --out {out}/v.safetensors",
    "mitigate-attract-repel": "mitigate {glove} --method attract_repel --lexicon weat6b,weat7 --set epochs=3 --effect --out {out}/v.safetensors",
    "mitigate-attract-repel-overbias": "mitigate {r0} --method attract_repel --lexicon weat7 --set epochs=2 --direction overbias --seed 7 --out {out}/v.vec",
    "mitigate-attract-repel-published": "mitigate {r0} --method attract_repel --lexicon weat7 --set epochs=2 --as-published --out {out}/v.safetensors",
    # reliability
    "reliability": "reliability {score-replicates}/store",
    "reliability-lists": "reliability {score-first}/store --lists occ16,occ18,adj --queries du2021_queries --min-coverage 0.5 --level 0.9 --target 0.9 --seed 7",
    "reliability-one-measure": "reliability {score-one-measure}/store --lists bsri:female",
    "reliability-one-model": "reliability {score}/store",
    # reproduce
    "reproduce": "reproduce",
    "reproduce-badderseeds2022": "reproduce badderseeds2022 --out {out}/page.html",
    "reproduce-dobrzeniecka2023": "reproduce dobrzeniecka2023",
    "reproduce-du2021": "reproduce du2021",
    "reproduce-goldfarbtarrant2021": "reproduce goldfarbtarrant2021",
    "reproduce-zhang2020": "reproduce zhang2020",
    "reproduce-part": "reproduce dobrzeniecka2023 --part null_simulation --seed 7",
    "reproduce-badderseeds2022-shared": "reproduce badderseeds2022 --data {shared}",
    "reproduce-dobrzeniecka2023-shared": "reproduce dobrzeniecka2023 --data {shared}",
    "reproduce-du2021-shared": "reproduce du2021 --data {shared}",
    "reproduce-goldfarbtarrant2021-shared": "reproduce goldfarbtarrant2021 --data {shared}",
    "reproduce-zhang2020-shared": "reproduce zhang2020 --data {shared}",
    # robustness
    "robustness": "robustness {glove}",
    "robustness-published": "robustness {glove} --as-published",
    "robustness-analogies": "robustness {glove} --analogies --measures dbwa --forms none --pair-forms none --truths none",
    "robustness-own": "robustness {glove} --pairs {inputs}/own-pairs.toml --words nurse,surgeon,judge,clerk,pilot,maid --truths bsri --forms plural,own={inputs}/own-forms.toml --k 20 --pool all --set frequent=3000 --level 0.9 --seed 7",
    "robustness-replicate": "robustness {r0} --pairs du2021 --words {inputs}/words.txt --measures ripa,nbm,ripa_unit --pool google10k --min-coverage 0.5 --n-jobs 1",
    # score
    "score": "score {glove} --out {out}/store",
    "score-replicates": "score {replicates} --out {out}/store",
    "score-first": "score {r0} {r1} {r2} {r3} --words google10k --k 20 --out {out}/store",
    "score-second": "score {r4} {r5} {r6} {r7} --words google10k --pool google10k --k 20 --out {out}/store",
    "score-one-measure": "score {replicates} --words bsri --pairs bolukbasi2016 --measures ripa_unit --case-fallback --out {out}/store",
    "score-all-measures": "score {glove} --words {inputs}/words.txt --pairs {inputs}/own-pairs.toml --measures dbwa,ripa,ripa_unit,nbm,nbm_du2021,nbm_zhang2020 --k 30 --pool google10k --n-jobs 1 --out {out}/store",
    "score-published-du2021": "score {r0} --as-published du2021 --out {out}/store",
    "score-published-zhang2020": "score {glove} --as-published zhang2020 --pairs zhang2020 --out {out}/store",
    "score-trained-sgns": "score {train-sgns}/models/*.safetensors --words full --k 10 --out {out}/store",
    "score-trained-glove": "score {train-glove}/models/*.safetensors --words full --k 10 --out {out}/store",
    # seeds
    "seeds": "lexicons quality {glove} --a he,man,his --b she,woman,her",
    "seeds-all": "lexicons quality {glove} --pairs all --case-fallback --shuffles 50",
    "seeds-replicates": "lexicons quality {replicates} --a weat7:a --b weat7:b --shuffles 50",
    "seeds-pca": "lexicons quality {r0} {r1} {r2} --paper Bolukbasi --method pca --set unit=true --shuffles 50 --seed 7",
    "seeds-test": "lexicons quality {glove} --pairs weat7 --generated 10 --shuffles 50 --leave-one-out no --level 0.9",
    "seeds-published": "lexicons quality {glove} --paper Caliskan --filter published --min-coverage 0.5 --shuffles 50",
    "seeds-category": "lexicons quality {glove} --category female --target math",
    "seeds-category-replicates": "lexicons quality {r0} {r1} --category male --target math,science,algebra --filter none",
    "seeds-bank": "lexicons seed-bank",
    "seeds-bank-some": "lexicons seed-bank --paper Caliskan --sourcing borrowed --words",
    "seeds-bank-filter": "lexicons seed-bank --category female --filter corrected",
    "seeds-bank-word": "lexicons seed-bank --word woman --justification gender --filter published",
    # simulate-null
    "null": "simulate-null --simulations 4000",
    "null-observed": "simulate-null --simulations 2000 --n-x 25 --n-y 25 --n-a 5 --n-b 6 --observed 0.8 --set observed_statistic=0.1 --seed 7",
    "null-families": "simulate-null --simulations 2000 --family-sd 0.04 --set family_size=4 --set word_sd=0.02",
    "null-published": "simulate-null --simulations 4000 --as-published --observed 1.267 --set ddof=1 --alternative greater --set alpha=0.1",
    "null-vectors": "simulate-null --simulations 200 --set dimensions=20 --set permutations=49",
    "null-mac": "simulate-null --test mac --set attribute_sd=0.02 --simulations 500 --set permutations=99",
    "null-rnd": "simulate-null --test rnd --simulations 200 --observed 0.2 --set permutations=49",
    "null-rnsb": "simulate-null --test rnsb --simulations 20 --set permutations=0",
    "null-ect": "simulate-null --test ect --simulations 200 --set permutations=49",
    "null-set-ripa": "simulate-null --test set_ripa --simulations 200 --set permutations=49",
    "null-same": "simulate-null --test same --simulations 200 --set permutations=49",
    "null-nas": "simulate-null --test nas --simulations 200 --set permutations=49",
    "null-semaxis": "simulate-null --test semaxis --simulations 200 --set permutations=49",
    # study
    "study-init": "study init {out}/my-study.toml",
    "study-run-init": "study run {study-init}/my-study.toml --workers 1 --out {out}/study",
    "study-plan-badder-seeds2022": "study plan {inputs}/examples/badder-seeds2022.toml --out {out}/study",
    "study-plan-compare-two-corpora": "study plan {inputs}/examples/compare-two-corpora.toml --out {out}/study",
    "study-plan-did-my-debiasing-work": "study plan {inputs}/examples/did-my-debiasing-work.toml --out {out}/study",
    "study-plan-dobrzeniecka2023": "study plan {inputs}/examples/dobrzeniecka2023.toml --out {out}/study",
    "study-plan-du2021": "study plan {inputs}/examples/du2021.toml --out {out}/study",
    "study-plan-five-minutes": "study plan {inputs}/examples/five-minutes.toml --cells --out {out}/study",
    "study-plan-goldfarb-tarrant2021": "study plan {inputs}/examples/goldfarb-tarrant2021.toml --out {out}/study",
    "study-plan-zhang2020": "study plan {inputs}/examples/zhang2020.toml --out {out}/study",
    "study-plan-small": "study plan {inputs}/small-study.toml --out {out}/study",
    "study-run-five-minutes": "study run {inputs}/examples/five-minutes.toml --workers 1 --out {out}/study",
    "study-run-did-my-debiasing-work": "study run {inputs}/examples/did-my-debiasing-work.toml --workers 1 --out {out}/study",
    "study-run-dobrzeniecka2023": "study run {inputs}/examples/dobrzeniecka2023.toml --workers 0 --out {out}/study",
    "study-run-zhang2020": "study run {inputs}/examples/zhang2020.toml --workers 1 --memory 4GB --out {out}/study",
    "study-run-small": "study run {inputs}/small-study.toml --workers 1 --out {out}/study",
    "study-show-badder-seeds2022": "study show {inputs}/examples/badder-seeds2022.toml --out {out}/study",
    "study-show-compare-two-corpora": "study show {inputs}/examples/compare-two-corpora.toml --out {out}/study",
    "study-show-did-my-debiasing-work": "study show {inputs}/examples/did-my-debiasing-work.toml --out {study-run-did-my-debiasing-work}/study",
    "study-show-dobrzeniecka2023": "study show {inputs}/examples/dobrzeniecka2023.toml --out {study-run-dobrzeniecka2023}/study",
    "study-show-du2021": "study show {inputs}/examples/du2021.toml --out {out}/study",
    "study-show-five-minutes": "study show {inputs}/examples/five-minutes.toml --page {out}/page.html --out {study-run-five-minutes}/study",
    "study-show-goldfarb-tarrant2021": "study show {inputs}/examples/goldfarb-tarrant2021.toml --out {out}/study",
    "study-show-zhang2020": "study show {inputs}/examples/zhang2020.toml --out {study-run-zhang2020}/study",
    "study-show-small": "study show {inputs}/small-study.toml --out {study-run-small}/study",
    # train
    "train-sgns": "train {inputs}/corpus.txt --seeds 3 --dim 20 --epochs 2 --n-jobs 1 --out {out}/models",
    "train-cbow": "train {inputs}/corpus.txt --algorithm cbow --bootstrap 2 --dim 20 --epochs 2 --window 3 --set negative=3 --set subsample=0 --seed 7 --out {out}/models",
    "train-fasttext": "train {inputs}/corpus.txt --algorithm fasttext --dim 20 --epochs 1 --min-count 10 --set min_n=3 --set max_n=4 --out {out}/models",
    "train-fasttext-tweets": "train {inputs}/tweets.tsv --field text --tokenizer twitter --algorithm fasttext --set subwords=false --dim 10 --epochs 1 --min-count 3 --set precision=float16 --out {out}/models",
    "train-glove": "train {inputs}/corpus.txt --algorithm glove --seeds 3 --dim 20 --epochs 4 --set unknown=<unk> --out {out}/models",
    "train-several": "train {inputs}/corpus.txt {inputs}/examples/first.txt --algorithm sgns,glove --dim 10 --epochs 1 --documents file --tokenizer spacy:en --out {out}/models",
    "train-wikitext": "train {inputs}/examples/wiki.train.tokens --dim 10 --epochs 1 --tokenizer whitespace --out {out}/models",
    "train-like-du2021": "train {inputs}/corpus.txt --like du2021 --algorithm sgns --dim 20 --epochs 1 --out {out}/models",
    "train-like-badder": "train {inputs}/examples/wiki.train.tokens --like badder_seeds2022 --dim 20 --epochs 1 --as-published --out {out}/models",
    "train-like-wiki": "train {inputs}/corpus.txt --like goldfarb_tarrant2021_wiki --dim 20 --epochs 1 --min-count 5 --out {out}/models",
    "train-like-twitter": "train {inputs}/tweets.tsv --field text --like goldfarb_tarrant2021_twitter --dim 10 --epochs 1 --min-count 3 --out {out}/models",
    "train-folder": "train {inputs}/texts --seeds 2 --dim 10 --epochs 1 --documents file --out {out}/models",
    # weat and the other association tests
    "weat1": "weat {glove} --test weat1",
    "weat2": "weat {glove} --test weat2 --alternative two-sided",
    "weat3": "weat {glove} --test weat3 --case-fallback",
    "weat4": "weat {glove} --test weat4 --case-fallback",
    "weat5": "weat {glove} --test weat5 --case-fallback",
    "weat6": "weat {glove} --test weat6 --case-fallback",
    "weat6-lost": "weat {glove} --test weat6",
    "weat6b": "weat {glove} --test weat6b",
    "weat7": "weat {glove} --test weat7",
    "weat8": "weat {glove} --test weat8",
    "weat9": "weat {glove} --test weat9",
    "weat10": "weat {glove} --test weat10 --case-fallback",
    "weat-two-sided": "weat {glove} --test weat7 --alternative two-sided",
    "weat-less": "weat {glove} --test weat7 --alternative less --seed 7",
    "weat-ddof1": "weat {glove} --test weat7 --ddof 1",
    "weat-percentile": "weat {glove} --test weat7 --interval percentile",
    "weat-jackknife": "weat {glove} --test weat7 --interval jackknife",
    "weat-monte-carlo": "weat {glove} --test weat1 --ddof 1 --alternative less --seed 7",
    "weat-replicate": "weat {r3} --test weat7",
    "weat-own-words": "weat {glove} --x math,algebra,geometry --y poetry,art,dance --a he,man,his --b she,woman,her",
    "weat-own-references": "weat {glove} --x weat7:x --y weat7:y --a bsri:male --b bsri:female",
    "weat-own-test": "weat {glove} --test {inputs}/own-test.toml --min-coverage 0.5",
    "weat-untrimmed": "weat {glove} --test {inputs}/own-test.toml --min-coverage 0.5 --trimming none",
    "weat-trimmed-as-published": "weat {glove} --test {inputs}/own-test.toml --min-coverage 0.5 --trimming as_published",
    "weat-text-vectors": "weat {inputs}/small.txt --test weat7 --min-coverage 0.5",
    "mac": "weat {glove} --test weat7 --kind mac",
    "rnd": "weat {glove} --test weat7 --kind rnd",
    "rnsb": "weat {glove} --test weat7 --kind rnsb",
    "ect": "weat {glove} --test weat7 --kind ect",
    "set-ripa": "weat {glove} --test weat7 --kind set_ripa",
    "same": "weat {glove} --test weat7 --kind same",
    "nas": "weat {glove} --test weat7 --kind nas",
    "semaxis": "weat {glove} --test weat7 --kind semaxis",
    "mac-weat1": "weat {glove} --test weat1 --kind mac --interval percentile --seed 7",
    "rnd-weat1": "weat {glove} --test weat1 --kind rnd --interval jackknife",
    "rnsb-weat6": "weat {glove} --test weat6 --kind rnsb --case-fallback",
    "ect-weat1": "weat {glove} --test weat1 --kind ect --interval percentile --seed 7",
    "set-ripa-weat1": "weat {glove} --test weat1 --kind set_ripa --interval jackknife",
    "same-weat1": "weat {glove} --test weat1 --kind same --interval percentile",
    "nas-weat1": "weat {glove} --test weat1 --kind nas --interval jackknife",
    "semaxis-weat1": "weat {glove} --test weat1 --kind semaxis --interval percentile --seed 7",
}

TOPICS = {
    "he": "male man boy brother he him his son father uncle himself guy",
    "she": "female woman girl sister she her hers daughter mother aunt herself gal",
    "work": "executive management professional corporation salary office business career",
    "home": "home parents children family cousins marriage wedding relatives",
    "science": "math algebra geometry calculus equations computation numbers addition",
    "art": "poetry art dance literature novel symphony drama sculpture",
    "jobs": "doctor lawyer scientist soldier officer secretary nurse clerk artist dancer singer maid judge pilot",
    "belief": "church bible priest rabbi synagogue mosque imam christian jew muslim liberal violent dirty cheap",
}
PAIRED = (("he", "work"), ("he", "science"), ("she", "home"), ("she", "art"), ("he", "home"), ("she", "science"))

TEXTS = {
    "own-test.toml": """\
        kind = "test"
        counterparts = [["actor", "actress"], ["waiter", "zzwaitress"]]
        [x]
        name = "money"
        words = ["money", "cash", "bank", "tax", "zzcoin", "actor", "actress", "waiter", "zzwaitress"]
        [y]
        name = "land"
        words = ["field", "river", "forest", "hill", "lake", "valley", "meadow"]
        [a]
        name = "rich"
        words = ["rich", "wealthy", "zzaffluent", "fortune"]
        [b]
        name = "poor"
        words = ["poor", "needy", "hunger", "poverty"]
        """,
    "bad-test.toml": """\
        kind = "test"
        x = { name = "one", words = ["zzone", "zztwo"] }
        y = { name = "two", words = ["river", "hill"] }
        a = { name = "three", words = ["rich", "rich"] }
        b = { name = "four", words = ["poor", "rich"] }
        """,
    "own-stereotypes.toml": """\
        kind = "stereotypes"
        group_order = ["young", "old"]
        [groups.young]
        protected = ["youth", "teenager", "student"]
        attributes = ["reckless", "lazy", "fast", "wild"]
        [groups.old]
        protected = ["age", "pensioner", "grandfather"]
        attributes = ["slow", "wise", "weak", "ill"]
        """,
    "own-pairs.toml": """\
        kind = "pairs"
        ends = ["male", "female"]
        pairs = [["he", "she"], ["man", "woman"], ["king", "queen"], ["father", "mother"], ["zzlad", "lass"]]
        """,
    "own-forms.toml": """\
        kind = "pairs"
        ends = ["word", "form"]
        pairs = [["nurse", "nursing"], ["surgeon", "surgery"], ["judge", "judges"], ["pilot", "pilots"]]
        """,
    "carriers.txt": """\
        doctor
        lawyer
        scientist
        soldier
        officer
        secretary
        nurse
        clerk
        artist
        dancer
        singer
        maid
        judge
        pilot
        """,
    "words.txt": """\
        nurse
        surgeon
        judge
        clerk
        pilot
        maid
        doctor
        teacher
        lawyer
        singer
        king
        queen
        zzword
        """,
    "small-study.toml": """\
        [study]
        name = "small"
        [corpora.tiny]
        path = "corpus.txt"
        [corpora.tiny-balanced]
        from = "tiny"
        balance = { test = "weat6b", direction = "debias", strength = 0.2 }
        [models.sgns]
        algorithm = "sgns"
        seeds = 3
        dim = 16
        epochs = 2
        [models.glove]
        algorithm = "glove"
        corpora = ["tiny"]
        bootstrap = 3
        dim = 12
        epochs = 3
        [vectors.shipped]
        default = "glove"
        [vectors.several]
        default = "replicates"
        limit = 5000
        [mitigations.hard]
        of = ["shipped"]
        method = "hard"
        [mitigations.repelled]
        of = ["sgns/tiny"]
        method = "attract_repel"
        settings = { lexicon = ["weat7"], epochs = 2 }
        [scores.trained]
        of = ["sgns", "glove"]
        pairs = "bolukbasi2016"
        words = "full"
        measures = ["dbwa", "ripa"]
        [scores.some]
        of = ["several"]
        pairs = "bolukbasi2016"
        words = "occ18"
        [analyses.weat]
        kind = "weat"
        of = ["sgns", "glove", "shipped", "hard", "repelled"]
        settings = { test = "weat7", alternative = "two-sided" }
        [analyses.mac]
        kind = "mac"
        of = ["shipped", "hard"]
        settings = { stereotypes = "religion" }
        [analyses.rnsb]
        kind = "rnsb"
        of = ["shipped"]
        settings = { test = "weat6b" }
        [analyses.ect]
        kind = "ect"
        of = ["several"]
        settings = { test = "weat7" }
        [analyses.reliability]
        kind = "reliability"
        of = ["trained", "some"]
        [analyses.components]
        kind = "components"
        of = ["some"]
        [analyses.decision]
        kind = "decision"
        of = ["some"]
        settings = { target = 0.7 }
        [analyses.factors]
        kind = "factors"
        of = ["trained"]
        settings = { refits = 10 }
        [analyses.stability]
        kind = "stability"
        of = ["sgns", "several"]
        [analyses.quality]
        kind = "quality"
        of = ["shipped", "sgns"]
        [analyses.seeds]
        kind = "seeds"
        of = ["several"]
        settings = { a = "weat7:a", b = "weat7:b", shuffles = 20 }
        [analyses.robustness]
        kind = "robustness"
        of = ["shipped"]
        settings = { words = "occ18", frequent = 3000 }
        [analyses.audit]
        kind = "audit"
        of = ["several"]
        settings = { lexicons = ["weat7", "occ18", "bolukbasi2016"] }
        [analyses.effect]
        kind = "mitigation-effect"
        of = ["hard", "repelled"]
        settings = { lexicons = ["weat7"] }
        [analyses.bayes]
        kind = "bayes"
        of = ["hard"]
        settings = { lexicon = "religion", variant = "crossed" }
        [analyses.change]
        kind = "bayes-change"
        of = ["hard"]
        settings = { lexicon = "gender" }
        [tasks.texts]
        task = "csv"
        data = "texts.csv"
        of = ["sgns/tiny", "repelled"]
        seeds = 2
        settings = { epochs = 2 }
        [analyses.points]
        kind = "points"
        of = ["texts"]
        settings = { tests = ["weat6b", "weat7"] }
        [analyses.tracking]
        kind = "correlate"
        of = ["points"]
        settings = { x = "weat", y = "gap", by = ["metric", "of", "test"], unit = "variant", seed_column = "seed" }
        [report]
        title = "A small study of everything"
        """,
}


def main() -> int:
    """Run the rows that are asked for; say how long each took and how it left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for all outputs")
    parser.add_argument("--src", type=Path, default=ROOT, help="the source tree to run")
    parser.add_argument("--only", action="append", help="rerun only rows of this name (* stands for anything)")
    parser.add_argument("--missing", action="store_true", help="leave out rows that were run: go on after a break")
    asked = parser.parse_args()
    out, tree = asked.out.resolve(), asked.src.resolve()
    shared = os.environ.get("BIASGAUGE_SHARED")
    known = {name: row for name, row in COMMANDS.items() if shared or "{shared}" not in row}
    chosen = [name for name in known if any(fnmatch(name, one) for one in asked.only or ["*"])]
    if asked.missing:
        chosen = [name for name in chosen if not (out / f"{name}.err").is_file()]
    out.mkdir(parents=True, exist_ok=True)
    environment = environment_of(out, tree)
    _check_tree(tree, environment)
    places = make_inputs(out, tree)
    if shared:
        places["shared"] = str(Path(shared).resolve())
    started = time.monotonic()
    codes = run_all(known, with_needs(chosen, known, out), places, out, environment)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(codes)} commands in {time.monotonic() - started:.0f} s", end=" ")
    print(f"({used.ru_utime + used.ru_stime:.0f} s of processor time); exit codes:", end=" ")
    print(", ".join(f"{list(codes.values()).count(code)} × {code}" for code in sorted(set(codes.values()))))
    return 0


def environment_of(out: Path, tree: Path) -> dict[str, str]:
    """One thread a process, and nothing written into the source tree."""
    mine = {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(out / ".numba")}
    mine |= {"COLUMNS": "120", **dict.fromkeys(THREADS, "1")}
    dropped = ("PYTHONHASHSEED", "BIASGAUGE_SHARED")
    return {**{name: value for name, value in os.environ.items() if name not in dropped}, **mine}


def _check_tree(tree: Path, environment: dict[str, str]) -> None:
    """Leave when the interpreter would run another tree than the one asked for."""
    asked = [sys.executable, "-c", "import biasgauge; print(biasgauge.__file__)"]
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
    if not Path(done.stdout.strip()).is_relative_to(tree / "src"):
        sys.exit(f"{tree} would not be run, but {done.stdout.strip() or done.stderr.strip()}")


# --- running ----------------------------------------------------------------------------------------------------------


def _needs(row: str, known: dict[str, str]) -> set[str]:
    """Names of the rows whose files or output a row reads."""
    return {name for name in re.findall(r"\{([\w-]+)\}", row) if name in known}


def with_needs(chosen: list[str], known: dict[str, str], out: Path) -> list[str]:
    """The chosen rows, and those that they need and that were not run yet."""
    found, open_ones = set(chosen), list(chosen)
    while open_ones:
        missing = {name for name in _needs(known[open_ones.pop()], known) if not (out / f"{name}.err").is_file()}
        open_ones += sorted(missing - found)
        found |= missing
    return [name for name in known if name in found]


def run_all(
    known: dict[str, str], names: list[str], places: dict[str, str], out: Path, environment: dict[str, str]
) -> dict[str, int]:
    """Run rows, two at a time, each after those that it needs; return exit codes."""
    waiting, codes = list(names), dict[str, int]()
    running: dict[Future[tuple[int, float]], str] = {}
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        while waiting or running:
            open_ones = {*waiting, *running.values()}
            ready = [name for name in waiting if not _needs(known[name], known) & open_ones]
            for name in ready[: AT_A_TIME - len(running)]:
                waiting.remove(name)
                row = known[name].format_map({**{one: one for one in known}, **places, "out": name})
                running[pool.submit(_run_one, name, row, out, environment)] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                codes[name], seconds = future.result()
                print(f"{codes[name]:>4}  {seconds:6.1f} s  {name}", flush=True)
    return codes


def _run_one(name: str, row: str, out: Path, environment: dict[str, str]) -> tuple[int, float]:
    """Run one command in the folder; keep what it printed and wrote; return its exit code and its seconds."""
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    if "{out}" in COMMANDS[name]:
        folder.mkdir()
    words = [file for word in shlex.split(row) for file in (_matches(out, word) if "*" in word else [word])]
    seed = [] if "--seed" in words else ["--seed", "0"]
    python = environment.get("BIASGAUGE_PYTHON", sys.executable)
    command = [python, "-m", "biasgauge", *words, *seed, "--json"]
    started = time.monotonic()
    done = subprocess.run(command, cwd=out, env=environment, capture_output=True, check=False)  # noqa: S603 - ourselves
    seconds = time.monotonic() - started
    (out / f"{name}.json").write_bytes(done.stdout)
    if folder.is_dir():
        kept = json.dumps(_kept(folder), ensure_ascii=False)
        (out / f"{name}.files.json").write_text(kept + "\n", encoding="utf-8")
    (out / f"{name}.err").write_bytes(f"exit code {done.returncode}\n".encode() + done.stderr)
    return done.returncode, seconds


def _matches(out: Path, pattern: str) -> list[str]:
    return [str(one.relative_to(out)) for one in sorted(out.glob(pattern))] or [pattern]


# --- what commands wrote ----------------------------------------------------------------------------------------------


def _kept(folder: Path) -> dict[str, Any]:
    """Numbers in the files of a folder, by name; the cells of a study are left out, their results are in `results`."""
    found: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            found[path.name] = {} if path.name in {"cells", "failed"} else _kept(path)
        elif (content := _content(path)) is not None:
            found[path.name] = content
    return found


def _content(path: Path) -> Any:  # noqa: ANN401 - JSON
    """What of a file is to be compared; None for pages and pictures."""
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return [{name: _cell(cell) for name, cell in row.items()} for row in csv.DictReader(file)]
    if path.suffix == ".toml":
        return tomllib.loads(path.read_text(encoding="utf-8"))
    if path.suffix == ".safetensors":
        return _tensors(path.read_bytes())
    if path.suffix == ".gz":
        return _checksum(gzip.decompress(path.read_bytes()))
    return _checksum(path.read_bytes()) if path.suffix in {".npy", ".bin", ".txt", ".tsv", ".vec"} else None


def _cell(text: str) -> float | str:
    try:
        return float(text) if text.lower() not in {"nan", "inf", "-inf"} else text
    except ValueError:
        return text


def _tensors(data: bytes) -> dict[str, int]:
    """A checksum of each tensor: what else stands in the header may change."""
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    places = {name: about["data_offsets"] for name, about in header.items() if name != "__metadata__"}
    return {name: _checksum(data[start + low : start + high]) for name, (low, high) in sorted(places.items())}


def _checksum(data: bytes) -> int:
    """The beginning of the SHA-256 as a number, so that a difference counts as one of numbers."""
    return int(hashlib.sha256(data).hexdigest()[:12], 16)


# --- inputs -----------------------------------------------------------------------------------------------------------


def make_inputs(out: Path, tree: Path) -> dict[str, str]:
    """Make small inputs, the same ones whenever they are made; say where they and the shipped vectors are."""
    inputs = out / "inputs"
    shutil.rmtree(inputs, ignore_errors=True)
    shutil.copytree(tree / "examples", inputs / "examples")
    shipped = sorted((tree / "src").rglob("*.safetensors"))
    for path in shipped:
        shutil.copy(path, inputs / path.name)
    names = [f"inputs/{path.name}" for path in shipped]
    glove = next(name for name in names if "glove" in name)
    replicates = [name for name in names if "seed" in name]
    for name, text in TEXTS.items():
        _write(inputs / name, [line.removeprefix(" " * 8) for line in text.rstrip().split("\n")])
    _write_corpora(inputs, _packed_words(out / glove))
    texts = (inputs / "corpus.txt").read_text(encoding="utf-8").splitlines()
    parts = {f"part{start % 7}-{start}.txt": texts[start : start + 500] for start in range(0, len(texts), 500)}
    backwards = os.environ.get("BIASGAUGE_BACKWARDS") == "1"  # disks list files in the order in which they were made
    for name in sorted(parts, reverse=backwards):
        _write(inputs / "texts" / name, parts[name])
    _write_counts_and_vectors(inputs, _packed_words(out / replicates[0]))
    _write_points(inputs)
    _write_distances(inputs)
    _write_labelled_texts(inputs)
    _write_coreference(inputs / "coref")
    numbered = {f"r{at}": name for at, name in enumerate(replicates)}
    return {"inputs": "inputs", "glove": glove, "replicates": " ".join(replicates), **numbered}


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _packed_words(path: Path) -> list[str]:
    """The words of a vector file that ships: one tensor has their bytes, another where each ends."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    low, high = header["words"]["data_offsets"]
    text = data[start + low : start + high]
    low, high = header["word_ends"]["data_offsets"]
    ends = [int.from_bytes(data[start + at : start + at + 8], "little") for at in range(low, high, 8)]
    return [text[begin:end].decode() for begin, end in zip([0, *ends], ends, strict=False)]


def _sentences(count: int, seed: int, common: list[str]) -> list[str]:
    """Sentences of two topics that go together and of common words, the first of them the more often."""
    chance = random.Random(seed)  # noqa: S311 - text, no secret
    topics = {name: words.split() for name, words in TOPICS.items()}
    weights = [1 / (at + 3) for at in range(len(common))]
    found = []
    for _ in range(count):
        pair = chance.choices(PAIRED, weights=(4, 4, 4, 4, 1, 1))[0]
        other = chance.choice(("jobs", "belief", "work", "art"))
        words = [chance.choice(topics[name]) for name in (*pair, other)] + chance.choices(common, weights, k=8)
        chance.shuffle(words)
        found.append(" ".join(words))
    return found


def _write_corpora(inputs: Path, words: list[str]) -> None:
    """A text, the texts that the examples name, and tweets."""
    common = [word for word in words if word.isalpha() and word.islower()][:600]
    _write(inputs / "corpus.txt", _sentences(3000, 0, common))
    for at, name in enumerate(("first", "second", "wiki", "askscience", "askhistorians"), 1):
        _write(inputs / "examples" / f"{name}.txt", _sentences(1000, at, common))
    articles = []
    for at, line in enumerate(_sentences(1200, 10, common)):
        articles += ["", f" = Article {at // 20} = ", ""] if at % 20 == 0 else []
        articles.append(f" {line} <unk> . ")
    _write(inputs / "examples" / "wiki.train.tokens", articles)
    tweets = [f"{at}\t@someone #tag {line} http://a.example" for at, line in enumerate(_sentences(800, 11, common))]
    _write(inputs / "tweets.tsv", ["id\ttext", *tweets])


def _write_counts_and_vectors(inputs: Path, words: list[str]) -> None:
    """How often words occur, and vectors as text."""
    chance = random.Random(20)  # noqa: S311 - as above
    _write(
        inputs / "counts.txt",
        [f"{word}\t{1_000_000 // (at + 10) + chance.randrange(50)}" for at, word in enumerate(words)],
    )
    some = dict.fromkeys([*" ".join(TOPICS.values()).split(), *words[:300]])
    _write(
        inputs / "small.txt", [" ".join([word, *(f"{chance.uniform(-1, 1):.5f}" for _ in range(12))]) for word in some]
    )


def _write_points(inputs: Path) -> None:
    """Twelve versions of an embedding, two metrics, two methods, three task seeds."""
    chance = random.Random(30)  # noqa: S311 - as above
    rows = ["variant,method,metric,seed,weat,gap"]
    for at in range(12):
        weat, lean = chance.uniform(-1, 1.5), chance.uniform(-0.1, 0.1)
        for metric in ("precision", "recall"):
            for seed in range(3):
                gap = 0.1 * weat * (metric == "recall") + lean + chance.uniform(-0.05, 0.05)
                rows.append(f"v{at},{('before', 'after')[at % 2]},{metric},{seed},{weat:.6f},{gap:.6f}")
    _write(inputs / "points.csv", rows)
    _write(inputs / "points-twice.csv", [*rows, rows[-1]])


def _write_distances(inputs: Path) -> None:
    """Cosine distances as the authors of the Bayesian model published theirs, before and after a change."""
    connections = {"associated": 0.8, "different": 0.9, "human": 0.95, "none": 1.0}
    for name, shrink in (("distances", 1.0), ("distances-after", 0.4)):
        chance = random.Random(40)  # noqa: S311 - as above
        rows = [",protected_word,word_to_compare,word_class,cosine_distance,cosine_similarity,connection"]
        for word in ("rabbi", "torah", "priest", "bible", "imam", "mosque"):
            lean = chance.uniform(-0.05, 0.05)
            for connection, mean in connections.items():
                for at in range(8):
                    distance = 1 - shrink * (1 - mean - lean - chance.uniform(-0.15, 0.15))
                    cells = f"{word},{connection}{at},class,{distance!r},{1 - distance!r},{connection}"
                    rows.append(f"{len(rows) - 1},{cells}")
        again = [f"{len(rows) - 1 + at},{row.split(',', 1)[1]}" for at, row in enumerate(rows[1:5])]
        _write(inputs / f"{name}.csv", [*rows, *again])


def _labelled(count: int, seed: int) -> list[tuple[str, bool, bool]]:
    """Texts, whether each is harmful, and whether it is about women; harm is easier to tell in those about men."""
    chance = random.Random(seed)  # noqa: S311 - as above
    topics = {name: words.split() for name, words in TOPICS.items()}
    found = []
    for at in range(count):
        bad, women = at % 2 == 1, at // 2 % 2 == 1
        told = chance.random() < (0.7 if women else 0.9)
        mood = ("awful", "hate", "stupid") if bad == told else ("good", "nice", "kind")
        words = [chance.choice(mood), chance.choice(topics["she" if women else "he"])]
        words += [chance.choice(topics[name]) for name in ("jobs", "work", "home", "art")]
        chance.shuffle(words)
        found.append((" ".join(words), bad, women))
    return found


def _write_labelled_texts(inputs: Path) -> None:
    """Texts to classify in every layout that a task reads."""
    group = ("men", "women")
    texts = _labelled(400, 50)
    rows = [f"{text},{'toxic' if bad else 'fine'},{group[women]}" for text, bad, women in texts]
    _write(inputs / "texts.csv", ["text,label,group", *rows])
    _write(inputs / "comments.csv", ["comment,verdict,about", *rows])
    for part, count in (("train", 300), ("dev", 100), ("test", 3000)):
        ids = range(count, 0, -1)
        rows = [f"{one},{text},{int(bad)},0,0" for one, (text, bad, _) in zip(ids, _labelled(count, 51), strict=True)]
        _write(inputs / "examples" / "hateval2019" / f"hateval2019_en_{part}.csv", ["id,text,HS,TR,AG", *rows])
        rows = [
            f"{text},{2 if bad else at % 4},{('male', 'female')[women]}" for at, (text, bad, women) in enumerate(texts)
        ]
        _write(inputs / "founta" / f"{part}.csv", ["text,label,gender", *rows[: count // 2]])
    rows = [f"{at},3,0,3,0,{0 if bad else 1 + women},{text}" for at, (text, bad, women) in enumerate(texts)]
    _write(inputs / "labeled_data.csv", [",count,hate_speech,offensive_language,neither,class,tweet", *rows])
    parts = ("train", "train", "train", "train", "dev", "test")
    rows = [
        f"i{at},{text},{'sexist' if bad else 'not sexist'},x,x,{parts[at // 4 % 6]}"
        for at, (text, bad, _) in enumerate(texts)
    ]
    header = "rewire_id,text,label_sexist,label_category,label_vector,split"
    _write(inputs / "edos" / "edos_labelled_aggregated.csv", [header, *rows])
    rows = [
        f"{at},{text},{'hateful_normal' if bad else 'normal'},direct,x,gender,{('gay', 'women')[women]}"
        for at, (text, bad, women) in enumerate(texts)
    ]
    header = "HITId,tweet,sentiment,directness,annotator_sentiment,target,group"
    _write(inputs / "mlma" / "en_dataset.csv", [header, *rows])
    rows = [
        f"{at},f,{at},{text},{'hateful' if bad else 'non-hateful'},{group[women]}"
        for at, (text, bad, women) in enumerate(texts[:80])
    ]
    _write(
        inputs / "hatecheck" / "test_suite_cases.csv",
        [",functionality,case_id,test_case,label_gold,target_ident", *rows],
    )


def _write_coreference(folder: Path) -> None:
    """Stories in which a pronoun means the person of its gender, and sentences in the layout of WinoBias."""
    _write(folder / "stories.conll", _stories(90, 60, "d"))
    for split in ("dev", "test"):
        for kind in "12":
            for at, version in enumerate(("pro", "anti")):
                name = f"{split}_type{kind}_{version}_stereotype.v4_auto_conll"
                _write(folder / "wino" / name, _stories(10, 61 + at, "nw/"))


def _stories(count: int, seed: int, prefix: str) -> list[str]:
    """Lines of CoNLL-2012: two sentences a document, the first with two people, the second with a pronoun."""
    chance = random.Random(seed)  # noqa: S311 - as above
    lines = []
    for at in range(count):
        people = [("woman", "she"), ("man", "he")]
        chance.shuffle(people)
        meant, pronoun = chance.choice(people)
        verbs = [chance.choice(("saw", "met", "left", "found")) for _ in range(2)]
        sentences = (
            f"the {people[0][0]} {verbs[0]} the {people[1][0]} today .".split(),
            f"{pronoun} {verbs[1]} it there .".split(),
        )
        place = sentences[0].index(meant)
        lines.append(f"#begin document ({prefix}{at:02d}); part 000")
        for number, words in enumerate(sentences):
            marks = {place - 1: "(0", place: "0)"} if number == 0 else {0: "(0)"}
            cells = (
                (f"{prefix}{at:02d}", "0", str(i), word, *"------", "*", marks.get(i, "-"))
                for i, word in enumerate(words)
            )
            lines += ["\t".join(one) for one in cells]
            lines.append("")
        lines.append("#end document")
    return lines


if __name__ == "__main__":
    sys.exit(main())
