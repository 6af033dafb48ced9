"""Lines of transcripts: what names the old place names the new one, every other byte stays."""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handsoff.core.transcripts import blocks, jsontext, pathmap, transcript
from handsoff.core.transcripts.pathmap import PathMap
from handsoff.core.transcripts.transcript import Lines, Text, has_image, redact, rewrite, strings
from handsoff.errors import UnfitError

OLD, NEW = "/home/me/app", "/srv/my work/w"
MAP = PathMap.of([(OLD, NEW)])
BACK = MAP.inverse()
CHINESE = PathMap.of([("/home/me/项目", "/srv/账")])


def there(line: str, mapping: PathMap = MAP) -> str:
    return (
        Lines(mapping)
        .line(line.encode("utf-8", "surrogateescape"))
        .decode("utf-8", "surrogateescape")
    )


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def at(path: str) -> str:
    """Return a line that names ``path`` in each way that both agents do."""
    uri = path.replace(" ", "%20")
    nested = compact({"workdir": path, "cmd": f"cat {path}/a\n", "env": compact({"PWD": path})})
    return compact(
        {
            "cwd": f"{path}/src",
            "trackedFileBackups": {f"{path}/a.py": {"version": 1}},
            "output": f"one\n{path}/a.py:3: \u2028\u0085 \u007f é\n\t{path}",
            "arguments": nested,
            "item": {"cwd": f"file://{uri}/src"},
            "world": f"<root>{path}</root>",
            "list": [path, [f"{path}."], 1, 1.5, None, True],
        }
    )


def test_all_that_names_the_place_is_rewritten_and_comes_back() -> None:
    assert there(at(OLD)) == at(NEW)
    assert there(at(NEW), BACK) == at(OLD)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('{"a": "/home/me/app","n":1e-7,"a":1E+21}', '{"a": "/srv/my work/w","n":1e-7,"a":1E+21}'),
        (r'{"a":"\u007f\ud83d /home/me/app\n"}', r'{"a":"\u007f\ud83d /srv/my work/w\n"}'),
        (r'{"a":"\ud83d\ude00\t/home/me/app"}', r'{"a":"\ud83d\ude00\t/srv/my work/w"}'),
        (r'{"a":"\/home\/me\/app\/b"}', r'{"a":"\/srv\/my work\/w\/b"}'),
        (r'{"a":"\u002fhome/me/\u0061pp/b"}', r'{"a":"/srv/my work/w/b"}'),
        ('{"a":"/home/me/app\\u0000","a":"\t/home/me/app"}',
         '{"a":"/home/me/app\\u0000","a":"\t/srv/my work/w"}'),
        ('{"/home/me/app":{},"/home/me/app":0}\r\n',
         '{"/srv/my work/w":{},"/srv/my work/w":0}\r\n'),
        ('{"a":"\udcff /home/me/app"}', '{"a":"\udcff /srv/my work/w"}'),
        ('{"a":"[1, \\"/home/me/app\\"]"}', '{"a":"[1, \\"/srv/my work/w\\"]"}'),
        ('{"a":"\\"/home/me/app\\""}', '{"a":"\\"/srv/my work/w\\""}'),
        ('{"a":"{/home/me/app}"}', '{"a":"{/srv/my work/w}"}'),
        (f'{{"n":{"9" * 5000},"a":"/home/me/app"}}', f'{{"n":{"9" * 5000},"a":"/srv/my work/w"}}'),
    ],
)  # fmt: skip
def test_only_the_path_itself_is_spelled_anew(line: str, wanted: str) -> None:
    assert there(line) == wanted


@pytest.mark.parametrize(
    "line",
    ["", "\n", "\r\n", '"/home/me/app"', '["/home/me/app"]', "null", "/home/me/app",
     '{"cwd":"/home/me/app', '{"cwd":"/home/me/app"} x', "\ufeff{\"a\":\"/home/me/app\"}",
     '{"type":"api-request-shape","a":"/home/me/app"}',
     '{"a":"/home/me/app","type": "api-request"}',
     '{"app":"\\u0041pp"}'],
)  # fmt: skip
def test_what_is_no_object_or_is_hashed_passes_untouched(line: str) -> None:
    assert there(line) == line


