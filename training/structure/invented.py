"""Invent things with facts, from schemas of many domains."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

_FIRST = (
    "Anna Boris Carla Dmitri Elena Farid Grace Hana Ivan Jolanta Kwame Lucía Mirko Nadia Olaf Priya Quentin Rosa Samir "
    "Tomoko Ulrike Viktor Wanda Ximena Yusuf Zoë Ada Bram Chidi Dalia Emil Freya Gustav Helena Idris Judit Kenji Leila"
).split()
_LAST = (
    "Abara Bergström Castellan Dvorak Eklund Ferreira Grünwald Halloran Ishikawa Jankowski Kovacs Lindgren Marchetti "
    "Nakamura Okafor Petrov Quiroga Rasmussen Sandoval Tanaka Ueda Varga Whitlock Yilmaz Zielinski Achterberg Bianchi "
    "Corrigan Delacroix Engström Fitzroy Galloway Hartmann Ivanova Jourdain Klein Laurent Mbeki Novak Oyelaran"
).split()
_PLACES = (
    "Lisbon Tampere Graz Valparaíso Nairobi Kyoto Bergen Toledo Aarhus Leeds Porto Turin Ghent Malmö Izmir Recife "
    "Perth "
    "Hobart Quito Dakar Lyon Utrecht Gdansk Brno Split Cork Dundee Tbilisi Hanoi Busan Cusco Windhoek Zagreb Vilnius "
    "Bari"
).split()
_COMPANY_WORDS = (
    "Northwind Halden Meridian Corvus Bluestone Arcadia Solvik Tessel Quantor Ostrava Pelikan Kestrel Marlow Vanta "
    "Orbis "
    "Juniper Falkor Helix Brightwater Cobalt Lumen Sextant Harrow Aldine Castor Nimbus Fenwick Polaris Tamarind Veldt"
).split()
_COMPANY_ENDS = (
    "Works",
    "Systems",
    "Labs",
    "& Sons",
    "Group",
    "Industries",
    "GmbH",
    "Ltd",
    "Press",
    "Motors",
    "Records",
    "",
)
_WATERS = "Adra Belsk Corin Dorne Elva Fenna Gorda Hule Isar Jura Kemi Lomar Mira Narva Orla Pinega".split()
_GOODS = (
    "bicycles,garden tools,office chairs,sensors,ceramic tiles,hearing aids,tractors,violins,wind turbines,board games,"
    "lamps,water pumps,sewing machines,tents,elevators,microscopes"
).split(",")
_COLORS = "black white red silver green blue orange gray purple yellow".split()
_SERVICES = "mail,DNS,the wiki,the build system,file sharing,monitoring,the time clock,the web shop,backups,VoIP".split(
    ","
)
_AWARDS = (
    "the Lindqvist Medal,the Golden Compass,the Hartwell Prize,the Order of Merit,the Silver Lyre,the Nordic Book "
    "Prize,"
    "the Carver Award,the City Medal"
).split(",")
_MONTHS = ("January February March April May June July August September October November December").split()
_THINGS = "Harbor Winter Glass Ember Silent Paper Copper Northern Hollow Amber Crooked Distant Velvet Iron".split()
_ENDS = "Light Garden Road Letters Orchard Tide Clock Mirror Season Bridge Lantern Archive Voyage Meadow".split()
_NOT_A_NOUN = re.compile(
    r"\b(?:by|in|at|on|for|to|into|up|open|released|published|opened|launched|born|runs|died|started|departed|starring|"
    r"introduced|founded|crosses|climbed)$"
)
_KINDS = {
    "company": "company",
    "expedition": "expedition",
    "ship": "ship",
    "river": "water",
    "mountain": "mountain",
    "bridge": "bridge",
    "device": "device",
    "server": "server",
    "museum": "museum",
    "person": "person",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a kind of things: its possible names, the type of its values and the questions that ask for "
    "them."""

    names: tuple[str, ...]
    value: str
    questions: tuple[str, ...]

    @property
    def nouns(self) -> tuple[str, ...]:
        """Return the names that fit "the … of"; the first always does."""
        return (self.names[0], *(name for name in self.names[1:] if not _NOT_A_NOUN.search(name)))


