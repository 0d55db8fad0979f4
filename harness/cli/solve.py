"""The commands that ask models: `solve`. A command parses, calls one function, and shows what it returned."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table
from rich.text import Text

from harness.cli import model_options, options
from harness.cli.shell import complete
from harness.cli.shell.command import App, option
from harness.cli.shell.help import ADVANCED
from harness.cli.shell.output import CHOICE
from harness.cli.views import estimate, terminal
from harness.cli.views.terminal import Ticker
from harness.config.settings import load_settings
from harness.core.errors import BugError, InfrastructureError, InputError
from harness.core.wording import counted, one_of
from harness.dataset.folder import Dataset
from harness.dataset.splits import known_split
from harness.solve import plan as plans
from harness.solve import prompts
from harness.solve.agents.choice import AgentName, Choice, command_settings, make
from harness.solve.call import Call, look_ahead, run
from harness.solve.campaign import Report, UnitOutcome
from harness.solve.estimate import Estimate
from harness.solve.models.endpoint import Api, Endpoint
from harness.solve.models.meter import Limits, Spending
from harness.solve.plan import Unit

app = App()

_AGENT = f"{ADVANCED}: agent"
_ASKING = f"{ADVANCED}: requests"


@app.add(
    examples={
        "goldseam solve bench -m gpt-4.1-2025-04-14 -o predictions.jsonl --max-cost 5": "Ask a model, spending 5 dollars at most",
        "goldseam solve bench -m qwen3 --base-url http://localhost:8000/v1 -o predictions.jsonl": "Ask a model that you serve yourself",
        "goldseam solve bench -m gpt-4.1-2025-04-14 -o predictions.jsonl --dry-run": "Estimate the cost without asking anything",
    }
)
def solve(
    dataset: options.DatasetSource,
    model: Annotated[str, option("-m, --model MODEL", "Model, as its endpoint names it; preferably a dated snapshot.")],
    out: Annotated[
        Path,
        option(
            "-o, --output FILE",
            "Predictions file (JSONL) to write, or `-` for standard output; an unfinished file is continued.",
        ),
    ],
    base_url: model_options.BaseUrlOption = "https://api.openai.com/v1",
    api_key_env: Annotated[
        str, option("--api-key-env VAR", "Environment variable that holds the API key; local endpoints need none.")
    ] = "OPENAI_API_KEY",
    agent: Annotated[AgentName, option("--agent", "How the model works on a task.")] = AgentName.SINGLE,
    samples: Annotated[int, option("-n, --samples N", "Samples per task and temperature.", min=1)] = 1,
    ids: options.IdsOption = None,
    max_cost: model_options.MaxCostOption = None,
    jobs: Annotated[int, option("-j, --jobs N", "Samples to make in parallel.", min=1, env="GOLDSEAM_SOLVE_JOBS")] = 4,
    dry_run: Annotated[bool, option("--dry-run", "Send no request; estimate requests, tokens and cost.")] = False,
    json_: options.JsonFlag = False,
    name: Annotated[
        str | None,
        option("--model-name NAME", "model_name_or_path of the predictions.", ADVANCED, shown="the model's name"),
    ] = None,
    split: Annotated[
        str | None,
        option(
            "--split SPLIT",
            "Only tasks of this split: holdout, dev, retired or all.",
            ADVANCED,
            shown="holdout, or the tasks of -i",
            autocompletion=complete.splits,
        ),
    ] = None,
    api: model_options.ApiOption = "auto",
    identity: options.IdentityOption = None,
    runtime: options.RuntimeOption = None,
    agent_command: Annotated[
        str | None,
        option(
            "--agent-command COMMAND",
            "Program that `--agent command` runs, such as 'my-agent {statement_file}'.",
            _AGENT,
        ),
    ] = None,
    where: Annotated[
        str | None,
        option(
            "--where container|host",
            "Where that program runs: locked in a container, or unconfined on this host.",
            _AGENT,
            shown="container",
        ),
    ] = None,
    agent_mount: Annotated[
        Path | None, option("--agent-mount FOLDER", "Folder with the program, mounted read-only at /opt/agent.", _AGENT)
    ] = None,
    agent_allow: Annotated[
        list[str] | None,
        option("--agent-allow HOST:PORT", "Host that the program may reach besides the model (repeatable).", _AGENT),
    ] = None,
    agent_minutes: Annotated[
        float | None,
        option("--agent-minutes MINUTES", "Time that the program may spend on one task.", _AGENT, min=0, shown="30"),
    ] = None,
    max_turns: Annotated[
        int | None,
        option(
            "--max-turns N",
            "Turns per sample of the agents loop and mini.",
            _AGENT,
            min=1,
            shown="60 for loop, mini's own for mini",
        ),
    ] = None,
    temperatures: Annotated[
        list[float] | None,
        option(
            "--temperature T",
            "Sampling temperature; repeat it for a sweep.",
            _ASKING,
            min=0,
            shown="the endpoint's own",
        ),
    ] = None,
    top_p: Annotated[
        float | None,
        option("--top-p P", "Nucleus sampling threshold.", _ASKING, min=0, max=1, shown="the endpoint's own"),
    ] = None,
    seed: Annotated[
        int | None, option("--seed N", "Seed of the first sample; each further sample adds one.", _ASKING)
    ] = None,
    max_output_tokens: Annotated[
        int | None,
        option("--max-output-tokens N", "Length limit of one answer.", _ASKING, min=1, shown="the endpoint's own"),
    ] = None,
    prompt: Annotated[
        str | None, option("--prompt NAME|FILE", "A shipped prompt or your own.", _ASKING, shown="the agent's own")
    ] = None,
    file_tokens: Annotated[
        int | None,
        option(
            "--file-tokens N", "How much of the repository the prompt shows.", _ASKING, min=100, shown="the agent's own"
        ),
    ] = None,
    oracle_files: Annotated[
        bool, option("--oracle-files", "Show the files that the fix changes, for calibration.", _ASKING)
    ] = False,
    max_tokens: model_options.MaxTokensOption = None,
    max_minutes: model_options.MaxMinutesOption = None,
    max_task_cost: Annotated[
        float | None, model_options.limit_option("--max-task-cost USD", "Dollars per sample.", model_options.LIMITS)
    ] = None,
    max_task_tokens: Annotated[
        int | None, model_options.limit_option("--max-task-tokens N", "Tokens per sample.", model_options.LIMITS)
    ] = None,
    max_task_minutes: Annotated[
        float | None, model_options.limit_option("--max-task-minutes MINUTES", "Time per sample.", model_options.LIMITS)
    ] = None,
    prices: model_options.PricesOption = None,
    assume_price: model_options.AssumePriceOption = None,
    no_cache: model_options.NoResponseCacheFlag = False,
    cache_max_mb: model_options.CacheMaxOption = None,
) -> int:
    """Let a model solve a dataset's tasks; writes predictions, and how each was made, for `goldseam evaluate`."""
    to_stdout = options.one_result_on_stdout(out, other=json_ and not dry_run)
    one_of("--api", api, Api)
    if api == Api.RESPONSES and seed is not None:
        raise InputError("the Responses API takes no seed", hint="leave --seed out, or give --api chat")
    settings = load_settings()
    table = model_options.prices_of(prices, assume_price, settings)
    opened = options.open_with(dataset, identity)
    known_split(opened, split)
    chosen_prompt = prompts.load(prompt) if prompt else None
    program = command_settings(agent_command, where=where, mount=agent_mount, allow=agent_allow, minutes=agent_minutes)
    agent_made = make(
        Choice(name=agent, prompt=chosen_prompt, file_tokens=file_tokens, max_turns=max_turns, command=program)
    )
    endpoint = Endpoint(base_url=base_url, api_key_env=api_key_env, api=Api(api))
    prompt_used = getattr(agent_made, "prompt", None)
    plan = plans.Plan(
        model=model,
        name=name or model,
        endpoint=endpoint.host,
        base_url=base_url,
        samples=samples,
        temperatures=tuple(dict.fromkeys(temperatures)) if temperatures else (None,),
        top_p=top_p,
        max_output_tokens=max_output_tokens,
        seed=seed,
        prompt=prompt_used.name if prompt_used else None,
        prompt_sha256=prompt_used.digest if prompt_used else None,
        oracle=oracle_files,
    )
    call = Call(
        dataset=opened,
        instances=plans.chosen(opened, ids=ids or (), split=plans.of_split(split, ids or ())),
        plan=plan,
        agent=agent_made,
        endpoint=endpoint,
        limits=Limits(
            cost=max_cost,
            tokens=max_tokens,
            minutes=max_minutes,
            task_cost=max_task_cost,
            task_tokens=max_task_tokens,
            task_minutes=max_task_minutes,
        ),
        prices=table,
        cache=None if no_cache else settings.images.cache_dir / "answers",
        cache_max_mb=cache_max_mb or settings.solve.cache_max_mb,
        jobs=jobs,
        runtime=runtime,
    )
    with terminal.Ticker(terminal.messages(), "solve", quiet=json_) as ticker:
        watcher = _Watcher(ticker)
        if dry_run:
            return _show_estimate(look_ahead(call, out, environment=os.environ, watcher=watcher), model, json_=json_)
        report = run(call, out, environment=os.environ, watcher=watcher)
    return _show(report, opened, None if to_stdout else out, json_=json_)


