#!/usr/bin/env bash
# Draws examples/diff/NAME.svg: what examples/diff/NAME.sh prints in a terminal of 110 columns.
#
#     examples/diff/picture.sh loosens|firewall
#
# Needs tmux, and python3 with venv and a package index.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$1
[[ -x $here/$name.sh ]] || { echo "no script $here/$name.sh" >&2; exit 2; }
dir=$(mktemp -d)
server=relay-picture-$$
trap 'tmux -L "$server" kill-server 2> /dev/null || true; rm -rf "$dir"' EXIT

python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check rich==14.2.0

# The terminal is as it is for a user: a tty of its own, with colours.
command="printf '\$ examples/diff/$name.sh\n'; '$here/$name.sh'; tmux -L $server wait-for -S drawn; sleep 60"
tmux -L "$server" -f /dev/null new-session -d -x 110 -y 40 "env -u NO_COLOR LC_ALL=C.UTF-8 PATH='$PATH' bash -c \"$command\""
tmux -L "$server" wait-for drawn
tmux -L "$server" capture-pane -e -p > "$dir/screen"

"$dir/venv/bin/python" - "$dir/screen" "$here/$name.svg" << 'PYTHON'
import sys
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

screen, picture = sys.argv[1:]
text = open(screen, encoding="utf-8").read().rstrip("\n")
# Colours that are read on a light page and on a dark one: the picture brings its own background.
theme = TerminalTheme(
    (22, 27, 34), (230, 237, 243),
    [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207), (177, 186, 196)],
)
console = Console(record=True, width=110, file=open("/dev/null", "w"), force_terminal=True, color_system="truecolor")
console.print(Text.from_ansi(text), soft_wrap=True)
# No font is fetched from anywhere: the page's monospace font does.
form = """<svg class="terminal" viewBox="0 0 {terminal_width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="#161b22" width="{terminal_width}" height="{height}" rx="8"/>
<g transform="translate(9, 9)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""
console.save_svg(picture, title="relay diff", theme=theme, code_format=form, unique_id="relay")
PYTHON
echo "drew $here/$name.svg"
