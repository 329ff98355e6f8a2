"""The packs of a server: opened once, and shared by many threads."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from wikigr.errors import PackError, UsageError
from wikigr.llm import api_of, available
from wikigr.llm.budget import Budget
from wikigr.llm.options import SynthesisOptions
from wikigr.pack.joined import open_packs
from wikigr.pack.locate import list_pack
from wikigr.pack.manifest import file_path
from wikigr.pack.open import Corpus
from wikigr.pipeline.connect import budget_of, connect
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile, profile_names
from wikigr.pipeline.profile_files import load_profile
from wikigr.reader.passage import ReaderOptions


class Session:
    """Open packs, as one, for one thread at a time, and their pipelines by profile."""

    def __init__(self, pack: Corpus, make_pipeline: Callable[[Corpus, str], Pipeline]) -> None:
        self.pack = pack
        self._make_pipeline = make_pipeline
        self._pipelines: dict[str, Pipeline] = {}

    def pipeline(self, profile: str) -> Pipeline:
        """Return the pipeline of ``profile``; raises ``UsageError`` for an unknown one."""
        if profile not in self._pipelines:
            self._pipelines[profile] = self._make_pipeline(self.pack, profile)
        return self._pipelines[profile]


class ServedPacks:
    """The packs that a server answers from, as they were when it started.

    Requests name them by ``names``, which are looked up here and nowhere else: no name from a request reaches the file
    system. Profiles are those that had a name when the server started.
    """

    def __init__(self, locations: Sequence[str], *, profile: str = "enhanced", offline: bool = False) -> None:
        """Open the packs at ``locations``: folders, ``.db`` files or names.

        ``profile`` is the one of requests that name none; it may be a YAML file. ``offline`` calls no model and
        downloads nothing. Raises ``PackError`` and ``UsageError``.
        """
        if not locations:
            raise UsageError("No pack was given.")
        self.profile = profile
        self.offline = offline
        self.profiles = tuple(dict.fromkeys([profile, *profile_names()]))
        self._loaded: dict[str, Profile] = {profile: load_profile(profile)}
        self._budgets: dict[str, Budget] = {}
        opened = open_packs(locations, purpose="queries", preload=True)
        self._pack = opened.pack
        # Those that are the same as another one count once.
        self.repeated = opened.repeated
        self._members = {member.label: member for member in self._pack.members}
        self.listed = tuple(
            (list_pack(member.layout.root, given_as=name), member.manifest) for name, member in self._members.items()
        )
        self._files = {
            path: path.stat()
            for member in self._pack.members
            for path in (file_path(member.layout, name) for name in member.manifest.files)
        }
        self._lock = threading.Lock()
        self._idle: defaultdict[str | None, list[Session]] = defaultdict(list)
        self._used = 0
        if self._loaded[profile][ReaderOptions].enabled:
            self._pack.start_reader()
        # Threads share these, so they are loaded before the first one needs them.
        self._shared = [self._pack.encoder, *(pack.graph_index for pack in (*self._pack.members, self._pack))]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the packs, by which requests choose one."""
        return tuple(self._members)

    @contextmanager
    def session(self, name: str | None = None) -> Iterator[Session]:
        """Yield a session with the pack ``name``, or with all of them as one; a thread has it for itself meanwhile.

        Raises ``UsageError`` for another name, and ``PackError`` if a file has changed in its place: what is read from
        it may be wrong, or end the process if it was cut, because it is mapped to memory.
        """
        if name is not None and name not in self._members:
            raise UsageError(f"This server has no pack {name[:80]!r}.", hint=f"It has {', '.join(self.names)}.")
        for path, known in self._files.items():
            # Of a file that was replaced or removed, this process has the old one.
            with suppress(FileNotFoundError):
                now = path.stat()
                if now.st_ino == known.st_ino and (now.st_size, now.st_mtime_ns) != (known.st_size, known.st_mtime_ns):
                    hint = "Replace its folder by a whole one, and restart the server."
                    raise PackError(f"The pack's file {path.name} cannot be read: it changed in place.", hint=hint)
        with self._lock:
            if self._idle[name]:
                session = self._idle[name].pop()
            else:
                pack = self._pack if name is None else self._members[name]
                session = Session(pack.connect(), self._make_pipeline)
            self._used += 1
        try:
            yield session
        finally:
            with self._lock:
                self._idle[name].append(session)
                self._used -= 1

    def close(self) -> None:
        """Close the packs. While a question is under way, they stay open: it would crash."""
        with self._lock:
            if not self._used:
                for session in (session for idle in self._idle.values() for session in idle):
                    session.pack.close()
                self._idle.clear()
                self._pack.close()

    def _make_pipeline(self, pack: Corpus, name: str) -> Pipeline:
        profile = self.load(name)
        # All questions of a profile share a budget.
        budget = self._budgets.setdefault(profile.name, budget_of(profile))
        return Pipeline(
            profile, pack, model=connect(profile, offline=self.offline, budget=budget), offline=self.offline
        )

    def usable_profiles(self) -> list[Profile]:
        """Return the profiles that can be loaded, the default one first."""
        found = []
        for name in self.profiles:
            with suppress(UsageError):
                found.append(self.load(name))
        return found

    def writes(self, profile: Profile) -> bool:
        """Return whether a model writes the answers of ``profile``."""
        options = profile[SynthesisOptions]
        if options.provider == "none" or (self.offline and api_of(options.model) != "file"):
            return False
        return available(options.model)

    def load(self, name: str) -> Profile:
        """Return the profile ``name``; raises ``UsageError`` for one without a name that the server knows."""
        if name not in self.profiles:
            raise UsageError(f"There is no profile {name[:80]!r}.", hint=f"Choose from {', '.join(self.profiles)}.")
        if name not in self._loaded:
            self._loaded[name] = load_profile(name)
        return self._loaded[name]