def _show_estimate(estimated: Estimate, model: str, *, json_: bool) -> int:
    if json_:
        options.print_json(estimated.as_json())
        return 0
    console = terminal.results()
    console.print(estimate.render(estimated, model=model))
    console.print(Text(f"based on: {estimated.basis}", style="bright_black"))
    return 0


class _Watcher:
    """Progress on the terminal; a `call.Watcher`."""

    def __init__(self, ticker: Ticker) -> None:
        self._ticker = ticker

    def warn(self, text: str) -> None:
        self._ticker.say(Text("note: ", style="yellow") + Text(text))

    def note(self, text: str) -> None:
        self._ticker.note(text)

    def begin(self, *, planned: int, earlier: int) -> None:
        self._ticker.expect(planned, done=earlier)
        if earlier:
            self._ticker.say(Text(f"{earlier} of {planned} samples are there already", style="bright_black"))

    def started(self, unit: Unit) -> None:
        self._ticker.running(_key(unit), f"{unit.instance.instance_id} #{unit.number}")

    def done(self, done: UnitOutcome, *, spent: Spending) -> None:
        line = _line(done)
        if line is not None:
            self._ticker.step(line)
        money = f" ${spent.cost:.2f}" if spent.cost else ""
        self._ticker.spent(f"{spent.tokens:,} tokens{money}")
        self._ticker.ended(_key(done.unit))


