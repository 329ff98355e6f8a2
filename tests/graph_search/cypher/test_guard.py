"""Queries that the guard must reject, and queries that it must accept (``test_runner`` runs those)."""

from __future__ import annotations

import pytest

from wikigr.graph_search.cypher.dialect import BlockedQueryError
from wikigr.graph_search.cypher.guard import check_query

A = "MATCH (a:Article) "

HOSTILE = [
    # writes
    "CREATE (:Article {title: 'x'})", A + "SET a.title = 'x' RETURN a", A + "DELETE a", A + "REMOVE a.title RETURN a",
    A + "RETURN a.title, SET a.title = 'x'", A + "WITH a CREATE (b:Article {title: 'x'}) RETURN b",
    "MERGE (a:Article {title: 'x'}) RETURN a", "DROP TABLE Article", "ALTER TABLE Article ADD x INT64",
    "CREATE NODE TABLE X(id INT64 PRIMARY KEY)", "CREATE MACRO f(x) AS x + 1", "COMMENT ON TABLE Article IS 'x'",
    "RETURN 1 CREATE (:Article)", "d\u200bELETE",
    # files, extensions, other databases
    "LOAD FROM '/etc/passwd' RETURN *", A + "LOAD FROM '/etc/passwd' RETURN *", "load/**/from '/etc/passwd' return *",
    "LOAD FROM read_csv_serial('/etc/passwd') RETURN *", "COPY Article FROM '/tmp/x.csv'",
    "COPY (MATCH (a:Article) RETURN a.title) TO '/tmp/stolen.csv'", "copy (return 1) to 'x.csv'",
    "EXPORT DATABASE '/tmp/stolen'", "IMPORT DATABASE '/tmp/x'", "ATTACH '/tmp/x.db' AS x (dbtype lbug)", "USE x",
    "INSTALL httpfs", "LOAD '/tmp/evil.so'",
    # settings and the catalog
    "CALL threads=1", "CALL show_tables() RETURN *", A + "CALL show_tables() RETURN *",
    "CALL PROJECT_GRAPH('g', ['Article'], ['LINKS_TO'])", "PROJECT GRAPH g (Article) RETURN 1",
    "RETURN current_setting('threads')", "EXPLAIN MATCH (a) RETURN a", "BEGIN TRANSACTION", "CHECKPOINT",
    # more than one statement
    "RETURN 1; RETURN 2", "RETURN 1; DROP TABLE Article;", "RETURN 1;;", "; RETURN 1",
    "RETURN 1 /* ; */ ; CALL threads=1", "RETURN 'a\\\\'; DROP TABLE Article; RETURN 'b'",
    "RETURN 1 // \n; DROP TABLE Article",
    # what looks like something else, such as a Cyrillic А
    "ＭＡＴＣＨ (a) RETURN a", "MАTCH (a) RETURN a", "RETURN 1 \uff1b DROP TABLE Article", "\u017fET x = 1",
    "RETURN\u00a01", "RETURN\u200b 1", "\ufeffRETURN 1", "MATCH (a)\u2010[]\u2010>(b) RETURN a",
    "RETURN 1\x00; DROP TABLE Article",
    "RETURN 'a\x00b'", "RETURN 'a\\u0000b'", "RETURN '\\uD800'", "RETURN '\\q'", "RETURN 1\x1cAS a",
    "RETURN 1 AS `a\u200bb`", "RETURN 1 AS ``", "RETURN 1 AS `a``b`", "RETURN 'open", "RETURN `open",
    "RETURN 1 /* open", "RETURN 1 /* a */ */",
    # paths without an end
    "MATCH (a)-[*]->(b) RETURN b", "MATCH (a)-[:LINKS_TO*]->(b) RETURN b", "MATCH (a)-[*2..]->(b) RETURN b",
    "MATCH (a)-[*1..4]->(b) RETURN b", "MATCH (a)-[* SHORTEST]->(b) RETURN b",
    "MATCH (a)-[* ALL SHORTEST 1..30]->(b) RETURN b", "MATCH (a)-[* TRAIL 1..99999999999]->(b) RETURN b",
    "MATCH (a)-[*3..1]->(b) RETURN b",
    # what no pack has a use for
    "MATCH (a)-[* WSHORTEST(weight) 1..2]->(b) RETURN b",
    "MATCH (a)-[*1..2 (r, n | WHERE r.relation = 'near' | {r.relation}, {n.name})]->(b) RETURN b",
    "RETURN CAST('1.50' AS DECIMAL(5, 2))", "MATCH (a)-[*1..3]-(b)-[*1..3]-(c)-[*1..3]-(d) RETURN d",
    "MATCH (a)-[*1/**/../**/]->(b) RETURN b", A + "WHERE EXISTS { MATCH (a)-[*]->(b) } RETURN a",
    A + "WHERE COUNT { MATCH (a)-[*1..9]->(b) } > 3 RETURN a", A + "WHERE (a)-[:LINKS_TO*]->(:Article) RETURN a",
    # functions that are slow or grow without bounds
    "RETURN list_transform(range(1, 500), x -> range(1, 400))",
    "RETURN list_transform(range(1, 500), x -> list_transform([1], y -> y))",
    "RETURN list_reduce(['a', 'b'], (x, y) -> x + x)", "RETURN levenshtein('a', 'b')", "RETURN factorial(1000000000)",
    "RETURN 1000000000!", "RETURN regexp_replace('aaa', '', 'bbbbbbb', 'g')",
    A + "WITH collect(a.title) AS t MATCH (b) RETURN list_filter(t, x -> x <> b.title)",
    "RETURN " + "(" * 5000 + "1" + ")" * 5000, "RETURN " + "[" * 50 + "1" + "]" * 50,
    "RETURN " + "CASE WHEN true THEN " * 20 + "1" + " END" * 20, "RETURN " + "nullif(" * 20 + "1" + ", 2)" * 20,
    "RETURN " + "NOT " * 100 + "true", "RETURN '" + "a" * 10_000 + "'",
    # what ends the process
    "RETURN internal_id(0, 99999999)", "RETURN CAST(NULL AS INT64[99999999999])",
    # what the engine answers with nothing, without a word
    A + "RETURN substring(a.title, 0, 3)", A + "RETURN a.title[0]",
    A + "WHERE any(x IN a.aliases WHERE x = 'z') RETURN a", A + "RETURN list_filter(a.aliases, x -> x = 'z')",
    "RETURN hash(1)", A + "RETURN equals(a, a)",
    A + "WHERE any(y IN ['Article', initcap(a.url)] WHERE y = 'A1') RETURN a",
    A + "RETURN a ORDER BY a.title SKIP 1000000", A + "WITH a ORDER BY a.title SKIP 1000000 LIMIT 3 RETURN a",
    A + "RETURN a.title AS t ORDER BY t SKIP 9 UNION ALL RETURN 'x' AS t",
    A + "RETURN a.title AS t UNION ALL RETURN 'x' AS t ORDER BY t SKIP 9",
    # not the same twice, or changing something
    "RETURN gen_random_uuid()", "RETURN random()", "RETURN error('x')", "RETURN no_such_function(1)",
    "RETURN `lower`('A')",
    # the rest
    "", "// nothing", A, "RETURN $x", "RETURN 1 LIMIT $x", "RETURN 1 LIMIT -1", "RETURN 1 LIMIT 1e3",
    "RETURN 1 SKIP 1 + 1", A + "HINT a RETURN a", "MATCH (a:other.Article) RETURN a",
    "MATCH p = shortestPath((a)-[*1..2]->(b)) RETURN p", "RETURN [x IN [1, 2] WHERE x > 1 | x]",
    "RETURN EXISTS { CREATE (a) }", A + "WHERE EXISTS { MATCH (b) SET b.title = 'x' } RETURN a",
    "RETURN 1 UNION DROP TABLE Article", "RETURN 1 AS a UNION CALL threads=1", "RETURN 1 != 2",
    "FOREACH (x IN [1] | CREATE (:Article))", "RETURN {a: (CREATE)}",
]  # fmt: skip

