#!/usr/bin/env node
// Stands in for the command of Tailscale (1.52 and newer): refuses what it refuses, and keeps its configuration in
// TAILSCALE_STAND_IN (a JSON file: {state, name, funnel, paths, calls}).
// Rules: cmd/tailscale/cli/serve_v2.go (flags before the target; `--set-path` with --bg merges; what is off cannot be
// switched off), https://tailscale.com/docs/reference/tailscale-cli/funnel, and its status as JSON (ipnstate.Status).
import { readFileSync, renameSync, writeFileSync } from "node:fs"

const file = process.env.TAILSCALE_STAND_IN
const state = JSON.parse(readFileSync(file, "utf8"))
const parameters = process.argv.slice(2)
state.calls.push(parameters.join(" "))
const save = () => {
  writeFileSync(`${file}.new`, JSON.stringify(state))
  renameSync(`${file}.new`, file)
}
const fail = (text) => {
  save()
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

const [command, ...rest] = parameters
if (command === "status") {
  if (rest.join(" ") !== "--json") fail("flag provided but not defined")
  save()
  process.stdout.write(JSON.stringify({ BackendState: state.state, Self: { DNSName: `${state.name}.` } }))
  process.exit(0)
}
if (command !== "funnel" && command !== "serve") fail(`unknown command ${command}`)
const flags = new Map()
while (rest[0]?.startsWith("-")) {
  const [name, value] = rest.shift().split(/=(.*)/s)
  if (!["--bg", "--yes", "--https", "--set-path"].includes(name)) fail(`flag provided but not defined: ${name}`)
  flags.set(name, value ?? "true")
}
if (rest.length !== 1) fail("error: invalid number of arguments")
const [target] = rest
const path = flags.get("--set-path") ?? "/"
if (!path.startsWith("/")) fail(`invalid mount point: ${path}`)
if (state.state !== "Running") fail("error: Tailscale is stopped.")
if (target === "off") {
  if (!(path in state.paths)) fail("error: handler does not exist")
  delete state.paths[path]
} else {
  if (!URL.canParse(target)) fail("error: invalid argument format")
  if (command === "funnel" && !state.funnel) {
    save()
    process.stdout.write(
      "Funnel is not enabled on your tailnet.\nTo enable, visit:\n\n  https://login.tailscale.com/f/funnel\n",
    )
    // The real one waits until somebody has allowed it.
    if (!state.endsWhenRefused) await new Promise((resolve) => setTimeout(resolve, 600_000))
    process.exit(1)
  }
  if (flags.get("--bg") !== "true") fail("the stand-in has no foreground")
  state.paths[path] = { target, public: command === "funnel" }
}
save()
