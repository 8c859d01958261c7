#!/usr/bin/env bash
# Tries examples/ci: every step in a temporary repository, with pull requests and with an API on loopback in place of GitHub and GitLab.
#
#     examples/ci/try.sh FOLDER
#
# FOLDER has the binary `relay`. Needs bash, curl, git, jq, Python 3 and unzip.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$(cd "${1:?the folder with the binary}" && pwd)
steps=$here/steps
dir=$(mktemp -d)
# Nothing of the job that runs this: neither its own repository nor its own settings.
export PATH="$bin:$PATH" HOME=$dir CI=true LC_ALL=C.UTF-8 NO_COLOR=1 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost
unset "${!RELAY_@}" "${!GITHUB_@}" "${!GITLAB_@}" "${!CI_@}" GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

cd "$dir"
api=
clean_up() {
    local status=$?
    [[ -z $api ]] || kill "$api" 2>/dev/null || true
    wait
    ((status == 0)) || { echo "FAIL: status $status"; tail -n 20 "$dir/log" 2>/dev/null || true; }
    cd /
    rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

part() { echo "-- $*"; }
fail() { echo "FAIL: $*" >&2; exit 1; }
# ends CODE COMMAND ...: runs a command whose exit code must be this; its output is in the file `log`.
ends() {
    local expected=$1 status=0
    shift
    "$@" >"$dir/log" 2>&1 || status=$?
    ((status == expected)) || fail "exit code $status, not $expected: $*"
}
says() { grep -qF -- "$1" "$dir/log" || { cat "$dir/log"; fail "not said: $1"; }; }
has() { grep -qF -- "$2" "$1" || { cat "$1"; fail "$1 has not: $2"; }; }
lacks() { ! grep -qF -- "$2" "$1" || fail "$1 has: $2"; }
step() { "$steps/$1.sh" "${@:2}"; }
commit() { git add --all && git commit --quiet --message "$1"; }

part 'a repository with a project in a folder, and a clone of it'
git init --quiet --initial-branch main origin
cd origin
mkdir team
cat >team/project.kdl <<'KDL'
project team version="1.0.0" epoch=1
gate on { unlock else=refuse }
prompts { prompt rules { summary "House rules"; text "Ask first." } }
KDL
commit first
cd ..
git clone --quiet "file://$dir/origin" clone
cd clone
export RELAY_PROJECT=team

part 'main: check, build, verify, sign'
ends 0 step check
ends 0 step build
ends 0 step build
[[ $(relay inspect relay-ci/bundle.relay --json | jq .provenance.git.dirty) = false ]] || fail dirty
[[ -z $(git status --porcelain) ]] || fail 'the steps change the repository'
ends 0 step verify
relay keygen -o ../release >../trust.toml 2>/dev/null
ends 1 env RELAY_TRUST=../trust.toml "$steps/verify.sh"
ends 2 step sign
says 'RELAY_KEY is empty'
RELAY_KEY=$(cat ../release.key) TMPDIR=$dir ends 0 step sign
lacks "$dir/log" "$(sed -n 2p ../release.key)"
ends 0 env RELAY_TRUST=../trust.toml "$steps/verify.sh"
[[ -z $(find "$dir" -mindepth 1 -maxdepth 1 -name 'tmp.*') ]] || fail 'the key is left'
RELAY_KEY=nonsense TMPDIR=$dir ends 2 step sign
[[ -z $(find "$dir" -mindepth 1 -maxdepth 1 -name 'tmp.*') ]] || fail 'a key is left'

part 'a pull request without a difference in meaning'
git switch --quiet --create comments
sed -i '1i // What the team reads.' team/project.kdl
commit comments
ends 0 step diff
[[ $(head -n 1 relay-ci/diff.md) = '<!-- relay-diff team -->' ]] || fail 'no marker'
has relay-ci/diff.md 'o difference in meaning'
says 'no difference in meaning'

part 'a pull request that loosens, while main moves on'
git switch --quiet --create loosens origin/main
sed -i 's/else=refuse/else=intercept/' team/project.kdl
commit loosens
git -C ../origin commit --quiet --allow-empty --message other
sed -i 's/Ask first/Ask twice/' ../origin/team/project.kdl
git -C ../origin commit --quiet --all --message elsewhere
git fetch --quiet
export GITHUB_STEP_SUMMARY=$dir/summary
ends 1 step diff
unset GITHUB_STEP_SUMMARY
has relay-ci/diff.md loosens
lacks relay-ci/diff.md 'Ask'
cmp -s "$dir/summary" relay-ci/diff.md || fail 'the job summary differs'
ends 1 env GITHUB_ACTIONS=true "$steps/diff.sh"
says 'file=team/project.kdl,line=2'
ends 0 env RELAY_FAIL_ON=breaking "$steps/diff.sh"
# Of the commit, while the work tree has another: what the second workflow does.
head=$(git rev-parse HEAD)
git switch --quiet --detach origin/main
ends 1 env RELAY_HEAD="$head" "$steps/diff.sh"
has relay-ci/diff.md loosens
git switch --quiet loosens

part 'a change does not accept its own finding'
fingerprint=$(relay diff origin/main~2:team team --json --only authority | jq -r '.projects[0].findings[0].fingerprint')
printf '[[accepted]]\nfingerprint = "%s"\nreason = "visitors need no briefing"\n' "$fingerprint" >team/relay-accepted.toml
ends 1 step diff
has relay-ci/diff.md 'accepted by this change alone: '

part 'a finding that the base accepts fails nothing'
mv team/relay-accepted.toml ../origin/team/
git -C ../origin add --all
git -C ../origin commit --quiet --message accept
git fetch --quiet
loosens=$(git rev-parse HEAD)
git merge --quiet --no-edit --strategy-option ours origin/main
sed -i 's/Ask first/Ask twice/' team/project.kdl
commit merged
ends 0 step diff
has relay-ci/diff.md 'accepted: '
git reset --quiet --hard "$loosens"

part 'a project with errors, and clones without the base'
printf 'nonsense {' >>team/project.kdl
ends 1 step check
ends 1 step build
ends 2 step diff
[[ ! -e relay-ci/diff.md ]] || fail 'a diff of an earlier run is left'
git checkout --quiet -- team
ends 2 env RELAY_BASE=origin/nowhere "$steps/diff.sh"
says 'git fetch origin nowhere'
git clone --quiet --depth 1 "file://$dir/origin" ../shallow
cd ../shallow
git switch --quiet --orphan other
git commit --quiet --allow-empty --message other
ends 2 step diff
says 'git fetch --unshallow'
ends 2 step build
says 'git fetch --unshallow'
cd ../clone

part 'one comment: posted, updated, and not that of someone else'
mkdir ../api
python3 "$here/api.py" ../api >../port &
api=$!
for ((tries = 0; tries < 100; tries++)); do [[ ! -s ../port ]] || break; sleep 0.1; done
url=http://127.0.0.1:$(cat ../port)
export GITHUB_API_URL=$url GITHUB_REPOSITORY=team/repo RELAY_TOKEN=secret-token
bodies() { jq -r .body ../api/comments; }
count() { wc -l <../api/comments; }
jq -cn '{ id: 1, user: { login: "mallory" }, body: "<!-- relay-diff team -->\nno difference in meaning" }' >../api/comments
for ((id = 2; id <= 130; id++)); do
    printf '{ "id": %s, "user": { "login": "github-actions[bot]" }, "body": "%s" }\n' "$id" 'Thanks.\n<!-- relay-diff team -->'
done >>../api/comments
ends 0 step comment 7
says 'nothing was compared'
ends 1 step diff
ends 0 step comment 7
says 'posted a comment'
(($(count) == 131)) || fail 'not one comment more'
has <(bodies) loosens
lacks "$dir/log" secret-token
git switch --quiet comments
ends 0 step diff
ends 0 step comment 7
says 'updated comment 131'
(($(count) == 131)) || fail 'not the same comment'
lacks <(bodies) loosens
has <(tail -n 1 ../api/comments) 'o difference in meaning'
has <(head -n 1 ../api/comments) mallory
for number in '' 0 07 '7/../8' '-1' '7 8' 99999999999; do ends 2 step comment "$number"; done
RELAY_TOKEN=wrong ends 22 step comment 7
mv relay-ci/diff.md ../diff.md
{ head -n 1 ../diff.md; head -c 70000 /dev/zero | tr '\0' x; } >relay-ci/diff.md
ends 2 step comment 7
says 'too large'
printf 'No marker\n' >relay-ci/diff.md
ends 2 step comment 7
says 'marker'
mv ../diff.md relay-ci/diff.md
# Another way to comment: one function.
# shellcheck disable=SC2016 # for the step
printf 'api() { if [[ $1 = GET ]]; then echo "[]"; else echo "$1 $2" >../said; fi; }\n' >../other.sh
RELAY_API=../other.sh ends 0 step comment 7
[[ $(cat ../said) = 'POST repos/team/repo/issues/7/comments' ]] || fail 'the function is not used'

part 'the same in GitLab'
rm ../api/comments
export GITLAB_CI=true CI_API_V4_URL=$url CI_PROJECT_ID=5
ends 0 step comment 7
says 'posted a comment'
ends 0 step comment 7
says 'updated comment 1'
(($(count) == 1)) || fail 'not one comment'
has ../api/requests 'PUT /projects/5/merge_requests/7/notes/1'
unset GITLAB_CI

part 'the second workflow does not believe the artifact of the first'
git push --quiet origin "$head:refs/pull/7/head"
archive() { python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w", 8).writestr(sys.argv[2], sys.stdin.read())' ../api/zip "$1"; }
pull() { printf '{ "state": "%s", "head": { "sha": "%s" }, "base": { "ref": "%s" } }' "$1" "$2" "${3-main}" >../api/pull; }
printf 7 | archive number
pull open "$head"
ends 0 step pull 12 "$head"
[[ $(cat "$dir/log") = $'number=7\nbase=origin/main' ]] || fail 'not the number'
pull open "$head" 'main\nnumber=8'
ends 2 step pull 12 "$head"
says 'unusual name'
pull closed "$head"
ends 2 step pull 12 "$head"
pull open "$(git rev-parse origin/main)"
ends 2 step pull 12 "$head"
says 'last commit is another'
ends 2 step pull 12 "$(git rev-parse origin/main)"
says 'has changed since the run'
pull open "$head"
for number in '' 0 '7; id' $'7\n8' 77777777777777777777; do
    printf '%s' "$number" | archive number
    ends 2 step pull 12 "$head"
    says 'malformed'
done
printf 7 | archive ../number
ends 2 step pull 12 "$head"
head -c 2000000 /dev/urandom >../api/zip
ends 2 step pull 12 "$head"
says 'too large'
ends 2 step pull 'x' "$head"
ends 2 step pull 12 HEAD

part 'the workflows name steps that exist, and actions by their commits'
for file in "$here"/github/*.yml; do
    lacks <(grep 'uses:' "$file" | grep -vE '@[0-9a-f]{40} ') 'uses:'
    python3 -c 'import sys
try: import yaml
except ImportError: sys.exit()
yaml.safe_load(open(sys.argv[1]))' "$file"
done
grep -ohE '(\.github|ci)/relay/[a-z]+\.sh' "$here"/github/*.yml "$here"/gitlab/.gitlab-ci.yml | sort -u | while read -r used; do
    [[ -x $steps/${used##*/} ]] || fail "no step $used"
