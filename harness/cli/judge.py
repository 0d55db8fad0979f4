"""The command that lets a model judge patches beside the tests, and shows how far it is to be believed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from rich.console import Group
from rich.text import Text

from harness.cli import model_options
from harness.cli.options import IdentityOption, JsonFlag, open_with, show
from harness.cli.shell import complete
from harness.cli.shell.command import App, argument, option
from harness.cli.shell.help import ADVANCED
from harness.cli.views import judge as judge_text
from harness.cli.views import terminal
from harness.config.settings import load_settings
from harness.core.errors import BugError, InfrastructureError, InputError
from harness.core.wording import counted, one_of
from harness.runs.predictions import CONTROLS
from harness.solve.judge import file
from harness.solve.judge import run as judge_run
from harness.solve.judge.file import Judgement
from harness.solve.judge.run import JudgingOutcome
from harness.solve.models import session
from harness.solve.models.endpoint import Api, Endpoint
from harness.solve.models.meter import Limits

app = App()


@app.add(
    examples={
        "goldseam judge runs/model --dataset bench -m gpt-4.1-2025-04-14 -o judgements.jsonl": "Let a model judge a run's patches",
        "goldseam judge runs/model -o judgements.jsonl": "Show the judgements in a file again",
        "goldseam judge runs/a runs/b --dataset bench -m gpt-4.1-2025-04-14 -o judgements.jsonl --max-cost 2": "Judge two runs, spending 2 dollars at most",
    }
)
def judge(
    runs: Annotated[list[Path], argument("RUN...", "Run folders whose patches are judged.")],
    dataset: Annotated[
        Path | None, option("--dataset DATASET", "Dataset with the statements that the judge is shown.")
    ] = None,
    out: Annotated[
        Path | None, option("-o, --output FILE", "Judgements file (JSONL) to write; an unfinished file is continued.")
    ] = None,
    model: Annotated[
        str | None, option("-m, --model MODEL", "The judge; without it, FILE's judgements are shown.")
    ] = None,
    base_url: model_options.BaseUrlOption = "https://api.openai.com/v1",
    api_key_env: Annotated[
        str, option("--api-key-env VAR", "Environment variable that holds the API key.")
    ] = "OPENAI_API_KEY",
    only: Annotated[
        list[str] | None,
        option(
            "--only MODEL",
            "Judge only this model's patches (repeatable).",
            shown="all but gold",
            autocompletion=complete.models,
        ),
    ] = None,
    max_cost: model_options.MaxCostOption = None,
    jobs: Annotated[int, option("-j, --jobs N", "Requests to make in parallel.", min=1)] = 4,
    json_: JsonFlag = False,
    rubric: Annotated[
        Path | None,
        option("--rubric FILE", "Text of the criteria to judge by.", ADVANCED, shown="the one shipped with goldseam"),
    ] = None,
    with_gold: Annotated[
        bool, option("--with-gold", "Show the judge the known fix too; the ledger records this.", ADVANCED)
    ] = False,
    api: model_options.ApiOption = "auto",
    temperature: Annotated[
        float | None, option("--temperature T", "Sampling temperature.", ADVANCED, min=0, shown="the endpoint's own")
    ] = None,
    max_output_tokens: Annotated[
        int | None,
        option("--max-output-tokens N", "Length limit of one answer.", ADVANCED, min=1, shown="the endpoint's own"),
    ] = None,
    identity: IdentityOption = None,
    max_tokens: model_options.MaxTokensOption = None,
    max_minutes: model_options.MaxMinutesOption = None,
    prices: model_options.PricesOption = None,
    assume_price: model_options.AssumePriceOption = None,
    no_cache: model_options.NoResponseCacheFlag = False,
    cache_max_mb: model_options.CacheMaxOption = None,
) -> None:
    """Let a model judge a run's patches and compare its judgement with the tests. It decides nothing: no gate reads it."""
    if out is None:
        raise InputError("no file for the judgements was named", hint="name the file to write with -o FILE")
    patches = file.patches(runs, only=only or ())
    ended, judge_identity = judge_run.JudgingOutcome(), None
    if model is not None:
        if dataset is None:
            raise InputError(
                "a judge is shown each task's statement, which is in the dataset",
                hint="name the dataset with --dataset DATASET",
            )
        words = judge_run.load_rubric(rubric)
        question = judge_run.Question(
            patches=patches,
            dataset=open_with(dataset, identity),
            out=out,
            rubric=words,
            with_gold=with_gold,
            temperature=temperature,
            max_output_tokens=max_output_tokens,
            jobs=jobs,
        )
        endpoint = Endpoint(base_url=base_url, api_key_env=api_key_env, api=Api(one_of("--api", api, Api)))
        judge_identity = question.identity(model, endpoint.host)
        settings = load_settings()
        table = model_options.prices_of(prices, assume_price, settings)
        # an answer may quote the fix, and what is kept is not encrypted
        quotes = with_gold or not set(CONTROLS).isdisjoint(only or ())
        with terminal.Ticker(terminal.messages(), "judge", quiet=json_) as ticker:
            observer = _JudgeTicker(ticker)
            with session.opened(
                model,
                endpoint,
                environment=os.environ,
                prices=table,
                limits=Limits(cost=max_cost, tokens=max_tokens, minutes=max_minutes),
                cache=model_options.cache_of(
                    settings, no_cache=no_cache or quotes, max_mb=cache_max_mb, note=observer.note
                ),
                jobs=jobs,
                earlier=file.spent(file.read_judgements(out)),
                warn=observer.note,
            ) as wrapped:
                ended = judge_run.ask(question, judge_identity, model=wrapped, observer=observer)
    judgements = file.read_judgements(out)
    tallies = [
        (rater, file.tally_of(patches, judgements, rater), file.bill(patches, judgements, rater))
        for rater in ((judge_identity,) if judge_identity else file.judges(judgements))
    ]
    if not tallies:
        raise InputError(f"{out} holds no judgement", hint="name a judge with --model")
    document = judge_text.document([run.name for run in runs], tallies, stopped=ended.stopped)
    show(document if json_ else Group(*(judge_text.render(*parts) for parts in tallies)), soft_wrap=False)
    _tell_end(ended, quiet=json_)


def _tell_end(ended: JudgingOutcome, *, quiet: bool) -> None:
    """Say why it ended early; exit code 4 where some patches could not be asked about, 70 for a bug."""
    if ended.stopped and not quiet:
        text = f"stopped: {ended.stopped}; the same command with a higher limit continues"
        terminal.messages().print(Text(text, style="yellow"))
    if ended.why is not None:
        kind = BugError if isinstance(ended.why, BugError) else InfrastructureError
        raise kind(
            f"{counted(ended.failed, 'patch', 'patches')} could not be judged: {ended.why.message}",
            hint=ended.why.hint or "the same command asks about these again",
        )


class _JudgeTicker(terminal.WorkTicker):
    """Progress of a judge; a `judge_run.Observer`."""

    def judged(self, judgement: Judgement) -> None:
        line = Text(f"{judgement.verdict.value:<10} {judgement.model_name_or_path}  {judgement.instance_id}")
        self._ticker.step(line)
