#!/bin/sh
# Makes a Debian system into the image: the one place where its steps stand. The Dockerfile calls it step by step, and
# `npm run test:image` does the same in a fresh Debian root, where no container engine is needed.
#
#   image.sh base       for both images: certificates, time zones, an init, the user
#   image.sh browser    for the image `svc`: Debian's Chromium, fonts, bubblewrap
#   image.sh program <tarball> <prefix>    the packed program, by npm
#   image.sh check slim|svc                what the image must hold
#   image.sh --dry-run ...                 prints the commands and runs none
set -eu

base_packages="ca-certificates tzdata tini"
# Chinese, Japanese and Korean pages, and emoji, are boxes without these. Not chromium-sandbox: its setuid helper gains
# nothing under no-new-privileges, the sandbox is made of namespaces here.
browser_packages="bubblewrap chromium fonts-liberation fonts-noto-cjk fonts-noto-color-emoji fonts-noto-core"
# Far from those of people: a volume that is mounted elsewhere belongs to nobody there by accident.
user_id=10001
home=/var/lib/svc

dry=
if [ "${1:-}" = --dry-run ]; then
  dry=yes
  shift
fi

run() {
  if [ -n "$dry" ]; then echo "$*"; else "$@"; fi
}

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  run apt-get update -q
  # Without what is only recommended: no desktop comes along.
  run apt-get install -y -q --no-install-recommends "$@"
  run apt-get clean
  run find /var/lib/apt/lists -mindepth 1 -delete
}

base() {
  # shellcheck disable=SC2086 # a list of words
  install_packages $base_packages
  run groupadd --system --gid "$user_id" svc
  run useradd --system --uid "$user_id" --gid svc --home-dir "$home" --shell /usr/sbin/nologin svc
  run install -d -m 700 -o svc -g svc "$home" "$home/.svc"
  run ln -sf /opt/svc/bin/svc /usr/local/bin/svc
}

browser() {
  # shellcheck disable=SC2086
  install_packages $browser_packages
}

program() {
  # No scripts of packages are run, and none of ours has any.
  run npm install --global --prefix "$2" --ignore-scripts --no-audit --no-fund "$1"
}

has() {
  if [ -n "$dry" ]; then
    echo "needs $1"
  elif ! command -v "$1" >/dev/null; then
    echo "image.sh: $1 is missing" >&2
    exit 1
  fi
}

check() {
  for name in node tini svc; do has "$name"; done
  if [ "$1" = svc ]; then for name in chromium bwrap; do has "$name"; done; fi
  run svc --version
}

case "${1:-}" in
  base | browser) "$1" ;;
  program) program "${2:?the tarball}" "${3:?the prefix}" ;;
  check) check "${2:?slim or svc}" ;;
  *)
    sed -n 's/^#   //p' "$0" >&2
    exit 2
    ;;
esac
