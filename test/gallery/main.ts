// `npm run gallery [-- <page> ...]`: works real interface libraries with the product and with Playwright MCP, on the same
// pages, by the same policy, and prints what each has done, with how many calls and tokens.
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { writeSection } from "../../bench/document.ts"
import { buildPages } from "./build.ts"
import type { Hand } from "./hand.ts"
import { playwrightHand } from "./hands/playwright-mcp.ts"
import { svcHand } from "./hands/svc.ts"
import { compareGallery } from "./names.ts"
import { perform } from "./policy.ts"
import { servePages } from "./server.ts"
import { tasks } from "./tasks.ts"

const print = (line: string) => void process.stdout.write(`${line}\n`)
const charactersPerToken = 4
/** A page is given so long for its first view. */
const settleMs = 1_500

interface Result {
  done: boolean
  calls: number
  tokens: number
  problem: string
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string" }, behind: { type: "boolean" }, names: { type: "boolean" } },
})
const names = (await buildPages()).filter((name) => positionals.length === 0 || positionals.includes(name))
const server = await servePages()
if (values.names) {
  await compareGallery(server.url, names, positionals.length === 0)
  await server.stop()
  process.exit()
}
const makers = { svc: () => svcHand({ behind: values.behind === true }), playwright: playwrightHand }
const results = new Map<string, Map<string, Result>>()
for (const [key, make] of Object.entries(makers)) {
  if (values.only !== undefined && values.only !== key) continue
  const hand = await make()
  const of = new Map<string, Result>()
  results.set(hand.name, of)
  for (const name of names) {
    const result = await attempt(hand, `${server.url}/page/${name}`, name)
    of.set(name, result)
    print(
      `${result.done ? "done" : "MISS"} ${hand.name}: ${name} (${result.calls} calls, ${result.tokens} tokens) ${result.problem}`,
    )
  }
  await hand.stop()
}
for (const [name, of] of results) {
  const all = [...of.values()]
  const sum = (pick: (result: Result) => number) => all.reduce((total, result) => total + pick(result), 0)
  print(
    `${name}: ${sum(({ done }) => Number(done))} of ${all.length} done, ${sum(({ calls }) => calls)} calls, ${sum(({ tokens }) => tokens)} tokens`,
  )
}
await server.stop()
if (positionals.length === 0 && values.only === undefined && !values.behind) writeSection("gallery", report())

function report(): string {
  const hands = [...results.keys()]
  const cell = (result: Result | undefined) =>
    result ? `${result.done ? "yes" : "**no**"} | ${result.calls} | ${result.tokens}` : " | | "
  const rows = names.map(
    (name) => `| ${name} | ${hands.map((hand) => cell(results.get(hand)?.get(name))).join(" | ")} |`,
  )
  const total = (hand: string) => {
    const all = [...(results.get(hand)?.values() ?? [])]
    const sum = (pick: (result: Result) => number) => all.reduce((number, result) => number + pick(result), 0)
    return `**${sum(({ done }) => Number(done))} of ${all.length}** | ${sum(({ calls }) => calls)} | ${sum(({ tokens }) => tokens)}`
  }
  return `## Real interfaces

Written by \`npm run gallery\` (${new Date().toISOString().slice(0, 10)}). Component libraries as their makers ship them, each with an ordinary task, worked through the public control API by one general policy that sees nothing but the text of snapshots; the same policy on the same pages with Playwright MCP ${playwrightVersion()}. Tokens are a quarter of the characters that the tools answered.

| page | ${hands.map((hand) => `${hand}: done | calls | tokens`).join(" | ")} |
|---|${"---|".repeat(hands.length * 3)}
${rows.join("\n")}
| all | ${hands.map(total).join(" | ")} |`
}

function playwrightVersion(): string {
  const file = new URL("node_modules/@playwright/mcp/package.json", import.meta.url)
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version
}

async function attempt(hand: Hand, url: string, name: string): Promise<Result> {
  const before = { ...hand.spent }
  let problem = ""
  let done = false
  try {
    await hand.open(url)
    await new Promise((resolve) => setTimeout(resolve, settleMs))
    await perform(hand, tasks[name] ?? [])
    done = await until(() => hand.isDone())
    if (!done) problem = "the page does not have what was wanted"
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error)
    done = await hand.isDone().catch(() => false)
  }
  const tokens = Math.ceil((hand.spent.chars - before.chars) / charactersPerToken)
  return { done, calls: hand.spent.calls - before.calls, tokens, problem: done ? "" : problem }
}

/** An effect may come a moment after the act: a request, an animation. */
async function until(isTrue: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 10; tries += 1) {
    if (await isTrue()) return true
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return false
}
