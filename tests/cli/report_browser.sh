#!/bin/bash
# osprof report in a browser: its script runs and changes no number, names of others stay text and ask nobody for anything, and
# axe-core finds nothing that keeps anybody from reading it.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

need python3 chromium

# in_browser PAGE: the page as the browser has it once its script has run
in_browser() {
    local status=0
    timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking \
        --disable-component-update --no-first-run --user-data-dir="$scratch/profile" --virtual-time-budget=20000 \
        --dump-dom "file://$scratch/$1" 2>browser.log || status=$?
    [ "$status" = 0 ] || fail "the browser fails: $(tail -n 5 browser.log)"
}

# drag: a script that drags a mouse over the first map, from a tenth to eight tenths of the time, and tells what becomes of
# cells outside of that
drag() {
    cat <<'END'
<script>
const box = document.querySelector("svg.map .frame").getBoundingClientRect();
for (const [type, part] of [["pointerdown", 0.1], ["pointerup", 0.8]])
    document.querySelector("svg.map").dispatchEvent(new PointerEvent(type,
        {bubbles: true, pointerType: "mouse", clientX: box.left + part * box.width, clientY: box.top + 1}));
document.body.dataset.outside = getComputedStyle(document.querySelector("svg.cells")).overflowX;
</script>
END
}

# says WHAT PAGE [JSON]
says() {
    python3 "$tests_dir/../cli/report_page.py" "$@"
}

# ---- Numbers, and the script
expect 0 report -o page.html "$data/plot-sampled.osprof"
"$OSPROF" show --json "$data/plot-sampled.osprof" >numbers.json
in_browser page.html >seen.html
assert_eq 4 "$(says seen seen.html numbers.json)" "pictures in the browser"
grep -q 'aria-label="zoom in"' seen.html || fail "its script has not run: $(<browser.log)"

# ---- Names of others: a server on this machine hears of each request that one of them makes.
cat >server.py <<'END'
import http.server
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, flush=True)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, file=open("port", "w"), flush=True)
server.serve_forever()
END
python3 server.py >asked &
server=$!
before_cleanup() { kill "$server" 2>/dev/null || true; }
wait_until 20 test -s port || fail "no server"
url=http://127.0.0.1:$(<port)
# Both of two profiles have them, in their own names too.
name="</script><script>document.title='run';fetch('$url/script')</script><img src=$url/image onerror=document.title='run'>\"><link rel=stylesheet href=$url/style>"
long=$(printf '/<b>%.0s' {1..1000}) # 4 KB; another path of the profile has a newline
sed "s|^# lower: .*|# lower: $name $long|; s|^# process: 4711 .*|# process: 4711 $name|" \
    "$data/show-answer.osprof" >new.osprof
grep -q '^# file: .*\\012' new.osprof || fail "no path has a newline"
grep -q "process: 4711 </script>" new.osprof || fail "no process has the name"
sed "s|^# lower: .*|# lower: $name and more|; s|^OP_FSYNC .*|OP_FSYNC 1 100000000|" "$data/show-answer.osprof" |
    awk '/^OP_FSYNC/ { print; getline; print " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1"; next } { print }' >old.osprof
file="<script>document.title='run'<&\"><img src=x onerror=document.title='run'>.osprof"
mv old.osprof "$file"
expect 0 report -o hostile.html "$file" -- new.osprof
says text hostile.html | grep -qF -e "$name and more" || fail "the older name is not there as text"
says text hostile.html | grep -qF -e "A $file: " || fail "the name of the older file is not there as text"
says text hostile.html | grep -qF -e "$long" || fail "the long path is not there as text"
in_browser hostile.html >seen.html
assert_eq "" "$(<asked)" "what the page asks for"
! grep -q '<title>run' seen.html || fail "a name runs as a script"
printf '<!doctype html><title>x</title><p>%s' "$name" >open.html
in_browser open.html >/dev/null
[ -s asked ] || fail "the server hears nothing of a page that does ask"

# ---- For everybody, and what has changed
expect 0 report -o pair.html "$data/compare-before.osprof" -- "$data/compare-after.osprof"
expect 0 report -o answer.html "$data/show-answer.osprof"
expect 0 report -o layers.html "$data/layers.osprof"
if have npm && timeout 60 npm pack axe-core@4 --silent >packed 2>/dev/null && tar -xzf "$(<packed)" package/axe.min.js; then
    for page in answer layers pair; do
        # of a copy without its policy, which would forbid that script
        {
            sed '/^<meta http-equiv/d; /^<\/body>/,$d' $page.html
            echo '<script>'
            cat package/axe.min.js
            printf '</script>\n<script>axe.run().then(found => document.title = "axe: " + found.passes.length + " " +
                JSON.stringify(found.violations.map(v => [v.id, v.nodes.map(n => n.html)])))</script></body></html>'
        } >tried.html
        [ $page != pair ] || drag >>tried.html
        in_browser tried.html >seen.html
        grep -oE '<title>axe: [1-9][0-9]* .*</title>' seen.html >found || fail "axe-core does not end: $(<browser.log)"
        grep -qE '<title>axe: [0-9]+ \[\]</title>' found || fail "axe-core of $page: $(<found)"
    done
else
    echo "axe-core is not tried: npm cannot get it" >&2
    { sed '/^<meta http-equiv/d; /^<\/body>/,$d' pair.html && drag; } >tried.html
    in_browser tried.html >seen.html
fi
grep -oE ' from 0[.]4[0-9]* to 3[.]2[0-9]*</span>' seen.html >found || fail "dragging a mouse zooms into: $(grep -o 'role="status">[^<]*' seen.html)"
grep -qE 'data-outside="(hidden|clip)"' seen.html || fail "cells outside of what is zoomed into are drawn: $(grep -o 'data-outside="[^"]*"' seen.html)"
"$OSPROF" compare --json "$data/compare-before.osprof" "$data/compare-after.osprof" >numbers.json || [ $? = 1 ]
assert_eq "READ READDIRPLUS" "$(says seen-changed seen.html numbers.json)" "what has changed, in the browser"