# The guard accepts these; the process that runs them bounds what they do.
CONFINED = [
    "MATCH " + "-[]-".join(f"(a{i})" for i in range(14)) + " RETURN a1",
    "MATCH " + ",".join(f"(a{i})" for i in range(20)) + " RETURN a1",
    "UNWIND range(1, 1000000000) AS x RETURN count(x)", "RETURN size(range(1, 9223372036854775807))",
    "RETURN lpad('a', 2000000000, 'b')", "WITH 'a' AS s " + "WITH s + s + s + s AS s " * 10 + "RETURN s",
    "WITH [1] AS s " + "WITH list_concat(s, s) AS s " * 20 + "RETURN s",
    A + "WITH max(a.content) AS s " + "WITH max(s + s + s + s) AS s " * 11 + "RETURN s",
    "RETURN regexp_matches('aaa', '((a{1,30}){1,30}){1,30}b')", A + "WITH collect(a.title) AS t RETURN collect(t)",
    "RETURN " + "+".join(["1"] * 600), " UNION ALL ".join(["RETURN 1 AS a"] * 30), "WITH 1 AS a " * 60 + "RETURN a",
    "RETURN nodes(NULL)", "RETURN list_sum([])", "RETURN substring('false', 1, -5)", "RETURN label({x: 1})",
    "RETURN list_concat(CAST([1, 2] AS FLOAT[2]), CAST([1, 2] AS FLOAT[2]))",
    # crashes of the engine (0.15.3)
    A + "RETURN a.word_count[1:2]", A + "RETURN list_sort([1, 2], a.word_count)",
    "MATCH ()-[r:LINKS_TO]->() WITH {r: r}.r AS s RETURN s < s, s = s",
    "RETURN date('99999-12-31') - interval('5000 years')",
    # reads of memory, which holds nothing but the pack
    "RETURN split_part(CAST('1267650600228229401496703205376' AS INT128), '@', 1)",
    "RETURN CAST('1267650600228229401496703205376' AS INT128) =~ 'a'",
    # what has no type in JSON
    "RETURN sum(CAST(1 AS UINT64))", "RETURN {_NODES: 1, _RELS: 2}, {offset: 'a', `table`: 'b'}",
]  # fmt: skip

