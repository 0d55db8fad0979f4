#!/usr/bin/env bash
# Score the candidate: MODEL names it, DATASET is a folder or the address of a store.
set -euo pipefail
out=${1:-runs/candidate}
goldseam doctor
if [ ! -s predictions.jsonl ]; then
    goldseam solve "$DATASET" --model "$MODEL" --samples 3 --max-cost 20 -o predictions.jsonl
fi
goldseam evaluate "$DATASET" --gold -o runs/gold             # ends with 1 where a task no longer holds
goldseam evaluate "$DATASET" -p predictions.jsonl -o "$out"
