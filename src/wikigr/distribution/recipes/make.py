"""Make the pack of a recipe."""

from __future__ import annotations

import filecmp
import shutil
from pathlib import Path

from wikigr.distribution.recipes.fetch import Documents
from wikigr.distribution.recipes.recipe import Recipe
from wikigr.embeddings.loader import open_encoder
from wikigr.ingest.build import BuildOptions, BuildReport, build_pack
from wikigr.ingest.destination import check_destination
from wikigr.pack.manifest import QUESTIONS
from wikigr.progress import Progress, Silent
from wikigr.sources.detect import open_source


def make_pack(
    recipe: Recipe,
    documents: Documents,
    destination: Path,
    *,
    jobs: int,
    progress: Progress | None = None,
) -> BuildReport:
    """Build the pack of ``recipe`` from its ``documents`` in the folder ``destination``, with its gold questions.

    ``jobs`` is that of ``BuildOptions``. Raises like ``build_pack``, and ``UsageError`` for a destination with other
    files.
    """
    progress = progress or Silent()
    chosen, location = recipe.options, str(documents.location)
    check_destination(location, destination)
    source = open_source(location, chosen.source_format)
    options = BuildOptions(
        name=recipe.name,
        version=recipe.version,
        description=recipe.description,
        license=recipe.license,
        attribution=recipe.attribution,
        limit=chosen.limit,
        jobs=jobs,
        keep_going=chosen.keep_going,
        provenance={"recipe": recipe.name, "homepage": recipe.homepage, **documents.provenance},
    )
    encoder = open_encoder(chosen.embedding_model, purpose="bulk")
    report = build_pack(source, location, destination, encoder, options, progress=progress)
    questions, target = recipe.questions_file, destination / QUESTIONS
    if questions is not None and not target.exists():
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(questions, target)
    elif questions is not None and not filecmp.cmp(questions, target, shallow=False):
        # The user may have added their own.
        progress.note(f"{target} differs from the questions of the recipe and is kept.")
    return report