HARMLESS = [
    "RETURN 1",
    " RETURN 1 ; ",
    "RETURN 'Set theory'",
    'RETURN "DROP TABLE Article; --"',
    "RETURN 'http://x/y' AS url // and a comment",
    "RETURN '/* no comment */', \"it's\", 'it\\'s', 'a\\\\'",
    "// first a comment; CALL threads=1\nRETURN 1",
    "RETURN 'CREATE (n)', 'LOAD FROM', 'COPY (x) TO y'",
    "RETURN 'línea\nwith  two spaces'",
    "RETURN '日本', '\\u0041', 'zero\u200bwidth'",
    "RETURN 1 AS `DELETE`",
    "RETURN 1 AS `naïve name`, 2 AS limit",
    "MATCH (set:Article) RETURN set.title",
    "MATCH (set:Article) WHERE set.word_count > 3 RETURN set.title AS delete ORDER BY delete",
    "MATCH (a:`Article`) RETURN a.`title`",
    A + "RETURN a.title AS type, a.word_count AS count",
    A + "RETURN a",
    A + "RETURN *",
    A + "RETURN DISTINCT a.category",
    A + "WHERE a.title = 'A1' RETURN a.content",
    A + "WHERE a.title STARTS WITH 'A' AND a.title ENDS WITH '1' RETURN a.title",
    A + "WHERE a.title CONTAINS 'set' OR a.title =~ 'A[0-9]+' RETURN a.title",
    A + "WHERE lower(a.title) = 'a1' XOR NOT a.word_count >= 3 RETURN a.title",
    A + "WHERE a.title IN ['A1', 'A2', 'call'] RETURN a.title",
    A + "WHERE a.url IS NULL RETURN count(*)",
    A + "WHERE a.url IS NOT NULL RETURN count(DISTINCT a.category)",
    A + "WHERE 'z' IN a.aliases RETURN a.title",
    A + "UNWIND a.aliases AS x WITH a, x WHERE x = a.title OR x = 'z' RETURN DISTINCT a.title",
    A + "WHERE list_contains(a.categories, 'c') AND size(a.categories[1]) > 0 RETURN a.title",
    A + "WHERE (a.word_count - 1) * 2 <> -4 RETURN a.word_count % 3, 2 ^ 3",
    A + "RETURN a.title ORDER BY a.word_count DESC , a.title ASC SKIP 2 LIMIT 3",
    A + "RETURN a.title LIMIT 0",
    A + "WITH a.category AS c, count(*) AS n WHERE n > 1 RETURN c, n ORDER BY n DESC",
    A + "RETURN sum(a.word_count), avg(a.word_count), min(a.title), max(a.title)",
    A + "RETURN a.category, collect(a.title)",
    A + "WITH collect(a.title) AS t RETURN size(t), t[1], t[1:3], list_sort(t)",
    A + "WITH collect(a.title) AS t UNWIND t AS one RETURN one LIMIT 2",
    A + "WITH a LIMIT 3 WITH collect(a.title) AS t MATCH (b:Article) WHERE b.title IN t RETURN b.title",
    "MATCH (a:Article)-[:LINKS_TO]->(b:Article) RETURN a.title, b.title",
    "MATCH (a:Article)<-[:LINKS_TO]-(b) RETURN a.title, count(b) AS n ORDER BY n DESC LIMIT 5",
    "MATCH (a:Article)-[:LINKS_TO|MENTIONS]-(b) RETURN DISTINCT b.title",
    "MATCH ((a:Article)-[r]->(b)) RETURN label(r), count(*)",
    "MATCH (a:Article {title: 'A1'})-[r:HAS_SECTION]->(s:Section) RETURN r, s ORDER BY r.position",
    "MATCH (n:Article|Section) RETURN n.title",
    "MATCH (n) RETURN label(n), count(*)",
    "MATCH (a:Article {title: 'A1'})-[:LINKS_TO*1..3]->(b) RETURN DISTINCT b.title",
    "MATCH (a:Article {title: 'A1'})-[:LINKS_TO*2]->(b) RETURN count(*)",
    "MATCH p = (a:Article {title: 'A1'})-[:LINKS_TO* SHORTEST 1..3]->(b:Article {title: 'A7'}) RETURN p, length(p)",
    "MATCH p = (a:Article {title: 'A1'})-[:LINKS_TO*ALL SHORTEST 1..3]->(b) RETURN properties(nodes(p), 'title')",
    "MATCH p = (a:Article {title: 'A1'})-[:LINKS_TO* TRAIL 1..2]-(b) RETURN rels(p)",
    "MATCH p = (a:Article {title: 'A1'})-[:LINKS_TO* ACYCLIC 1..2]-(b) RETURN nodes(p), is_acyclic(p)",
    "MATCH (a:Entity)-[r:RELATED_TO {relation: 'near'}]->(b:Entity) RETURN a.name, r.relation, b.name, r.section_id",
    "OPTIONAL MATCH (a:Article {title: 'none'}) RETURN a",
    A + "OPTIONAL MATCH p = (a)-[:HAS_ENTITY]->(e) RETURN a.title, e, p",
    A + "WHERE EXISTS { MATCH (a)-[:LINKS_TO]->(b) WHERE b.word_count > 3 } RETURN a.title",
    A + "WHERE COUNT { MATCH (a)-[:LINKS_TO]->(b:Article) } > 1 RETURN a.title",
    A + "WHERE (a)-[:LINKS_TO]->(:Article {title: 'A7'}) RETURN a.title",
    A + "WHERE NOT (a)-[:HAS_ENTITY]->() RETURN count(*)",
    "MATCH (a:Article)-[r]->(b)-[s]->(c) WHERE a <> c AND NOT r = s RETURN count(*)",
    "MATCH p = (a:Article)-->(b) UNWIND nodes(p) AS n RETURN label(n), n.title",
    "MATCH (a:Article), (b:Article) WHERE a.title < b.title RETURN a.title, b.title LIMIT 3",
    "UNWIND [1, 2, 3] AS x UNWIND range(1, 5) AS y RETURN x * y",
    "RETURN 1 AS a UNION RETURN 2 AS a",
    A + "RETURN a.title AS t LIMIT 2 UNION ALL MATCH (s:Section) RETURN s.title AS t LIMIT 2",
    "WITH 1 AS a WITH a + 1 AS b RETURN b",
    "RETURN CASE WHEN 1 < 2 THEN 'yes' ELSE 'no' END, CASE 3 WHEN 3 THEN 'three' ELSE NULL END",
    "RETURN [1, 2, 3], [1, 2][1], 'abc'[1:2], {a: 1, `b c`: [2]}",
    "RETURN list_sort([2, 1]), list_reverse([1, 2]), list_distinct([1, 1]), list_sum([1, 2]), list_concat([1], [2])",
    # what is said to be written instead of a function of other dialects
    A + "RETURN substring(a.title, 1, 3), a.aliases[1], a.aliases[-1], a.aliases[2:], size(a.aliases) = 0",
    A + "RETURN string_split(a.title, ' '), to_int64('3'), to_double('3.5'), to_string(3), to_bool('true')",
    A + "WHERE EXISTS { MATCH (a)-[:LINKS_TO]->(m) } AND a.url IS NOT NULL RETURN timestamp('2020-01-31 12:00:00')",
    "MATCH (n)-[r]->(m) RETURN label(r), start_node(r), end_node(r), id(n), size('abc')",
    A + "RETURN a.title LIMIT 9223372036854775807",
    "RETURN concat('a', 'b'), upper('a'), trim(' a '), substring('abc', 1, 2), lpad('7', 3, '0'), repeat('ab', 3)",
    "RETURN string_split('a,b', ','), list_to_string('-', ['a', 'b']), split_part('a b', ' ', 1)",
    "RETURN abs(-1), round(2.567, 1), sqrt(2), pi(), floor(.5), 1e3, 2 & 3, 1 << 2",
    "RETURN date('2020-01-31') + interval('1 month'), timestamp('2020-01-01 10:00:00'), "
    "date_part('year', date('2020-01-01'))",
    "RETURN CAST('1' AS INT64), cast(1, 'STRING'), CAST(NULL AS STRING)",
    "RETURN coalesce(NULL, 'a'), ifnull(NULL, 1), nullif(1, 2), typeof(1)",
    "RETURN 0.0 / 0.0, CAST('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' AS UUID), CAST(5 AS INT128)",
    "MATCH (s:Section) RETURN array_cosine_similarity(s.embedding, CAST([0.1, 0.2, 0.3, 0.4] AS FLOAT[4])) AS c "
    "ORDER BY c DESC LIMIT 2",
    "MATCH (s:Section) RETURN s, s.embedding, s.heading_path LIMIT 1",
    "MATCH (a)-[r]->(b) WHERE id(a) <> id(b) RETURN start_node(r), end_node(r), id(r) LIMIT 2",
    "MATCH (a:Article) RETURN keys(a), labels(a), md5(a.title), sha256(a.title) LIMIT 1",
    "MATCH (a:Article) RETURN greatest(date('2020-01-01'), date('2021-01-01')), 'a' IN ['a'] LIMIT 1",
    "RETURN TRUE, False, null",
]