@pytest.mark.parametrize(
    "fields",
    [
        {"signature": OLD},
        {"type": "thinking", "thinking": f"in {OLD}", "signature": "x"},
        {"thinking": {OLD: [OLD]}},
        {"data": OLD, "type": "redacted_thinking"},
        {"encrypted_content": OLD},
        {"source": {"type": "base64", "media_type": "image/png", "data": OLD}},
        {"image_url": f"data:image/png;base64,{OLD}"},
        {"images": [f"data:image/png;base64,{OLD}"]},
        {"arguments": compact({"signature": OLD})},
    ],
)
def test_what_is_signed_encrypted_or_data_stays(fields: dict[str, Any]) -> None:
    line = compact({"cwd": OLD, "message": {"content": [fields, {"data": OLD}]}})
    moved = compact({"cwd": NEW, "message": {"content": [fields, {"data": NEW}]}})
    assert there(line) == moved
    assert not next(text.opaque for text in strings(line.encode()) if text.value == OLD)
    secret = redact(line.encode(), {OLD: "[X]"}).decode()
    assert secret == compact({"cwd": "[X]", "message": {"content": [fields, {"data": "[X]"}]}})


def test_json_in_json_in_json_is_gone_into_with_its_own_spelling() -> None:
    inside, wanted = OLD, NEW
    for _ in range(6):
        inside, wanted = compact({"a": inside}), compact({"a": wanted})
    assert there(inside) == wanted
    spelled = json.dumps({"a": json.dumps({"p": "/home/me/项目"}), "b": "é"}, ensure_ascii=False)
    wanted = json.dumps({"a": json.dumps({"p": "/srv/账"}), "b": "é"}, ensure_ascii=False)
    assert there(spelled, CHINESE) == wanted
    assert there(wanted, CHINESE.inverse()) == spelled


def test_letters_beyond_ascii_are_written_as_the_line_writes_them() -> None:
    assert there(json.dumps({"a": "/home/me/项目", "b": "é"}), CHINESE) == json.dumps(
        {"a": "/srv/账", "b": "é"}
    )
    assert there('{"a":"/home/me/项目"}', CHINESE) == '{"a":"/srv/账"}'
    assert there('{"a":"/home/me/app","b":"\\ud83d"}', PathMap.of([(OLD, "/账")])) == (
        '{"a":"/账","b":"\\ud83d"}'
    )
    assert there('{"a":"/home/me/app"}', PathMap.of([(OLD, "/r\udcff")])) == r'{"a":"/r\udcff"}'


def test_windows_paths_are_found_behind_their_doubled_backslashes() -> None:
    windows = PathMap.of([(OLD, r"C:\Users\li\w")])
    line = compact({"cwd": OLD, "arguments": compact({"p": f"{OLD}/src"})})
    moved = compact({"cwd": r"C:\Users\li\w", "arguments": compact({"p": r"C:\Users\li\w\src"})})
    assert there(line, windows) == moved
    assert there(moved, windows.inverse()) == line


@pytest.mark.parametrize("depth", [jsontext.DEEPEST + 1, 100_000])
def test_what_is_nested_too_deep_passes_untouched(depth: int) -> None:
    line = '{"a":' * depth + '"/home/me/app"' + "}" * depth
    assert there(line) == line
    assert list(strings(line.encode())) == [Text(line, opaque=False)]
    assert redact(line.encode(), {OLD: "[X]"}).decode() == line.replace(OLD, "[X]")
    assert not has_image(line.encode().replace(b"app", b"image"))
    inner = compact({"a": line})
    assert there(inner) == inner.replace(OLD, NEW)  # text like any other
    assert [text.value for text in strings(inner.encode())] == ["a", line]


def test_layers_of_json_end_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsontext, "LAYERS", 1)
    line = compact({"a": compact({"b": compact({"signature": OLD})})})
    assert there(line) == line.replace(OLD, NEW)
    assert [text.value for text in strings(line.encode())][-1] == compact({"signature": OLD})


# streams

FILE = "\n".join(
    ['{"a":1}', at(OLD), "", '"/home/me/app"', at("/other"),
     '{"type":"api-request","a":"/home/me/app"}',
     '{"a":"\\u002fhome/me/app"}\r', '{"cwd":"/home/me/app"']
).encode()  # fmt: skip
MOVED = FILE.replace(at(OLD).encode(), at(NEW).encode()).replace(
    b"\\u002fhome/me/app", NEW.encode()
)


def cut(body: bytes, places: list[int]) -> Iterator[bytes]:
    ends = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    for start, end in pairwise(ends):
        yield body[start:end]


@given(st.lists(st.integers(min_value=0), max_size=6), st.booleans())
@example([], False)
def test_however_a_file_is_cut_the_outcome_is_the_same(places: list[int], crlf: bool) -> None:
    body, moved = (
        x.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") if crlf else x for x in (FILE, MOVED)
    )
    assert b"".join(rewrite(cut(body, places), MAP)) == moved


