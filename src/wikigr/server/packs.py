"""Packs that are kept open for many threads, and reopened when they are replaced on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from wikigr.embeddings.embedder import EncoderIdentity
from wikigr.errors import PackError, UsageError
from wikigr.llm.budget import Budget
from wikigr.pack import layout as parts
from wikigr.pack.joined import open_packs
from wikigr.pack.locate import find_pack, packs_named
from wikigr.pack.open import Corpus
from wikigr.pipeline.connect import budget_of, connect
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile, profile_names
from wikigr.pipeline.profile_files import load_profile
from wikigr.reader.passage import ReaderOptions

# What tells that a pack was replaced or damaged: its folder, and the inode, time of change and size of each file.
_State = tuple[str, tuple[tuple[int, int, int], ...]]


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


class _Opened:
    """Packs as they were at one moment, with a session for each thread that uses them."""

    def __init__(self, pack: Corpus, states: Sequence[_State]) -> None:
        self.pack = pack
        self.states = tuple(states)
        self.idle: list[Session] = []
        self.used = 0
        # Whether the packs were replaced, so that they are closed after the last question under way.
        self.replaced = False


class ServedPacks:
    """The packs that a server answers from.

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
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._opened: dict[tuple[str, ...], _Opened] = {}
        # An open pack of each encoder, whose models all others use.
        self._models: dict[EncoderIdentity, Corpus] = {}
        self._locations: dict[str, str] = {}
        states = [_state_of(location) for location in locations]
        opened = open_packs([_absolute(location) for location in locations], purpose="queries", preload=True)
        # Those that are the same as another one count once.
        self.repeated = opened.repeated
        folders = {Path(state[0]).resolve(): number for number, state in reversed(list(enumerate(states)))}
        numbers = [folders[member.layout.root.resolve()] for member in opened.pack.members]
        for member, number in zip(opened.pack.members, numbers, strict=True):
            self._locations[member.label] = _absolute(locations[number])
        self._keep(self.names, opened.pack, [states[number] for number in numbers])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the packs, by which requests choose one."""
        return tuple(self._locations)

    def location(self, name: str) -> str:
        """Return where the pack ``name`` is."""
        return self._locations[name]

    def missing(self) -> list[str]:
        """Return the names of the packs that are not there any more."""
        found = []
        for name, location in self._locations.items():
            try:
                _state_of(location)
            except PackError:
                found.append(name)
        return found

    @contextmanager
    def session(self, name: str | None = None) -> Iterator[Session]:
        """Yield a session with the pack ``name``, or with all of them as one.

        A pack that was replaced on disk is opened again; questions under way finish with the old one. Raises
        ``UsageError`` for an unknown name and ``PackError`` for a pack that vanished or is damaged.
        """
        opened, session = self._borrow(self._key(name))
        try:
            yield session
        finally:
            with self._lock:
                opened.idle.append(session)
                opened.used -= 1
            self._close_unused(opened)

    def close(self) -> None:
        """Close the packs; those in use are closed after the last question under way."""
        with self._lock:
            every = list(self._opened.values())
            self._opened.clear()
            for opened in every:
                opened.replaced = True
        for opened in every:
            self._close_unused(opened)

    def _key(self, name: str | None) -> tuple[str, ...]:
        if name is None:
            return self.names
        if name not in self._locations:
            raise UsageError(f"This server has no pack {name[:80]!r}.", hint=f"It has {', '.join(self.names)}.")
        return (name,)

    def _borrow(self, key: tuple[str, ...]) -> tuple[_Opened, Session]:
        try:
            states = [_state_of(self._locations[name]) for name in key]
            with self._lock:
                opened = self._opened.get(key)
            if opened is None or opened.states != tuple(states):
                opened = self._reopen(key, opened)
        except PackError as error:
            # Its message has a path of this machine, and advises commands that clients cannot run.
            names = ", ".join(map(repr, self.missing() or key))
            raise PackError(f"There is no pack {names} any more, or it cannot be read.") from error
        with self._lock:
            if opened.replaced:
                # It was replaced since; its last user may have closed it.
                opened = self._opened.get(key)
            if opened is None:
                raise PackError("The server is shutting down.")
            opened.used += 1
            if opened.idle:
                return opened, opened.idle.pop()
            try:
                return opened, Session(opened.pack.connect(), self._make_pipeline)
            except BaseException:
                opened.used -= 1
                raise

    def _reopen(self, key: tuple[str, ...], old: _Opened | None) -> _Opened:
        """Open the packs again; while another thread does that, return the ``old`` ones, if there are any."""
        if not self._opening.acquire(blocking=old is None):
            assert old is not None
            return old
        try:
            # Read the state first: a pack that is replaced meanwhile is opened again by the next question.
            states = [_state_of(self._locations[name]) for name in key]
            with self._lock:
                current = self._opened.get(key)
            if current is not None and current.states == tuple(states):
                return current
            pack = open_packs(
                [self._locations[name] for name in key], purpose="queries", preload=True, models_from=self._models
            ).pack
            return self._keep(key, pack, states)
        finally:
            self._opening.release()

    def _keep(self, key: tuple[str, ...], pack: Corpus, states: Sequence[_State]) -> _Opened:
        """Make ``pack`` the open pack of ``key``, with everything read that threads share."""
        for member in pack.members:
            self._models.setdefault(member.manifest.encoder, member)
        if self._loaded[self.profile][ReaderOptions].enabled:
            pack.start_reader()
        # Later, the files may belong to another version of the pack.
        assert pack.encoder.identity.dimension > 0
        assert len(pack.graph_index) >= 0
        opened = _Opened(pack, states)
        with self._lock:
            old = self._opened.get(key)
            self._opened[key] = opened
            if old is not None:
                old.replaced = True
        if old is not None:
            self._close_unused(old)
        return opened

    def _close_unused(self, opened: _Opened) -> None:
        with self._lock:
            if not opened.replaced or opened.used:
                return
            sessions, opened.idle = opened.idle, []
            opened.used = -1
        for session in sessions:
            session.pack.close()
        opened.pack.close()

    def _make_pipeline(self, pack: Corpus, name: str) -> Pipeline:
        profile = self.load(name)
        model = connect(profile, offline=self.offline, budget=self._budget(profile))
        return Pipeline(profile, pack, model=model, offline=self.offline)

    def load(self, name: str) -> Profile:
        """Return the profile ``name``; raises ``UsageError`` for one without a name that the server knows."""
        if name not in self.profiles:
            raise UsageError(f"There is no profile {name[:80]!r}.", hint=f"Choose from {', '.join(self.profiles)}.")
        if name not in self._loaded:
            self._loaded[name] = load_profile(name)
        return self._loaded[name]

    def _budget(self, profile: Profile) -> Budget:
        """Return the budget of a profile, which all of its questions share."""
        return self._budgets.setdefault(profile.name, budget_of(profile))


def _absolute(location: str) -> str:
    """Return the path of a pack, which may be given by its name, independent of the working directory."""
    named = packs_named(location)
    return str((named[0].path if named else Path(location)).absolute())


def _state_of(location: str) -> _State:
    """Return the state of the pack at ``location``; raises ``PackError`` if there is none."""
    layout = find_pack(location)
    try:
        return str(layout.root), tuple(_states_of_files(layout))
    except FileNotFoundError:
        # It was moved into place between the two calls.
        try:
            return str(layout.root), tuple(_states_of_files(layout))
        except OSError as error:
            raise PackError(f"The pack {location} cannot be read: {error.strerror}.") from error


def _states_of_files(layout: parts.Layout) -> Iterator[tuple[int, int, int]]:
    for part in filter(Path.exists, map(layout.part, parts.PARTS)):
        # Opening the lexical index writes its lock files, whose names begin with a dot.
        for path in sorted(part.glob("[!.]*")) if part.is_dir() else [part]:
            found = path.stat()
            yield found.st_ino, found.st_mtime_ns, found.st_size