def check(cypher: str) -> str:
    return check_query(cypher, max_rows=10, max_hops=3).text


def test_the_tables_are_as_long_as_promised() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 80
    assert len(set(HARMLESS)) == len(HARMLESS) >= 80


def test_a_hostile_query_is_refused_with_a_reason(subtests: pytest.Subtests) -> None:
    for cypher in HOSTILE:
        with subtests.test(cypher=cypher):
            with pytest.raises(BlockedQueryError) as refused:
                check(cypher)
            message = refused.value.message
            assert message.startswith("The query was not run: ")
            assert "\n" not in message
            assert len(message) < 300
            assert message.isprintable()


def test_the_query_is_rewritten_from_its_tokens() -> None:
    text = check("match /* x */ (set:Article)  where set.title='a  b' // y\n return set.title as DELETE;")
    assert text == "MATCH (`set`:Article) WHERE `set`.title='a  b' RETURN `set`.title AS `DELETE` LIMIT 11"


@pytest.mark.parametrize(
    ("cypher", "limits"),
    [
        ("RETURN 1 AS a", ["11"]),
        ("RETURN 1 AS a LIMIT 3", ["3"]),
        ("RETURN 1 AS a LIMIT 11", ["11"]),
        ("RETURN 1 AS a LIMIT 99999", ["11"]),
        ("RETURN 1 AS a LIMIT 9223372036854775807", ["11"]),
        ("RETURN 1 AS a LIMIT 0", ["0"]),
        ("RETURN 1 AS a LIMIT 2 UNION ALL RETURN 2 AS a", ["2", "11"]),
        ("MATCH (a) WITH a LIMIT 500 RETURN a", ["500", "11"]),
    ],
)
def test_every_branch_has_its_limit(cypher: str, limits: list[str]) -> None:
    words = check(cypher).split()
    assert [words[i + 1] for i, word in enumerate(words) if word == "LIMIT"] == limits


