"""Paths in decoded text: whole ones only, in every spelling, there and back."""

from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handsoff.core.transcripts.pathmap import PathMap
from handsoff.errors import DamagedError

APP, NEW, WIN = "/home/me/app", "/srv/li/w", r"C:\Users\li\My App"
POSIX = PathMap.of([(APP, NEW)])
TO_WINDOWS = PathMap.of([(APP, WIN)])
FROM_WINDOWS = TO_WINDOWS.inverse()
CLAUDE = PathMap.of(
    [
        (APP, NEW),
        ("/home/me/.claude/projects/-home-me-app", "/home/li/.claude/projects/-srv-li-w"),
        ("/home/me/.claude", "/home/li/.claude"),
    ]
)


# the table of boundaries: what may stand around a path

NOT_BEFORE = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-/\\~@%+")
QUOTES = "\"'`‘’“”«»「」『』"
AFTER = set(":;,)]}>|&<" + "：；，）、。！？】》" + QUOTES)


def ends(rest: str) -> bool:
    """Say whether a POSIX path ends before ``rest``, by the table alone."""
    if not rest or rest[0] == "/" or rest[0] in AFTER or rest[0].isspace():
        return True
    if rest[0] in ".!":
        return len(rest) == 1 or rest[1] in QUOTES or rest[1].isspace()
    if rest[0] == "\\":  # of a quoted text: an escape
        return (
            len(rest) == 1 or rest[1] in QUOTES + "\\" or (rest[1].isascii() and rest[1].isalpha())
        )
    return False


LETTERS = st.text(
    st.one_of(
        st.sampled_from("\"'`:;,)]}>|&<.! \t\n/\\~@%+-_=#?*([{$aZ5项，。”"),
        st.characters(codec="utf-8"),
    ),
    max_size=3,
)


@given(LETTERS, LETTERS)
@example("", ".")
@example("n", "")
@example("\n", "\\ two")
@example("\\n", "")
def test_a_path_is_replaced_exactly_where_the_table_of_boundaries_says(
    before: str, after: str
) -> None:
    whole = (not before or before[-1] not in NOT_BEFORE) and ends(after)
    assert POSIX.text(before + APP + after) == before + (NEW if whole else APP) + after


def test_each_letter_of_ascii_does_beside_a_path_what_the_table_says() -> None:
    for letter in map(chr, range(128)):
        before = APP if letter in NOT_BEFORE else NEW
        assert POSIX.text(letter + APP) == letter + before, letter
        assert POSIX.text(APP + letter) == (NEW if ends(letter) else APP) + letter, letter


@pytest.mark.parametrize(
    "other",
    ["/home/me/app2", "/home/me/app-old", "/home/me/app.bak", "/mnt/home/me/app", "~/home/me/app",
     "/home/me/app\\ two", "https://host/home/me/app", "/home/me/ap", "/home/me/app=", "app",
     "/HOME/me/app"],
)  # fmt: skip
def test_another_path_is_left_alone(other: str) -> None:
    assert POSIX.text(other) == other


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("<root>/home/me/app</root>", "<root>/srv/li/w</root>"),
        ("<cwd>/home/me/app/src</cwd>", "<cwd>/srv/li/w/src</cwd>"),
        ("cd /home/me/app/src && ls", "cd /srv/li/w/src && ls"),
        ("PATH=/home/me/app/bin:/home/me/app", "PATH=/srv/li/w/bin:/srv/li/w"),
        ("see /home/me/app.", "see /srv/li/w."),
        ("请看/home/me/app。", "请看/srv/li/w。"),
        (r"printf '/home/me/app\n'", r"printf '/srv/li/w\n'"),
        (r"{\"cwd\": \"/home/me/app\"}", r"{\"cwd\": \"/srv/li/w\"}"),
        ("file:///home/me/app/a%20b", "file:///srv/li/w/a%20b"),
        ("file://localhost/home/me/app", "file://localhost/srv/li/w"),
        ("file:/home/me/app#L3", "file:/srv/li/w#L3"),
    ],
)
def test_a_path_is_found_in_whatever_surrounds_it(text: str, there: str) -> None:
    assert POSIX.text(text) == there
    assert POSIX.inverse().text(there) == text


def test_the_longest_path_wins_and_nothing_is_replaced_twice() -> None:
    swapped = PathMap.of([("/a", "/a/b"), ("/a/b", "/a"), ("/a/b/c", "/x")])
    assert swapped.text("/a /a/b /a/b/c /a/c /a/b/d") == "/a/b /a /x /a/b/c /a/d"


def test_of_two_pairs_with_one_origin_the_first_counts_there_and_back() -> None:
    both = PathMap.of([("/tmp/app", "/srv/w"), ("/private/tmp/app", "/srv/w"), ("/tmp/app", "/no")])
    assert both.text("/tmp/app/x /private/tmp/app") == "/srv/w/x /srv/w"
    assert both.inverse().text("/srv/w/x") == "/tmp/app/x"


