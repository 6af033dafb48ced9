"""What a shell line does that others would see, and what it only talks about."""

from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handsoff.core.shell.deed import Deed, edited
from handsoff.core.shell.deeds import deeds
from handsoff.core.shell.shellwords import commands
from handsoff.core.shell.tools import deeds_of

PUSHES = r"""
git push
git push -f origin HEAD
/usr/bin/git push
git -C d push
git -C d -c k=v --git-dir=x/.git --no-pager push
git --git-dir x/.git --work-tree . push origin main
FOO=1 git push
FOO=1 BAR="a b" git push
env -i git push
env -u HOME A=1 git push
env -S 'git push'
command git push
builtin command git push
exec git push
sudo git push
sudo -u li -E git push
doas git push
echo x | xargs git push
xargs -I{} -n 1 git push {}
time git push
time -p git push
nohup git push &
timeout 5 git push
timeout -s KILL 5s git push
nice -n 5 git push
nice -5 git push
stdbuf -oL git push
setsid -w git push
flock /tmp/lock git push
flock /tmp/lock -c 'git push'
sh -c 'git push'
bash -lc "git push"
bash -e -c 'git push' x y
bash -o pipefail -c 'cd a && git push'
/bin/sh -c "sh -c 'git push'"
su li -c 'git push'
eval "git push"
eval git push
eval 'eval "git push"'
trap 'git push' EXIT
make && git push
make; git push
make || git push
make | git push
make & git push
make ; (git push)
( cd d ; git push )
{ git push; }
if true; then git push; fi
while ! git push; do sleep 1; done
for x in a b; do git push $x; done
case $x in a) git push;; esac
f() { git push; }; f
function f { git push; }
! git push
echo $(git push)
echo "$(git push)"
echo "a $(echo "b $(git push) c") d"
echo `git push`
echo "`git push`"
x=$(git push)
echo ${x:-$(git push)}
cat <(git push)
g""it push
g'i't pu"sh"
gi\t push
$'git' $'pu\x73h'
git   push
	git	push
git push 2>&1 | tail -5
git push >out 2>err
2>&1 git push
>log git push
git push&>log
git -c alias.p=push p origin
git -c alias.p='!git push' p
git send-pack origin main
git submodule foreach 'git push'
git rebase -x 'git push' main
git rebase --exec='git push' main
git bisect run git push
find . -name x -exec git push ;
watch 'git push'
bash <<< "git push"
echo "git push" | sh
printf 'git push\n' | bash -s
git commit -m "$(git push)"
git push origin main -- x
git push --force-with-lease
git push -on x
git push -o n
GIT push
git.exe push
cmd /c "git push"
powershell -Command "git push"
pwsh -NoProfile -c 'cd x; git push'
git commit --amend --no-edit && git push --force
sudo -S git push
env -iS "git push"
env -S "sh -c 'git push'"
systemd-run --user -u x git push
ssh-agent git push
bash -euo pipefail -c 'git push'
bash -s -- a <<< 'git push'
bash /dev/stdin <<< "git push"
fish --command='git push'
git rebase -x'git push' main
git-push origin
/usr/lib/git-core/git-push
trap -- 'git push' EXIT
watch -n 5 git push
find . -exec true \; -exec git push \;
find . -okdir git push \;
x=($(git push))
echo ${x:-"}"}; git push
"""

NOTHING = r"""
git commit -m "git push"
git commit -m 'x; git push'
git commit -am "do not && git push yet"
echo git push
echo "git push"
printf '%s\n' 'git push'
grep "git push" -r .
rg 'git push' src | head
git log --grep 'git push'
git log -S 'git push'
git config alias.p push
git stash push
git stash push -m "git push"
git lfs push origin
git subtree push
git help push
git push --help
git --help push
git-push --help
git push -n
x=(a; git push)
git push --dry-run origin main
git push -fn origin
man git-push
which git push
command -v git push
# git push
ls # && git push
x=git push=1
git branch push
git checkout push
git remote show push
mygit push
gitpush
cat push
docker push image
npm run push
sed -i 's/git push/git pull/' f
awk '{ print "git push" }' f
python -c "print('git push')"
test "git push" = x
ls > "git push"
args=(git push)
gh pr list
gh pr view 3
gh pr create --help
gh issue create
gh repo view
echo gh pr create
bash deploy.sh
sh ./x git push
'git push'
echo '$(git push)'
echo "\$(git push)"
echo \`git push\`
sudo echo git push
env FOO="git push" make
time echo git push
"""

