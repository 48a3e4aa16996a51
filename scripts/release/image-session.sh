#!/bin/sh
# What `npm run test:image` does inside of the image, as its user: starts the gateway, opens a page, looks at the process
# that shows it, stops.
set -eu
mkdir -p "$HOME/.svc"
echo '{ gateway: { port: 18789 }, browser: { defaultProfile: "managed", headless: true } }' >"$HOME/.svc/svc.json"
node --disable-sigusr1 /usr/local/bin/svc gateway --quiet &
gateway=$!
tries=0
until node -e 'fetch("http://127.0.0.1:18789/readyz").then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))'; do
  tries=$((tries + 1))
  if [ "$tries" -gt 100 ] || ! kill -0 "$gateway"; then
    echo "the gateway is not ready"
    exit 1
  fi
  sleep 0.2
done
echo ready
svc browser start
svc browser open about:blank >/dev/null
svc browser tabs | sed -n 's/^1\. /tab: /p'
for process in /proc/[0-9]*; do
  if tr '\0' ' ' <"$process/cmdline" 2>/dev/null | grep -q -e '--type=renderer'; then
    own=$(readlink /proc/self/ns/user)
    its=$(readlink "$process/ns/user" || echo "not readable")
    if [ "$own" != "$its" ]; then kind="its own user namespace"; else kind="no namespace of its own"; fi
    echo "renderer: $kind, seccomp $(sed -n 's/^Seccomp:[[:space:]]*//p' "$process/status")"
    break
  fi
done
svc stop >/dev/null
wait "$gateway"
echo stopped