@given(st.lists(st.integers(min_value=0), max_size=6))
def test_a_document_on_many_lines_is_one_line(places: list[int]) -> None:
    for value in ({"cwd": OLD, "a": [OLD]}, [{"cwd": OLD}]):
        body = json.dumps(value, indent=2).encode()
        wanted = body.replace(OLD.encode(), NEW.encode())
        assert b"".join(rewrite(cut(body, places), MAP)) == wanted


def test_lines_of_one_file_may_name_several_places() -> None:
    two = PathMap.of([(OLD, "/w"), ("/tmp/other", "/o")])
    lines = [
        "{}",
        f'{{"a":"{OLD}"}}',
        f'{{"a":"{OLD} /tmp/other"}}',
        '{"a":"/tmp/other/x"}',
        "{}",
        "",
    ]
    wanted = ["{}", '{"a":"/w"}', '{"a":"/w /o"}', '{"a":"/o/x"}', "{}", ""]
    assert b"".join(rewrite(["\n".join(lines).encode()], two)) == "\n".join(wanted).encode()


def test_a_file_that_only_looks_like_a_document_is_lines() -> None:
    body = b'{\n{"cwd":"/home/me/app"}\n'
    assert b"".join(rewrite([body], MAP)) == body.replace(OLD.encode(), NEW.encode())
    assert b"".join(rewrite([], MAP)) == b""


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_a_line_that_is_too_long_passes_untouched(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "LONGEST", 100)
    short, long = b'{"cwd":"/home/me/app"}\n', b'{"cwd":"/home/me/app","a":"%s"}\n' % (b"x" * 200)
    body = short + long + short + long + long[:-1]
    chunks = [body[i : i + size] for i in range(0, len(body), size)]
    pieces = list(rewrite(chunks, MAP))
    assert size > 100 or max(map(len, pieces)) <= 200  # and not the whole line
    moved = b"".join(pieces)
    new = short.replace(OLD.encode(), NEW.encode())
    assert moved == new + long + new + long + long[:-1]
    assert b"".join(rewrite([short, long + short], MAP)) == new + long + new
    torn = [b"x" * 200, short]  # its end looks like a line
    assert list(rewrite(torn, MAP))[:2] == torn


def test_a_document_that_is_too_long_passes_untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LONGEST", 100)
    body = json.dumps({"cwd": OLD, "a": ["x" * 10] * 20}, indent=2).encode()
    assert b"".join(rewrite([body[:50], body[50:]], MAP)) == body


def test_a_map_that_changes_nothing_gives_the_same_bytes() -> None:
    assert b"".join(rewrite([FILE], PathMap.of([]))) == FILE


def test_without_regard_to_case_and_of_names_without_letters() -> None:
    mac = PathMap.of([("/Users/Me/Äpp", "/x")], ignore_case=True)
    assert there('{"a":"/USERS/ME/äPP/b"}\n{"a":1}', mac) == '{"a":"/USERS/ME/äPP/b"}\n{"a":1}'
    assert b"".join(rewrite([b'{"a":"/users/me/\xc3\xa4pp"}\n{}\n'], mac)) == b'{"a":"/x"}\n{}\n'


def test_a_path_is_looked_for_in_each_case_and_encoding_that_the_map_knows() -> None:
    mac = PathMap.of([("/Users/Me/App", "/x")], ignore_case=True)
    assert there('{"a":"/USERS/ME/aPP/b"}', mac) == '{"a":"/x/b"}'
    uri = '{"a":"file:///home/me/%E9%A1%B9%E7%9B%AE"}'
    assert there(uri, CHINESE) == '{"a":"file:///srv/%E8%B4%A6"}'


# properties

SPELLINGS = st.sampled_from(
    [OLD, NEW, r"\/home\/me\/app", r"\u002fhome/me/app", "app", "é", r"\u00e9", r"\n", r"\"", r"\\",
     " ", "/", ".", "x", r"\ud83d", r"\ud83d\ude00", "\u2028",
     "file://", "{", "[", r"[\"/home/me/app\"]"]
)  # fmt: skip
LITERALS = st.lists(SPELLINGS, max_size=6).map(lambda parts: '"' + "".join(parts) + '"')
KEYS = st.sampled_from(['"thinking"', '"signature"', '"data"', '"type"'])
TEXTS = st.recursive(
    st.one_of(LITERALS, st.sampled_from(["1e-7", "-0", "null", "true", "[ ]", "{ }", "9" * 20])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + " ,".join(items) + "]"),
        st.lists(
            st.tuples(st.one_of(LITERALS, KEYS), inner),
            max_size=3,
        ).map(lambda pairs: "{" + ",".join(f"{k}: {v}" for k, v in pairs) + "}"),
    ),
    max_leaves=8,
)  # fmt: skip
LINES = TEXTS.map(lambda text: f'{{"x":{text}}}')