DOCUMENTS = [
    ("cat > f <<'EOF'\ngit push\n$(git push)\nEOF\nls", 0),
    ("cat > f <<EOF\ngit push\nEOF\n", 0),
    ("cat > f <<EOF\n$(git push)\nEOF\n", 1),
    ("cat > f <<-EOF\n\tgit push\n\tEOF\ngit push", 1),
    ("cat <<A <<B\ngit push\nA\ngit push\nB\ngit push", 1),
    ("bash <<EOF\ngit push\nEOF", 1),
    ("cat <<'EOF' | sh\ngit push\nEOF", 1),
    ("git commit -m \"$(cat <<'EOF'\nfix: it's (not) git push\n\ngit push\nEOF\n)\"", 0),
    ("git commit -m \"$(cat <<'EOF'\nfix: it's\nEOF\n)\" && git push", 1),
    ("git commit -F - <<EOF\ngit push\nEOF\ngit push origin", 1),
    ("cat <<EOF\nno end\ngit push", 0),
    ("echo $((1 << 2))\ngit push", 1),
    ("((x = 1 << 2))\ngit push", 1),
    ("(cat <<EOF\ngit push\nEOF\n)", 0),
]


def kinds(text: str, *, windows: bool = False) -> list[str]:
    given = {"tool_name": "PowerShell" if windows else "Bash", "tool_input": {"command": text}}
    return [deed.kind for deed in deeds_of(given)]


@pytest.mark.parametrize("text", PUSHES.strip("\n").split("\n"))
def test_a_push_is_seen(text: str) -> None:
    assert kinds(text) == ["push"]


@pytest.mark.parametrize(
    "text", ["git \\\n  push", "git pu\\\nsh", "git commit -m 'a\nb' && git push"]
)
def test_a_push_over_two_lines_is_seen(text: str) -> None:
    assert kinds(text) == ["push"]


@pytest.mark.parametrize("text", NOTHING.strip("\n").split("\n"))
def test_what_is_only_talked_about_is_no_push(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize(("text", "count"), DOCUMENTS)
def test_a_here_document_is_data_unless_a_shell_reads_it(text: str, count: int) -> None:
    assert len(deeds(text)) == count


@pytest.mark.parametrize(
    "text",
    ["gh pr create --fill", "gh pr merge 3 --squash", "gh -R o/r pr merge", "gh pr -R o/r new",
     "cd x && gh pr create -t 'a b'"],
)  # fmt: skip
def test_a_pull_request_is_seen(text: str) -> None:
    assert kinds(text) == ["pr"]


@pytest.mark.parametrize(
    "text",
    ["git push", "& git push", '& "C:\\Program Files\\Git\\bin\\git.exe" push', "cd x; git push",
     "if ($true) { git push }", "C:\\Git\\git.exe push", "iex 'git push'", "gi`t push",
     "Write-Output $(git push)"],
)  # fmt: skip
def test_the_simple_case_of_powershell_is_seen(text: str) -> None:
    assert kinds(text, windows=True) == ["push"]


@pytest.mark.parametrize("text", ['Write-Output "git push"', "git commit -m 'git push'"])
def test_powershell_may_talk_about_a_push(text: str) -> None:
    assert kinds(text, windows=True) == []


@pytest.mark.parametrize(
    ("text", "cd", "names", "everything"),
    [
        ("git push", (), (), False),
        ("cd a && git -C b -C c push", ("a", "b", "c"), (), False),
        ("(cd a; ls); git push", (), (), False),
        ("cd -P a; sh -c 'cd b; git push'", ("a", "b"), (), False),
        ("env -C a git push", ("a",), (), False),
        ("cd; git push", ("-",), (), False),
        ("git push origin main", (), ("main",), False),
        ("git push origin +HEAD:refs/heads/feat/x b:c +d", (), ("feat/x", "c", "d"), False),
        ("git push -u origin HEAD", (), (), False),
        ("git push origin :feat/x", (), ("feat/x",), False),
        ("git push --delete origin feat/x", (), ("feat/x",), False),
        ("git push -o a origin x", (), ("x",), False),
        ("git push --all origin", (), (), True),
        ("git push origin :", (), (), True),
    ],
)
def test_a_push_says_from_where_and_what(
    text: str, cd: tuple[str, ...], names: tuple[str, ...], *, everything: bool
) -> None:
    (deed,) = deeds(text)
    assert (deed.cd, deed.names, deed.everything) == (cd, names, everything)


def test_a_git_folder_that_is_named_decides() -> None:
    folders = [d.git_dir for d in deeds("GIT_DIR=a git push; git --git-dir=b push")]
    assert folders == ["a", "b"]


def test_a_patch_names_its_files() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: a b.txt\n+x\n  *** Update File: src/x.py\n"
        "*** Move to: src/y.py\n@@\n-*** Delete File: not this\n*** Delete File: z\n*** End Patch"
    )
    assert edited(patch) == ["a b.txt", "src/x.py", "src/y.py", "z"]
    (deed,) = deeds(f"cd d && apply_patch <<'EOF'\n{patch}\nEOF")
    assert (deed.kind, deed.cd, edited(deed.text)) == ("patch", ("d",), edited(patch))


