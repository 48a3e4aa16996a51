// What the sandbox costs: a browser in it against one without, and a command that does nothing.
import type { BrowserServiceOptions } from "../src/browser/index.ts"
import { startBrowserBench } from "../test/support/browser-service.ts"
import { startSandboxBench, sandboxProblem } from "../test/support/sandbox.ts"
import { toolContext } from "../test/support/tool-context.ts"
import type { Bench, Figure } from "./figure.ts"
import { median, round } from "./statistics.ts"

const browserRounds = 5
const commandRounds = 30

export const sandbox: Bench = {
  name: "sandbox",
  async run(): Promise<Figure[]> {
    const problem = await sandboxProblem("browser")
    if (problem !== false) {
      console.error(`not measured: ${problem}`)
      return []
    }
    const boxes = startSandboxBench({ mode: "all" })
    try {
      return [await browserStarts(boxes.links), await commands(boxes.run)]
    } finally {
      await boxes.sandbox.stop()
    }
  },
}

/** In turns, so that both see the same machine. */
async function browserStarts(links: NonNullable<BrowserServiceOptions["sandbox"]>): Promise<Figure> {
  const inside = await startBrowserBench({}, { sandbox: links })
  const outside = await startBrowserBench()
  const times = { inside: [] as number[], outside: [] as number[] }
  const sides = [
    { service: inside.service, into: times.inside },
    { service: outside.service, into: times.outside },
  ]
  try {
    // The first start of each reads the program from the disk.
    for (let at = 0; at <= browserRounds; at += 1) {
      for (const { service, into } of sides) {
        const began = performance.now()
        await service.tool.run(service.tool.input.parse({ action: "start" }), toolContext())
        if (at > 0) into.push(performance.now() - began)
        await service.tool.run(service.tool.input.parse({ action: "stop" }), toolContext())
      }
    }
  } finally {
    await Promise.all([inside.stop(), outside.stop()])
  }
  const [boxed, plain] = [median(times.inside), median(times.outside)]
  const ratio = boxed / plain
  return {
    what: "browser in a sandbox, from nothing to ready",
    target: "at most 1.5x a browser without one",
    measured: `${round(ratio)}x (${round(boxed, 0)} ms / ${round(plain, 0)} ms)`,
    met: ratio <= 1.5,
  }
}

async function commands(run: ReturnType<typeof startSandboxBench>["run"]): Promise<Figure> {
  const asker = { agentId: "main", sessionKey: "agent:main:main", trusted: true }
  const times: number[] = []
  for (let at = 0; at < commandRounds; at += 1) {
    const began = performance.now()
    await run(asker, { argv: ["true"] })
    times.push(performance.now() - began)
  }
  return {
    what: "`exec true` in a sandbox, p50",
    target: "at most 40 ms",
    measured: `${round(median(times), 0)} ms`,
    met: median(times) <= 40,
  }
}