def read_schemas() -> dict[str, list[Relation]]:
    """Return the relations of each kind of things."""
    schemas: dict[str, list[Relation]] = {}
    text = Path(__file__).with_name("schemas.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        kind, names, value, questions = line.split("\t")
        schemas.setdefault(kind, []).append(Relation(tuple(names.split(";")), value, tuple(questions.split("|"))))
    return schemas


def name_of(kind: str, draw: random.Random) -> str:
    """Return an invented name for a thing of ``kind``."""
    return values_of(_KINDS.get(kind, "title"), draw)[0]


def values_of(value: str, draw: random.Random) -> list[str]:
    """Return an invented value of a type; several for types in the plural."""
    kind, _, rest = value.partition(":")
    if kind == "word":
        return [draw.choice(rest.split(","))]
    if kind == "int":
        low, high, unit = rest.split(":")
        number = draw.randint(int(low), int(high))
        return [f"{number:,}{unit}" if draw.random() < 0.5 else f"{number}{unit}"]
    lists = {
        "people": lambda: [_person(draw) for _ in range(draw.randint(2, 4))],
        "goods": lambda: draw.sample(_GOODS, draw.randint(2, 4)),
        "colors": lambda: draw.sample(_COLORS, draw.randint(2, 4)),
        "services": lambda: draw.sample(_SERVICES, draw.randint(2, 3)),
        "awards": lambda: draw.sample(_AWARDS, draw.randint(1, 3)),
        "waters": lambda: [f"the {name}" for name in draw.sample(_WATERS, draw.randint(2, 3))],
    }
    if kind in lists:
        return list(dict.fromkeys(lists[kind]()))
    return [_single(kind, draw)]


def _single(kind: str, draw: random.Random) -> str:
    year = draw.randint(1790, 2024)
    month, day = draw.randrange(12), draw.randint(1, 28)
    forms = {
        "person": _person(draw),
        "place": draw.choice(_PLACES),
        "company": f"{draw.choice(_COMPANY_WORDS)} {draw.choice(_COMPANY_ENDS)}".strip(),
        "university": draw.choice(("University of {}", "{} Institute of Technology", "{} College")).format(
            draw.choice(_PLACES)
        ),
        "date": draw.choice(
            (f"{year}-{month + 1:02}-{day:02}", f"{day} {_MONTHS[month]} {year}", f"{_MONTHS[month]} {day}, {year}")
        ),
        "year": str(year),
        "money": f"{draw.choice('$€£')}{draw.randint(2, 950)}{draw.choice((' million', '', ',000', '.50'))}",
        "price": f"{draw.randint(2, 30)} {draw.choice(('euros', 'dollars', 'pounds'))}",
        "ship": draw.choice(("MV {}", "{}", "HMS {}", "SS {}")).format(f"{draw.choice(_THINGS)} {draw.choice(_ENDS)}"),
        "water": f"the {draw.choice(_WATERS)}",
        "mountain": f"Mount {draw.choice(_LAST)}",
        "bridge": f"{draw.choice((*_LAST, *_PLACES))} Bridge",
        "museum": f"{draw.choice((*_LAST, *_PLACES))} Museum",
        "device": f"{draw.choice(_COMPANY_WORDS)} {draw.choice('XTRSKZ')}{draw.randint(1, 90) * 10}",
        "server": f"{draw.choice(_WATERS).lower()}{draw.randint(1, 12):02}",
        "expedition": draw.choice(("the {} Expedition", "{} {}")).format(draw.choice(_LAST), draw.randint(2, 19)),
        "room": f"room {draw.choice('ABCDE')}{draw.randint(100, 480)}",
        "ip": f"10.{draw.randint(0, 60)}.{draw.randint(0, 250)}.{draw.randint(2, 250)}",
        "hours": f"{draw.randint(8, 11)}:00 to {draw.randint(16, 20)}:{draw.choice(('00', '30'))}",
    }
    return forms.get(kind, f"{draw.choice(('The ', ''))}{draw.choice(_THINGS)} {draw.choice(_ENDS)}")


def _person(draw: random.Random) -> str:
    return f"{draw.choice(_FIRST)} {draw.choice(_LAST)}"