PIECES = st.sampled_from(
    ["git", "push", " ", "\n", "'", '"', "\\", "`", "$(", ")", "(", "{", "}", "<<E", "E", "<<<",
     ">", "&", "&&", "|", ";", "$'", "${", "#", "sh -c ", "eval ", "env -S ", "xargs ", "\\x7",
     "-c alias.a=!", "find -exec ", "case", "a", "é", "\ud800", "\0", "=", "-", "--"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join), st.booleans())
@example("$(" * 3000 + "git push", False)
@example("`" * 3000 + "git push", False)
@example("sh -c '" * 500 + "git push", True)
@example("<<E " * 2000 + "\ngit push", False)
def test_no_line_makes_it_fail(text: str, windows: bool) -> None:
    assert all(isinstance(deed, Deed) for deed in deeds(text, windows=windows))
    assert all(command.words for command in commands(text, windows=windows))


WORDS = st.text(st.characters(exclude_characters="'\0", exclude_categories=["Cs"]), max_size=30)


@given(WORDS)
def test_what_stands_in_single_quotes_is_never_run(text: str) -> None:
    assert kinds(f"git commit -m '{text} git push' && ls '{text}'") == []
    assert kinds(f"echo '{text}'; git push '{text}'") in (["push"], [])


def test_a_long_line_is_read_in_no_time() -> None:
    assert kinds("x" * 10**6 + "\ngit push") == []  # behind the limit: data
    assert kinds("echo 'push' \"a\\b\" $x; " * 5000 + "git push") == ["push"]


@pytest.mark.parametrize("part", ["cd a;", "sudo ", "env ", "a=b ", "xargs ", "env -S 'env -S "])
def test_a_long_line_takes_no_longer_than_its_length(part: str) -> None:
    before = process_time()
    deeds_of({"tool_name": "Bash", "tool_input": {"command": part * 20_000 + "; git push"}})
    assert process_time() - before < 2


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        ("repos/o/r/pulls -f title=x -f head=y", True),
        ("-X POST /repos/o/r/pulls --input -", True),
        ("--method=PUT repos/o/r/pulls/3/merge", True),
        ("graphql -f query='mutation { createPullRequest(input: {}) { id } }'", True),
        ("repos/o/r/pulls", False),
        ("-X GET repos/o/r/pulls -f state=open", False),
        ("repos/o/r/pulls/3/merge", False),
        ("repos/o/r/pulls/3/comments -f body=x", False),
        ("graphql -f query='{ viewer { login } }'", False),
    ],
)
def test_a_pull_request_by_the_interface_of_the_host_is_seen(words: str, asks: bool) -> None:
    assert kinds(f"gh api {words}") == (["pr"] if asks else [])
