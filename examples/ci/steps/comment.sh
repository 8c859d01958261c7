#!/usr/bin/env bash
# Posts the markdown of diff.sh as a comment, or updates the comment of an earlier run.
#
#     comment.sh NUMBER      the pull request of GitHub, or the merge request of GitLab
#
# The comment of an earlier run is the one of this user that begins with the same marker. Another user's is left alone: its author
# could change it after this. RELAY_API is a file with another function `api`, for tests.
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source-path=SCRIPTDIR source=settings.sh
. "$here/settings.sh"
# shellcheck source-path=SCRIPTDIR source=api.sh
. "${RELAY_API:-$here/api.sh}"

number=${1-}
[[ $number =~ ^[1-9][0-9]{0,8}$ ]] || stop 'the number of a pull request is missing or malformed'
file=$out/diff.md
if [[ ! -e $file ]]; then
    say 'nothing was compared, so there is no comment'
    exit
fi
# GitHub takes 65,536 characters.
(($(wc -c <"$file") <= 262144 && $(wc -m <"$file") <= 65536)) || stop "$file is too large for a comment"
IFS= read -r marker <"$file" || true
[[ $marker =~ ^'<!-- relay-diff '([A-Za-z0-9._-]+ )?'-->'$ ]] || stop "$file does not begin with the marker of relay diff"

own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
if [[ -n ${GITLAB_CI-} ]]; then
    list=projects/$CI_PROJECT_ID/merge_requests/$number/notes
    each=$list method=PUT
    author=$(api GET user | jq -er .username)
    of_author='.author.username'
else
    list=repos/$GITHUB_REPOSITORY/issues/$number/comments
    each=repos/$GITHUB_REPOSITORY/issues/comments method=PATCH
    author=${RELAY_COMMENT_AUTHOR:-github-actions[bot]}
    of_author='.user.login'
fi

id=
for ((page = 1; page <= 50; page++)); do
    api GET "$list?per_page=100&page=$page" >"$own/page"
    # shellcheck disable=SC2016 # variables of jq
    jq -r --arg marker "$marker" --arg author "$author" \
        '.[] | select('"$of_author"' == $author) | select(.body | split("\n")[0] | rtrimstr("\r") == $marker) | .id' \
        <"$own/page" >"$own/ids"
    read -r id <"$own/ids" && break
    (($(jq length <"$own/page") == 100)) || break
done

jq -Rs '{ body: . }' <"$file" >"$own/body"
if [[ -z $id ]]; then
    api POST "$list" "$own/body" >/dev/null
    say 'posted a comment'
else
    [[ $id =~ ^[0-9]+$ ]] || stop 'the answer has a malformed id'
    api "$method" "$each/$id" "$own/body" >/dev/null
    say "updated comment $id"
fi
