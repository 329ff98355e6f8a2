"""Measure answers with a real language model in a file, and write the last section of ``docs/benchmarks.md``.

    python benchmarks/model_loop.py [--model FILE] [--demo 40] [--desk 20] [--rephrased 20] [--graph 20] [--minutes N]

Without --model, ``language_model.py`` downloads one. Every question is asked under each profile, with the answer that
was found without the model beside it. What was asked is kept in benchmarks/.data/model_loop.jsonl, so that the same
command goes on after an interruption; --fresh asks everything again, and --render only renders.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from language_model import model_file
from page import MODEL_HEADING, describe_machine, number, rows

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from eval.real.packs import SOURCES, build  # noqa: E402
from eval.real.questions import BenchQuestion, load_questions  # noqa: E402
from eval.real.scores import judge  # noqa: E402
from wikigr.answer.answer import Answer  # noqa: E402
from wikigr.errors import WikigrError  # noqa: E402
from wikigr.evaluation.metrics.accuracy import accuracy  # noqa: E402
from wikigr.evaluation.questions import GoldQuestion  # noqa: E402
from wikigr.evaluation.questions import load_questions as load_gold  # noqa: E402
from wikigr.evaluation.statistics.intervals import wilson_estimate  # noqa: E402
from wikigr.graph_search.explore.options import MultiStrategyOptions  # noqa: E402
from wikigr.llm.model_client import ModelClient  # noqa: E402
from wikigr.llm.options import SynthesisOptions  # noqa: E402
from wikigr.llm.response_cache import ResponseCache  # noqa: E402
from wikigr.pack.open import Pack  # noqa: E402
from wikigr.pipeline.connect import connect, with_model  # noqa: E402
from wikigr.pipeline.pipeline import Pipeline  # noqa: E402
from wikigr.pipeline.profile import Profile  # noqa: E402
from wikigr.pipeline.profile_files import load_profile  # noqa: E402
from wikigr.retrieval.trace import Trace  # noqa: E402
from wikigr.settings import cache_folder  # noqa: E402

RECORDS = Path(__file__).parent / ".data" / "model_loop.jsonl"
PAGE = ROOT / "docs" / "benchmarks.md"
DEMO = ROOT / "packs" / "physics"
Record = dict[str, Any]
Question = GoldQuestion | BenchQuestion
TASKS = {
    "demo": ("enhanced", "baseline"),
    "desk": ("enhanced", "baseline"),
    "rephrased": ("recall",),
    "graph": ("multi-strategy",),
}


def spread(questions: Sequence[Any], count: int) -> list[Any]:
    """Return ``count`` of ``questions`` at equal distances."""
    return [questions[i * len(questions) // count] for i in range(min(count, len(questions)))]


def is_right(question: Question, answer: Answer) -> bool:
    if isinstance(question, GoldQuestion):
        return accuracy(answer.text, question.answers) == 1.0 if question.answerable else answer.abstained
    outcome = judge(question, answer)
    return outcome.declined if question.gold is None else outcome.right


def ask(pipeline: Pipeline, question: Question) -> Record:
    """Return what the answer is worth, with the model and without it."""
    offline: list[tuple[float, Answer]] = []
    begun = time.monotonic()
    answer = pipeline.answer(
        question.question, on_offline=lambda found: offline.append((time.monotonic() - begun, found))
    )
    record: Record = {
        "right": is_right(question, answer),
        "answered": not answer.abstained,
        "by_model": answer.query_type == "synthesis",
        "asked": bool(offline),
        "claims": answer.claims,
        "unverified": len(answer.unverified),
        "level": answer.level,
        "text": answer.text,
        "rejected": answer.rejected.text if answer.rejected is not None else "",
        "seconds": time.monotonic() - begun,
        "prompt_tokens": answer.usage.input_tokens + answer.usage.cache_read_tokens,
        "reused_tokens": answer.usage.cache_read_tokens,
        "output_tokens": answer.usage.output_tokens,
    }
    if offline:
        seconds, before = offline[0]
        record |= {"offline_seconds": seconds, "offline_right": is_right(question, before), "offline": before.text}
    else:
        record["offline_right"] = record["right"]
    for stage in answer.trace.stages:
        record |= {key: value for key, value in stage.notes.items() if key in ("first_token_s", "tokens_per_s")}
        if stage.notes.get("feedback"):
            record["rejected_queries"] = record.get("rejected_queries", 0) + len(stage.notes["feedback"])
    record["queries"] = answer.cypher_query
    return record


def search(pipeline: Pipeline, without: Pipeline, question: GoldQuestion) -> Record:
    """Return the recall of the gold articles with rephrasings and without them."""
    record: Record = {}
    gold = {each.title for each in question.gold}
    for name, asked in (("recall", pipeline), ("recall_without", without)):
        trace = Trace()
        begun = time.monotonic()
        found = {item.section.title for item in asked.search(question.question, top_k=5, trace=trace)}
        record |= {name: len(gold & found) / len(gold), f"seconds_{name}": time.monotonic() - begun}
        wordings = [stage.notes["wordings"] for stage in trace.stages if "wordings" in stage.notes]
        record |= {"wordings": wordings} if wordings else {}
    return record


def profile_for(name: str, model: str) -> Profile:
    # A busy machine makes slow progress, which is not what is measured.
    profile = with_model(load_profile(name), model).override(SynthesisOptions, timeout=1800.0)
    return profile.override(MultiStrategyOptions, max_seconds=3600.0)


def measure(options: argparse.Namespace, model: str, records: Records) -> None:
    """Ask everything that ``records`` do not have, until their time is up."""
    cache = cache_folder() / "bench-answers"
    cache.mkdir(parents=True, exist_ok=True)
    sources = {source.name: source for source in SOURCES}
    gold = load_gold(DEMO / "eval" / "questions.jsonl")
    answerable = [question for question in gold if question.answerable]
    plans: dict[str, tuple[Path, Sequence[Any]]] = {
        "demo": (DEMO, spread(gold, options.demo)),
        "desk": (cache / "handbook", spread(load_questions(sources["handbook"]), options.desk)),
        "rephrased": (DEMO, spread(answerable, options.rephrased)),
        "graph": (cache / "bridges", spread(load_questions(sources["bridges"]), options.graph)),
    }
    clients: dict[str, ModelClient] = {}
    packs: dict[Path, Pack] = {}
    try:
        for turn in range(max(len(questions) for _, questions in plans.values())):
            for task, (folder, questions) in plans.items():
                if turn >= len(questions) or all(records.has(task, name, questions[turn].id) for name in TASKS[task]):
                    continue
                if folder not in packs:
                    if folder != DEMO:
                        build(sources[folder.name], cache)
                    packs[folder] = Pack(str(folder), purpose="queries")
                for name in TASKS[task]:
                    if records.has(task, name, questions[turn].id):
                        continue
                    profile = profile_for(name, model)
                    if name not in clients:
                        found = connect(profile, offline=True, cache=ResponseCache(RECORDS.parent / "replies"))
                        assert found is not None
                        clients[name] = found
                    pipeline = Pipeline(profile, packs[folder], model=clients[name], offline=True)
                    try:
                        if task == "rephrased":
                            without = Pipeline(load_profile("enhanced"), packs[folder], offline=True)
                            result = search(pipeline, without, questions[turn])
                        else:
                            result = ask(pipeline, questions[turn])
                    except WikigrError as error:
                        result = {"error": error.message}
                    if not records.store(task, name, questions[turn].id, result):
                        return
    finally:
        for client in clients.values():
            client.close()
        for pack in packs.values():
            pack.close()


class Records:
    """What was asked before and now, in a file."""

    def __init__(self, path: Path, minutes: float | None) -> None:
        self._path = path
        self._end = time.monotonic() + 60 * minutes if minutes else float("inf")
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        self.all: list[Record] = [json.loads(line) for line in lines]

    def has(self, task: str, profile: str, question: str) -> bool:
        return any((each["task"], each["profile"], each["id"]) == (task, profile, question) for each in self.all)

    def store(self, task: str, profile: str, question: str, result: Record) -> bool:
        """Store a record, and return whether there is time left."""
        self.all.append({"task": task, "profile": profile, "id": question, **result})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(self.all[-1], ensure_ascii=False) + "\n")
        shown = {key: value for key, value in result.items() if key not in ("text", "offline", "rejected", "wordings")}
        print(task, profile, question, json.dumps(shown), flush=True)
        return time.monotonic() < self._end


def share(values: Sequence[bool]) -> str:
    """Return a share with its 95% interval (Wilson)."""
    if not values:
        return ""
    found = wilson_estimate(sum(values) / len(values), len(values))
    return f"{100 * found.value:.0f}% ({100 * found.low:.0f} to {100 * found.high:.0f})"


def median(records: Sequence[Record], key: str) -> str:
    values = [record[key] for record in records if record.get(key)]
    return number(statistics.median(values)) if values else ""


def render_answers(title: str, records: Sequence[Record]) -> Iterator[str]:
    """Yield the table of the answers to one set of questions."""
    profiles = list(dict.fromkeys(record["profile"] for record in records))
    columns = {name: [record for record in records if record["profile"] == name] for name in profiles}
    written = {name: [each for each in own if each["asked"]] for name, own in columns.items()}
    claims = {name: sum(each["claims"] for each in own) for name, own in written.items()}
    unverified = {name: sum(each["unverified"] for each in own) for name, own in written.items()}

    def row(label: str, value: Callable[[str], str]) -> list[str]:
        return [label, *(value(name) for name in profiles)]

    lines = [
        row("questions", lambda n: str(len(columns[n]))),
        row("right with the model", lambda n: share([r["right"] for r in columns[n]])),
        row("right without it", lambda n: share([r["offline_right"] for r in columns[n]])),
        row("right without it, wrong with it", lambda n: str(sum(r["offline_right"] > r["right"] for r in columns[n]))),
        row("wrong without it, right with it", lambda n: str(sum(r["offline_right"] < r["right"] for r in columns[n]))),
        row("the model was asked", lambda n: str(len(written[n]))),
        row("… and wrote the answer", lambda n: str(sum(r["by_model"] for r in written[n]))),
        row("claims of the model, verified", lambda n: f"{claims[n] - unverified[n]} of {claims[n]}"),
        row(
            "unverified claims shown in an answer",
            lambda n: str(sum(r["unverified"] * r["by_model"] for r in written[n])),
        ),
        row("abstentions", lambda n: str(sum(not r["answered"] for r in columns[n]))),
        row("tokens of the prompt, median", lambda n: median(written[n], "prompt_tokens")),
        row("… not read again", lambda n: median(written[n], "reused_tokens")),
        row("tokens written, median", lambda n: median(written[n], "output_tokens")),
        row("answer without the model, s", lambda n: median(written[n], "offline_seconds")),
        row("first token, s", lambda n: median(written[n], "first_token_s")),
        row("tokens a second", lambda n: median(written[n], "tokens_per_s")),
        row("answer, s", lambda n: median(written[n], "seconds")),
    ]
    yield f"### {title}"
    yield rows(["", *profiles], [line for line in lines if any(line[1:])])


def render(records: Sequence[Record], machine: Mapping[str, str], model: str) -> str:
    """Return the section of the page."""
    tasks = {task: [each for each in records if each["task"] == task and "error" not in each] for task in TASKS}
    failed = sum("error" in each for each in records)
    text = (
        f"`make bench-model` on {machine['processor']}, {machine['cores']} cores, commit {machine['commit']}, load "
        f"{machine['load at the start']} at the end, with the model {model}. Shares have 95% intervals (Wilson), and "
        "times are medians, which other programs stretch if the load is above the number of cores. A question that is "
        "not covered is right if it is declined. Questions are spread evenly "
        "over their file, and asked in turn, so that a run that was stopped has some of all kinds."
        + (f" {failed} questions failed." if failed else "")
    )
    parts = [MODEL_HEADING, textwrap.fill(text, 120)]
    titles = {
        "demo": "Gold questions of the demo pack",
        "desk": "Questions about the files of a garden",
        "graph": "Questions on a graph",
    }
    for task, title in titles.items():
        if tasks[task]:
            parts += render_answers(title, tasks[task])
    if graph := tasks["graph"]:
        parts.append(
            f"The model planned {len(graph)} searches; {sum(bool(r['queries']) for r in graph)} ran a Cypher query, "
            f"and {sum(r.get('rejected_queries', 0) for r in graph)} queries were sent back to it with an error."
        )
    if rephrased := tasks["rephrased"]:
        means = [number(100 * statistics.mean(r[key] for r in rephrased)) for key in ("recall", "recall_without")]
        parts.append("### Rephrasing")
        parts.append(
            f"{len(rephrased)} questions of the demo pack: {means[0]}% of the gold articles among the first five with "
            f"the rephrasings of the model, {means[1]}% without; {median(rephrased, 'seconds_recall')} s a question."
        )
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a model file; by default the one of language_model.py")
    parser.add_argument("--demo", type=int, default=40, help="gold questions of the demo pack")
    parser.add_argument("--desk", type=int, default=20, help="questions about the files of a garden")
    parser.add_argument("--rephrased", type=int, default=20, help="searches with rephrasings")
    parser.add_argument("--graph", type=int, default=20, help="questions on a graph, which the model searches")
    parser.add_argument("--minutes", type=float, help="stop asking after so many minutes")
    parser.add_argument("--fresh", action="store_true", help="ask everything again")
    parser.add_argument("--render", action="store_true", help="only render what was asked")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page whose section is replaced")
    options = parser.parse_args()
    RECORDS.parent.mkdir(parents=True, exist_ok=True)
    if options.fresh:
        RECORDS.unlink(missing_ok=True)
    records = Records(RECORDS, options.minutes)
    machine = describe_machine()
    model = options.model or model_file()
    if not options.render:
        measure(options, str(model), records)
    page = options.output.read_text(encoding="utf-8") if options.output.is_file() else ""
    before = page.partition(f"\n{MODEL_HEADING}\n")[0]
    options.output.write_text(before.rstrip() + "\n\n" + render(records.all, machine, model.name), encoding="utf-8")


if __name__ == "__main__":
    main()
