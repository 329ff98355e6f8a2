"""Random queries, mostly within the grammar of the dialect."""

from __future__ import annotations

import random
import re

FORBIDDEN = [
    "SET a.title = 'y'", "DELETE a", "DETACH DELETE a", "CREATE (:Article {title: 'new'})", "REMOVE a.title",
    "MERGE (:Article {title: 'new'})", "CALL threads=1", "CALL timeout=7", "CALL show_tables() RETURN *",
    "LOAD FROM 'canary.csv' RETURN *", "COPY (RETURN 1) TO 'stolen.csv'", "COPY Article FROM 'canary.csv'",
    "EXPORT DATABASE 'stolen'", "ATTACH 'pack.db' AS x (dbtype lbug)", "INSTALL json", "DROP TABLE MENTIONS",
    "CREATE NODE TABLE X(id INT64 PRIMARY KEY)", "CREATE MACRO f(x) AS x + 1", "BEGIN TRANSACTION", "CHECKPOINT",
    "; CALL threads=1", "; DROP TABLE MENTIONS", "ALTER TABLE Article ADD y INT64", "EXPLAIN RETURN 1", "USE x",
]  # fmt: skip
GAPS = [" ", " ", " ", " ", "\n", "\t", "  ", "/* ; */", " /* SET */ ", " // DELETE\n", "/**/", "\r\n", "/***/"]

# What each <kind> is written as, one of its lines at random. The kinds that end with "!" replace those without it in
# queries of matching types and existing variables; without them, almost no query would pass.
GRAMMAR = {
    "number": """1;;0;;3;;1.5;;a.word_count;;9223372036854775807;;(<number> <arithmetic> <number>);;
        <numeric>(<number>);;size(<text>);;size(<list>);;CASE WHEN <truth> THEN <number> ELSE <number> END;;
        COUNT { MATCH (a)-[:LINKS_TO*1..2]->(:Article) };;list_sum(range(1, 5));;list_sum(range(1, 1000000000))""",
    "arithmetic": "+;;-;;*;;/;;%",
    "numeric": "abs;;round;;to_int64;;sum;;count;;avg;;hash;;-",
    "text": """a.title;;a.content;;'Set theory';;'A1';;a.url;;$x;;'//';;label(a);;upper(<text>);;reverse(<text>);;
        max(<text>);;(<text> + <text>);;lpad(<text>, 5, 'x');;rpad(<text>, 100000000, 'x');;repeat(<text>, 2);;
        repeat(<text>, 100000000);;<text>[1:2];;substring(<text>, <number>, <number>);;CAST(<any> AS STRING);;
        list_to_string(',', <list>);;CAST(date('2020-01-01') + 99999999 AS STRING)""",
    "truth": """true;;false;;a.url IS NULL;;(a)-[:LINKS_TO]->();;is_trail(p);;(<truth> AND <truth>);;
        (<truth> XOR <truth>);;<number> <> <number>;;<number> >= <number>;;<text> CONTAINS <text>;;
        <text> STARTS WITH <text>;;<text> =~ 'A.*';;<text> =~ '(a{1,30}){1,900}';;<text> =~ <text>;;<text> IN <list>;;
        EXISTS { MATCH (a)-[:LINKS_TO]->(c) WHERE <truth> };;NOT (<truth>)""",
    "list": """a.aliases;;a.categories;;['x', 'y'];;collect(a.title);;t;;list_sort(<list>);;list_distinct(<list>);;
        list_concat(<list>, <list>);;string_split(<text>, ' ');;<list>[<number>:<number>];;[<text>, <text>]""",
    "thing": """a;;b;;r;;p;;nodes(p);;rels(p);;id(a);;start_node(r);;properties(nodes(p), 'title');;
        date('99999-01-01');;interval('3 days');;0.0 / 0.0;;s.embedding;;a.nope;;{k: <number>, l: <list>}""",
    "any": "<number>;;<text>;;<truth>;;<list>;;<thing>",
    "expression": """<literal>;;<literal>;;<name>;;<name>.<property>;;a.title;;a.word_count;;
        <expression> <operator> <expression>;;(<expression>);;<call>;;<call>;;NOT <expression>;;-<expression>;;
        - -<expression>;;<expression>[<expression>];;<expression>[<expression>:<expression>];;
        CASE WHEN <expression> THEN <expression> ELSE <expression> END;;<expression> IS NOT NULL;;
        EXISTS { MATCH <pattern> WHERE <expression> };;COUNT { MATCH <pattern> WHERE <expression> };;
        any(x IN <expression> WHERE <expression>);;[<expression>, <expression>];;(a)-[:LINKS_TO]->();;
        {k: <expression>}""",
    "expression!": "<any>",
    "condition": "<expression>",
    "condition!": "<truth>",
    "literal": """1;;0;;-3;;9223372036854775807;;1.5;;.5;;1e3;;'a';;"Set theory";;'http://x';;'it\\'s';;'';;true;;NULL;;
        [];;[1, 2];;['a', NULL];;{k: 1};;'A1';;'/etc/passwd';;'canary.csv';;$x;;'\\u0041'""",
    "name": "a;;b;;x;;set;;`DELETE`;;p;;t;;A",
    "fresh": "<name>",
    "fresh!": "n<digit>;;set<digit>;;v<digit>",
    "digit": "0;;1;;2;;3;;4;;5;;6;;7;;8;;9",
    "property": "title;;word_count;;aliases;;content;;name;;embedding;;nope;;*",
    "operator": "+;;-;;*;;/;;%;;^;;=;;<>;;<;;>=;;AND;;OR;;XOR;;IN;;STARTS WITH;;CONTAINS;;=~;;|;;&;;<<;;!=",
    "function": """size;;upper;;collect;;count;;sum;;min;;nodes;;rels;;id;;label;;properties;;length;;range;;repeat;;
        lpad;;list_sort;;list_concat;;coalesce;;nullif;;date;;interval;;to_years;;string_split;;regexp_matches;;list_sum;;
        levenshtein;;regexp_replace;;gen_random_uuid;;keys;;internal_id;;read_csv_serial;;current_setting;;error;;
        start_node;;concat;;list_slice;;hash""",
    "call": """<function>();;<function>(<expression>);;<function>(<expression>, <expression>);;
        <function>(DISTINCT <expression>);;<function>(<expression>, <expression>, <expression>);;
        list_transform(<expression>, x -> <expression>);;CAST(<expression> AS <type>)""",
    "type": "INT64;;STRING;;STRING[];;FLOAT[4];;DATE;;MAP",
    "pattern": "<node>;;p = <node>;;<node><step><node>;;p = <node><step><node>;;<node><step><node><step><node>, <node>",
    "pattern!": "(a)-[<hops>]-(<fresh><label>);;(a)-[<hops>]->(<fresh><label>)",
    "hops": ";;:LINKS_TO;;:HAS_SECTION;;*1..2;;:LINKS_TO* SHORTEST 1..3;;:LINKS_TO*1..2;;*1..3",
    "step": "-[<details>]->;;<-[<details>]-;;-[<details>]-;;-->",
    "details": """;;r;;:LINKS_TO;;r:LINKS_TO|MENTIONS;;:HAS_SECTION*1..2;;*;;*2..;;:RELATED_TO*..3;;* SHORTEST 1..3;;
        * TRAIL 1..2;;*1..9;;r*0..1""",
    "node": "(<name><label>);;(<label>);;(<name><label> {title: <literal>})",
    "label": ";;:Article;;:Article;;:Section;;:Entity;;:Article|Entity;;:Nope",
    "items": "<expression>;;<expression> AS <fresh>;;<expression>, <expression> AS <fresh>;;*",
    "items!": "<expression> AS <fresh>;;<expression> AS <fresh>, <expression> AS <fresh>",
    "tail": """;;;;ORDER BY <expression>;;ORDER BY <expression> DESC SKIP 1;;SKIP 1000000;;SKIP -1;;LIMIT 3;;
        LIMIT 99999999;;LIMIT 1+1;;LIMIT $x;;LIMIT 0""",
    "tail!": ";;;;SKIP 2;;LIMIT 3;;LIMIT 99999999",
    "clause": """MATCH <pattern>;;MATCH <pattern> WHERE <condition>;;OPTIONAL MATCH <pattern>;;
        UNWIND <expression> AS <fresh>;;WITH *, <items> <tail>;;WITH DISTINCT *, <items> WHERE <condition>;;
        WITH <items> <tail>""",
    "clauses": ";;;;<clause>;;<clause> <clause>",
    "start": """MATCH (a:Article);;MATCH (a:Article), (b:Article);;MATCH p = (a:Article)-[r:LINKS_TO]->(b);;
        MATCH p = (a:Article)-[r]->(b) WITH *, collect(b.title) AS t""",
    "branch": "<start> <clauses> RETURN <items> <tail>;;<start> <clauses> RETURN DISTINCT <items> <tail>",
}
LINES = {kind: [re.sub(r"^\n\s*", "", line) for line in text.split(";;")] for kind, text in GRAMMAR.items()}
KIND = re.compile(r"<(\w+)>")