@given(LINES)
@example(r'{"x":"\ud83d\ude00 /home/me/app \ud83d/home/me/app"}')
def test_nothing_outside_of_strings_changes_and_each_is_rewritten_as_text(line: str) -> None:
    moved = there(line)
    literal = jsontext._LITERAL
    assert literal.sub('""', moved) == literal.sub('""', line)
    before, after = (jsontext.leaves(jsontext.parse(text)) for text in (line, moved))
    assert before is not None
    assert after is not None
    for (old, opaque), (new, _), spelled, respelled in zip(
        before, after, literal.findall(line), literal.findall(moved), strict=True
    ):
        if opaque or old == new:
            assert respelled == spelled
        elif jsontext.inner(old) is None:
            assert new == MAP.text(old)


@given(st.one_of(LINES, st.text()))
def test_whatever_stands_in_a_line_nothing_breaks(line: str) -> None:
    raw = line.encode("utf-8", "surrogatepass")
    Lines(MAP).line(raw)
    has_image(raw)
    assert redact(raw, {}) == raw
    assert all(isinstance(text.value, str) for text in strings(raw))


# what the guard asks


def test_strings_are_shown_decoded_with_keys_and_what_is_inside_of_them() -> None:
    uuid = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
    line = compact(
        {"k": "a\nb", "uuid": uuid, "n": compact([1, "in"]), "signature": "s", "hash": "x"}
    )
    assert list(strings(line.encode())) == [
        Text("k", False), Text("a\nb", False), Text("uuid", False), Text(uuid, True),
        Text("n", False),
        Text("in", False), Text("signature", False), Text("s", True), Text("hash", False),
        Text("x", False),
    ]  # fmt: skip
    assert list(strings(b"5")) == []
    assert list(strings(b'"bare"\n')) == [Text("bare", False)]
    assert list(strings(b"torn {\r\n")) == [Text("torn {", False)]
    assert all(text.opaque for text in strings(b'{"type":"api-request","a":"b"}'))


def test_secrets_are_taken_out_wherever_they_may_be_and_the_longest_first() -> None:
    secrets = {"abc": "[1]", "abcdef": "[2]", 'q"\n': "[3]", "": "[4]"}
    line = compact(
        {"abc": "xabcdefabc", "n": compact({"a": 'q"\nabc'}), "thinking": "abc", "id": "abc"}
    )
    wanted = compact(
        {"[1]": "x[2][1]", "n": compact({"a": "[3][1]"}), "thinking": "abc", "id": "[1]"}
    )
    assert redact(line.encode(), secrets).decode() == wanted
    assert redact(b'{"torn": "abc q\\"\\n', secrets) == b'{"torn": "[1] [3]'
    assert (
        redact(b'{"type":"api-request","a":"abc"}', secrets) == b'{"type":"api-request","a":"abc"}'
    )
    assert redact(b'{"a":"xyz", "b":1}\n', secrets) == b'{"a":"xyz", "b":1}\n'
    assert redact(b"plain", {"": "x"}) == b"plain"


@pytest.mark.parametrize(
    ("line", "has"),
    [
        ('{"a":{"type":"image","source":{}}}', True),
        ('{"a":[1,{"media_type":"x","type":"base64"}]}', True),
        (r'{"a":"[{\"image_url\":\"data:image/png;base64,AA\"}]"}', True),
        (r'{"a":"data:image\/png;base64,AA', True),
        ('{"a":"an image of base64"}', False),
        ('{"a":"image', False),
        ("{}", False),
    ],
)
def test_a_line_with_a_picture_says_so(line: str, has: bool) -> None:
    assert has_image(line.encode()) is has


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":"' + b"/w " * (pathmap.MOST + 1) + b'"}\n',
        b'{"a":["/w",' + b'"/w"' + b',"b"' * (transcript.DENSE // 2) + b"]}\n",
        b'{"a":["/w",' + b"[" * transcript.DENSE + b"]}\n",
    ],
)
def test_a_line_that_would_fill_the_memory_passes_as_it_is(body: bytes) -> None:
    mapping = PathMap.of([("/w", "/home/li/work/demo")])
    assert Lines(mapping).line(body) == body


def test_a_file_that_would_fill_the_disk_is_not_written() -> None:
    chunks = [b"x" * blocks.SPARE, b"y" * 5]
    assert b"".join(blocks.bounded(iter(chunks), 2)) == b"".join(chunks)
    with pytest.raises(UnfitError, match="more than 4 times its 1 bytes"):
        list(blocks.bounded(iter(chunks), 1))