def test_the_reason_says_what_to_fix(subtests: pytest.Subtests) -> None:
    for cypher, words in [
        ("MATCH (a) SET a.x = 1", "SET is not allowed"),
        ("RETURN 1; RETURN 2", "nothing more is allowed"),
        ("MATCH (a)-[*]->(b) RETURN b", "write *1..3"),
        ("RETURN 1 AS end", "END is a reserved word"),
        ("MАTCH (a) RETURN a", "U+0410 outside quotes, at character 2"),
        ("RETURN $title", "the parameter $title has no value"),
        ("RETURN levenshtein('a', 'b')", "the function levenshtein() is not allowed"),
        ("RETURN 1 != 2", "write <>"),
        ("MATCH (a) RETURN substring(a.title, 0, 3)", "positions start at 1"),
        ("MATCH (a) RETURN a.aliases[0]", "positions start at 1"),
        ("MATCH (a)-[r]->(b) RETURN type(r)", "the function type() is not allowed; write label(r)"),
        ("MATCH (n) WHERE exists((n)-[]->()) RETURN n", "write EXISTS { MATCH (n)-[:LINKS_TO]->(m) }"),
        ("MATCH (n) WHERE exists(n.url) RETURN n", "n.url IS NOT NULL"),
        ("RETURN toInteger('3')", "write to_int64(x)"),
        ("MATCH (a) RETURN head(a.aliases)", "write x[1]"),
        ("MATCH (a) RETURN last(a.aliases)", "write x[-1]"),
        ("MATCH (a) RETURN split(a.title, ' ')", "write string_split(x, ' ')"),
        ("MATCH (a) WITH a LIMIT 9223372036854775807 RETURN a", "LIMIT 9223372036854775807 is too large"),
        ("MATCH (a) RETURN a LIMIT 1.5", "LIMIT takes a whole number"),
        ("MATCH (a) RETURN a LIMIT 5 + 1", "LIMIT takes a whole number here, not an expression"),
        ("MATCH (a) RETURN a ORDER BY a.title SKIP 5.b LIMIT 1", "SKIP takes a whole number here, not an expression"),
        ("MATCH (a) RETURN a.title WHERE", "WHERE"),
    ]:
        with subtests.test(cypher=cypher):
            with pytest.raises(BlockedQueryError, match="not run") as refused:
                check(cypher)
            assert words in refused.value.message


