#!/usr/bin/env bash
# Score the candidate on DATASET, a folder or the address of a store. PREDICTIONS is a file with its patches; without it
# MODEL is asked for them, and ASSUME_PRICE is its price (IN/OUT) if no price table lists it.
set -euo pipefail
out=${1:-runs/candidate}
if [ -z "${PREDICTIONS:-}" ]; then
    PREDICTIONS=predictions.jsonl    # an unfinished file is continued
    goldseam solve "$DATASET" --model "$MODEL" --samples 3 --max-cost 20 \
        ${ASSUME_PRICE:+--assume-price "$ASSUME_PRICE"} -o "$PREDICTIONS"
fi
goldseam evaluate "$DATASET" --gold --retry-errors -o runs/gold    # ends with 1 if a task no longer holds
goldseam evaluate "$DATASET" -p "$PREDICTIONS" --retry-errors -o "$out"