def test_a_folder_of_a_session_is_renamed_in_anybodys_home() -> None:
    said = (
        "/home/me/.claude/projects/-home-me-app/x ~/.claude/projects/-home-me-app $HOME/.claude/a"
    )
    there = "/home/li/.claude/projects/-srv-li-w/x ~/.claude/projects/-srv-li-w $HOME/.claude/a"
    assert CLAUDE.text(said) == there
    assert CLAUDE.text("~/.claude/projects/-home-me-app-2") == "~/.claude/projects/-home-me-app-2"
    assert CLAUDE.text("/x.claude/projects/-home-me-app") == "/x.claude/projects/-home-me-app"
    assert CLAUDE.inverse().text(there) == said


def test_what_is_inside_a_data_url_is_no_path() -> None:
    picture = "data:image/png;base64,/home/me/app/ab=="
    assert POSIX.text(f"{picture} and /home/me/app") == f"{picture} and /srv/li/w"


def test_a_map_that_changes_nothing_is_false() -> None:
    assert not PathMap.of([])
    same = PathMap.of([(APP, APP + "/")])
    assert not same
    assert same.text(APP) == APP
    assert not same.inverse()
    assert POSIX


def test_case_counts_only_where_it_is_asked_to() -> None:
    mac = PathMap.of([("/Users/me/App", "/home/li/app")], ignore_case=True)
    assert (
        mac.text("/users/ME/app/Src file:///users/me/app") == "/home/li/app/Src file:///home/li/app"
    )
    assert mac.inverse().text("/HOME/li/app") == "/Users/me/App"


@pytest.mark.parametrize(
    "path", ["", "app", "~/app", "/", "//", "C:\\", "C:app", "\\\\", "/\ud800"]
)
def test_what_is_no_path_below_a_root_is_refused(path: str) -> None:
    with pytest.raises(DamagedError):
        PathMap.of([(path, "/x")])
    with pytest.raises(DamagedError):
        PathMap.of([("/x", path)])


# file URIs


@pytest.mark.parametrize(
    ("old", "new", "said", "there"),
    [
        ("/a b/项", "/c d", "file:///a%20b/%E9%A1%B9/x", "file:///c%20d/x"),
        ("/a b/项", "/c d", "file:///a%20b/%e9%a1%b9", "file:///c%20d"),
        ("/a b/项", "/c d", "file:///a b/项", "file:///c d"),
        ("/a@b", "/c#d", "file:///a%40b", "file:///c%23d"),
        ("/x/r\udcff", "/y", "file:///x/r%FF", "file:///y"),
        (APP, WIN, "file:///home/me/app/s", "file:///C:/Users/li/My%20App/s"),
        (APP, r"\\host\share\w", "file:///home/me/app/s", "file://host/share/w/s"),
        (r"\\host\share\w", APP, "file://host/share/w/s", "file:///home/me/app/s"),
        (WIN, r"\\host\share\w", "file:///C%3A/Users/li/My%20App", "file://host/share/w"),
    ],
)
def test_a_file_uri_is_read_in_any_encoding_and_written_in_one(
    old: str, new: str, said: str, there: str
) -> None:
    assert PathMap.of([(old, new)]).text(said) == there


def test_a_path_without_a_letter_of_ascii_is_found_in_a_uri_too() -> None:
    assert PathMap.of([("/项目", "/x")]).text("/项目 file:///%E9%A1%B9%E7%9B%AE") == "/x file:///x"
    assert PathMap.of([("/项目", "/x")], ignore_case=True).text("/项目") == "/x"
    assert PathMap.of([("/ ", "/x")]).text("'/ '") == "'/x'"


# from one platform to the other


@pytest.mark.parametrize(
    ("said", "there"),
    [
        (APP, WIN),
        ("/home/me/app/src/x.py", WIN + r"\src\x.py"),
        ("/home/me/app/src/x.py:12", WIN + "/src/x.py:12"),
        ("'/home/me/app/src' b", "'" + WIN + r"\src' b"),
        ("/home/me/app/ ", WIN + "\\ "),
        ('"/home/me/app/src/"', '"' + WIN + '/src/"'),
        ("<cwd>/home/me/app/src</cwd>", "<cwd>" + WIN + r"\src</cwd>"),
        (r"'/home/me/app\n'", r"'/home/me/app\n'"),
        (r"\"/home/me/app\"", rf"\"{WIN}\""),
        ("/home/me/app/a\\ b", WIN + "/a\\ b"),
        ("/home/me/app/a=/home/me/app/b", WIN + "/a=" + WIN + r"\b"),
    ],
)
def test_the_rest_of_a_path_gets_other_separators_only_where_it_ends_like_one(
    said: str, there: str
) -> None:
    assert TO_WINDOWS.text(said) == there
    assert FROM_WINDOWS.text(there) == said


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("c:/users/LI/my app/src", "/home/me/app/src"),
        (r"C:\\Users\\li\\My App\\src\\x", "/home/me/app/src/x"),
        (r"\\?\C:\Users\li\My App\src", "/home/me/app/src"),
        (r"\\\\?\\C:\\Users\\li\\My App\\src", "/home/me/app/src"),
        ("/c/Users/li/My App/src", "/home/me/app/src"),
        ("/mnt/C/users/li/My App", "/home/me/app"),
        (r"XC:\Users\li\My App", r"XC:\Users\li\My App"),
        (r"C:\Users\li\My Apps", r"C:\Users\li\My Apps"),
    ],
)
def test_a_windows_path_is_found_as_its_many_programs_write_it(said: str, there: str) -> None:
    assert FROM_WINDOWS.text(said) == there