@pytest.mark.parametrize(
    ("cypher", "text"),
    [
        ("RETURN string_split(1, 2)", "RETURN string_split(CAST(1 AS STRING), CAST(2 AS STRING)) LIMIT 11"),
        ("RETURN split_part('a b', ' ', 1)", "RETURN split_part('a b', ' ', 1) LIMIT 11"),
        ("RETURN NOT -1 =~ 'a' + 2", "RETURN NOT CAST(-1 AS STRING) =~ 'a' + 2 LIMIT 11"),
        ("RETURN 'a'=~x.y[1]", "RETURN 'a'=~CAST(x.y[1] AS STRING) LIMIT 11"),
        ("RETURN list_sort(a.b, c, 'x')", "RETURN list_sort(a.b, CAST(c AS STRING), 'x') LIMIT 11"),
        ("RETURN CAST(1 AS string) =~ 'a'", "RETURN CAST(1 AS string) =~ 'a' LIMIT 11"),
        ("RETURN 'a' =~ CASE WHEN x THEN 'y' END", "RETURN 'a' =~ CAST(CASE WHEN x THEN 'y' END AS STRING) LIMIT 11"),
        ("RETURN str_split(x IS NULL, ',')", "RETURN str_split(CAST(x IS NULL AS STRING), ',') LIMIT 11"),
    ],
)
def test_arguments_that_must_be_text_are_cast(cypher: str, text: str) -> None:
    assert check(cypher) == text
    assert check(text) == text


@pytest.mark.parametrize(("rows", "hops"), [(0, 1), (1, 0), (1, 31)])
def test_limits_out_of_range_are_errors(rows: int, hops: int) -> None:
    with pytest.raises(ValueError, match="max_rows"):
        check_query("RETURN 1", max_rows=rows, max_hops=hops)