class Writer:
    """Generates random queries, mostly within the grammar of the dialect, with occasional violations."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._fitting = chance.random() < 0.7

    def write(self, kind: str, depth: int = 0) -> str:
        if self._fitting and f"{kind}!" in LINES and self._chance.random() < 0.97:
            kind += "!"
        lines = LINES[kind]
        if depth > 7:
            lines = [line for line in lines if not KIND.search(line)] or lines
        return KIND.sub(lambda found: self.write(found[1], depth + 1), self._chance.choice(lines))

    def query(self) -> str:
        chance = self._chance
        words = self.write("branch").split(" ")
        if chance.random() < 0.15:
            words.insert(chance.randrange(len(words) + 1), chance.choice(FORBIDDEN))
        if chance.random() < 0.1:
            words += [chance.choice(["UNION", "UNION ALL"]), self.write("branch")]
        text = " ".join(words)
        if chance.random() < 0.3:
            text = "".join(self._cased(word) + chance.choice(GAPS) for word in words)
        if chance.random() < 0.1:
            at = chance.randrange(len(text) + 1)
            odd = ["'", '"', "`", "/*", "//", ";", "\x00", "\u200b", "\u00a0", "\\", "{", ")"]
            text = text[:at] + chance.choice(odd) + text[at:]
        return text + chance.choice(["", "", "", ";"])

    def _cased(self, word: str) -> str:
        if "'" in word or '"' in word or "`" in word:
            return word
        return self._chance.choice([word, word, word.lower(), word.upper(), word.swapcase()])