@pytest.mark.parametrize(
    ("said", "there"),
    [
        (r"C:\Users\li\My App\s", r"D:\w\s"),
        (r"C:\\Users\\li\\My App\\s", r"D:\\w\\s"),
        ("C:/Users/li/My App/s", "D:/w/s"),
        (r"\\?\C:\Users\li\My App", r"\\?\D:\w"),
        ("/c/Users/li/My App/s", "/d/w/s"),
        ("/mnt/c/Users/li/My App", "/mnt/d/w"),
        ("file:///C:/Users/li/My%20App", "file:///D:/w"),
    ],
)
def test_from_windows_to_windows_a_path_keeps_the_way_it_is_written(said: str, there: str) -> None:
    moved = PathMap.of([(WIN, "D:/w")])
    assert moved.text(said) == there
    assert moved.inverse().text(there) == said


def test_a_share_of_a_server_is_a_place_too() -> None:
    share = PathMap.of([(r"\\host\share\w", "/w")])
    assert share.text(r"\\HOST\share\w\a \\\\host\\share\\w //host/share/w") == "/w/a /w /w"
    assert share.inverse().text("/w/a") == r"\\host\share\w\a"
    assert PathMap.of([(WIN, r"\\host\w")]).text("/c/Users/li/My App/x") == "//host/w/x"


# there and back

POSIX_PATHS = st.sampled_from(
    ["/home/me/app", "/tmp", "/srv/a b/項目", "/n-1/n.2/~n+", "/项/é", "/Users/li/My App"]
)
WINDOWS_PATHS = st.sampled_from(["C:\\w", r"D:\Users\li\a b", r"e:\项目\n.2"])
PIECES = st.sampled_from(
    ["/src", "/x.py", "\\n", "\\", "/", " ", '"', "'", ":", ":12", ",", ")", "<", ".", "!", "\n",
     "\\src", "a", "file://", "\\\"", "项", "。", "=", "//"]
)  # fmt: skip


@st.composite
def texts(draw: st.DrawFn, old: str) -> str:
    text = "".join(draw(st.lists(st.one_of(PIECES, st.just(old)), max_size=12)))
    # two that are glued together are neighbours, and what is beside a path tells whether it is one
    text = text.replace(old + old, old + " " + old).replace(old + old, old + " " + old)
    # a URI that is not encoded as it should be may become one that is
    return text.replace("file://" + old, "file://" + quote(old, safe="/@+~"))


@given(st.data(), POSIX_PATHS, st.one_of(POSIX_PATHS, WINDOWS_PATHS))
def test_the_inverse_map_leads_back_wherever_the_new_path_was_not_there_before(
    data: st.DataObject, old: str, new: str
) -> None:
    text = data.draw(texts(old))
    mapping = PathMap.of([(old, new)])
    back = mapping.inverse()
    if back.text(text) == text:  # else the new path stood there already
        assert back.text(mapping.text(text)) == text


@given(st.data(), WINDOWS_PATHS, POSIX_PATHS)
def test_windows_paths_come_back_where_no_slash_was_mixed_in(
    data: st.DataObject, old: str, new: str
) -> None:
    text = data.draw(texts(old)).replace("/", "").replace("file:", "")
    mapping = PathMap.of([(old, new)])
    if mapping.inverse().text(text) == text:
        assert mapping.inverse().text(mapping.text(text)) == text


@given(st.data(), POSIX_PATHS)
def test_a_second_time_nothing_is_left_to_do(data: st.DataObject, old: str) -> None:
    once = PathMap.of([(old, "/elsewhere")]).text(data.draw(texts(old)))
    assert PathMap.of([(old, "/elsewhere")]).text(once) == once


@given(st.data(), POSIX_PATHS)
def test_what_is_no_candidate_is_not_changed(data: st.DataObject, old: str) -> None:
    mapping = PathMap.of([(old, "/elsewhere"), ("/项", "/x")])
    text = data.draw(st.one_of(texts(old), st.text()))
    if mapping.candidates([text]) == []:
        assert mapping.text(text) == text