done
part 'the hooks of pre-commit'
if command -v pre-commit >/dev/null; then
    hooks=$dir/hooks
    mkdir "$hooks"
    cp "$here/../../.pre-commit-hooks.yaml" "$hooks/"
    git -C "$hooks" init --quiet
    git -C "$hooks" add .
    git -C "$hooks" commit --quiet --message hooks
    git switch --quiet --create hooks
    cat >.pre-commit-config.yaml <<YAML
repos:
  - repo: file://$hooks
    rev: $(git -C "$hooks" rev-parse HEAD)
    hooks:
      - id: relay-check
        args: [team, --strict]
      - id: relay-fmt
        args: [team]
YAML
    relay fmt team >/dev/null
    commit hooks
    ends 0 pre-commit run --all-files
    printf 'tools   {   diagnostics }\n' >>team/project.kdl
    ends 1 pre-commit run --all-files
    says 'files were modified by this hook'
    git checkout --quiet -- team
    printf 'nonsense\n' >>team/project.kdl
    ends 1 pre-commit run relay-check --all-files
    says 'unknown node'
    echo '- nothing of a project' >README.rst
    git checkout --quiet -- team
    git add README.rst
    ends 0 pre-commit run
    says 'Skipped'
else
    echo 'skip: pre-commit is not installed'
fi
echo 'ci: all parts'