def _key(unit: Unit) -> str:
    return f"{unit.instance.instance_id} {unit.number}"


def _line(outcome: UnitOutcome) -> Text | None:
    """What came of one sample, for a person; None where it was ended by a limit of the call."""
    unit = outcome.unit
    heat = "" if unit.temperature is None else f" t={unit.temperature:g}"
    head = Text(f"{unit.instance.instance_id} #{unit.number}{heat} ")
    tail = Text(f" {outcome.latency:.1f} s", style="bright_black")
    if outcome.trouble is not None:
        return head + Text("not asked ", style="magenta") + Text(outcome.trouble.message)
    attempt = outcome.attempt
    if attempt is None or (attempt.stopped and not attempt.stopped.startswith("task_")):
        return None
    if attempt.patch is not None:
        forgiven = f" ({', '.join(attempt.tolerance)})" if attempt.tolerance else ""
        return head + Text("patch", style="green") + Text(forgiven, style="bright_black") + tail
    return head + Text(f"no patch: {attempt.no_patch}", style="yellow") + Text(f" {attempt.detail[:100]}") + tail


def _show(report: Report, dataset: Dataset, out: Path | None, *, json_: bool) -> int:
    """Show what a call came to; exit code 4 where something is left that infrastructure failed at, 70 for a bug.

    `out` is None where the predictions went to standard output.
    """
    if out is None:
        if not CHOICE.quiet:
            terminal.messages().print(_summary(report))
    elif json_:
        options.print_json(_as_json(report, out))
    else:
        console = terminal.results()
        console.print(_summary(report))
        console.print(Text(f"predictions: {out}", style="bright_black"))
        if not report.left:
            terminal.next_step(f"goldseam evaluate {dataset.path} -p {out} -o RUN")
    if report.trouble is not None:
        kind = BugError if isinstance(report.trouble, BugError) else InfrastructureError
        raise kind(
            f"still to be made: {report.left} of {counted(report.planned, 'sample')}; {report.errors} failed, the last with: "
            f"{report.trouble.message}",
            hint=report.trouble.hint or "fix the cause and run the same command again: nothing is asked twice",
        )
    if report.stopped is not None:
        terminal.messages().print(
            Text(
                f"stopped by the limit on {report.stopped}: {report.left} of {report.planned} samples are still to be "
                "made; the same command with a higher limit continues"
            )
        )
    return 0


def _summary(report: Report) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("samples", f"{report.planned - report.left} of {report.planned}")
    table.add_row("made now", f"{report.made}, {report.patches} with a patch")
    for reason, count in report.no_patch.items():
        table.add_row("", Text(f"{count} {reason}", style="yellow"))
    if report.errors:
        table.add_row("failed", Text(str(report.errors), style="magenta"))
    if report.snapshots:
        table.add_row("answered by", ", ".join(report.snapshots))
    spent = report.spent
    table.add_row("tokens", f"{spent.input_tokens:,} read, {spent.output_tokens:,} written, over all calls")
    table.add_row("cost", f"${spent.cost:.4f}" if not spent.unpriced else "unknown: no price is known")
    if spent.estimated:
        text = f"of these, {counted(spent.estimated, 'answer')} counted high: the endpoint reported no tokens, or wrong ones"
        table.add_row("", Text(text, style="yellow"))
    if spent.broken:
        table.add_row("", Text(f"{counted(spent.broken, 'answer')} broke off; they may be on the bill", style="yellow"))
    return table


def _as_json(report: Report, out: Path) -> dict[str, Any]:
    return {
        "predictions": str(out),
        "planned": report.planned,
        "earlier": report.earlier,
        "made": report.made,
        "patches": report.patches,
        "no_patch": dict(report.no_patch),
        "errors": report.errors,
        "left": report.left,
        "stopped": report.stopped,
        "snapshots": list(report.snapshots),
        "spent": report.spent.as_json(),
    }
