// What the shipped gateway keeps after a huge page, and what the command line adds.
import { BenchGateway, program, timeProcess } from "../gateway.ts"
import type { Figure } from "../figure.ts"
import { median, round } from "../statistics.ts"
import { setTimeout as delay } from "node:timers/promises"

const rounds = 11

export async function inProcess(urls: { medium: string; large: string }): Promise<Figure[]> {
  const gateway = new BenchGateway()
  try {
    await gateway.configure({ browser: { headless: true, noSandbox: process.getuid?.() === 0 } })
    await gateway.start()
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`http://127.0.0.1:${gateway.port + 2}${path}`, {
        method,
        headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (!response.ok) throw new Error(await response.text())
      return response.text()
    }
    await call("POST", "/navigate", { url: urls.medium })
    for (let index = 0; index < 5; index += 1) await call("GET", "/snapshot?interactive=true")
    await delay(3_000)
    const before = gateway.residentMb()
    await call("POST", "/navigate", { url: urls.large, timeoutMs: 60_000 })
    for (const query of ["mode=efficient", "interactive=true&maxChars=0", "maxTokens=2000"])
      for (let index = 0; index < 2; index += 1) await call("GET", `/snapshot?${query}`)
    await call("POST", "/navigate", { url: urls.medium })
    await call("GET", "/snapshot?interactive=true")
    // A gateway that has become quiet gives back what nobody needs any more after a quarter of a minute.
    await delay(20_000)
    const more = gateway.residentMb() - before
    return [
      {
        what: "gateway's memory after snapshots of 20,000 controls, against before",
        target: "at most 30 MB more",
        measured: `${round(more, 0)} MB more (${round(before, 0)} MB before)`,
        met: more <= 30,
      },
      await commandLine(gateway, call),
    ]
  } finally {
    await gateway.stop()
  }
}

/** Taken in turns, so that all see the same machine. */
async function commandLine(
  gateway: BenchGateway,
  call: (method: string, path: string) => Promise<string>,
): Promise<Figure> {
  const floor: number[] = []
  const http: number[] = []
  const whole: number[] = []
  for (let index = 0; index < rounds; index += 1) {
    floor.push(await timeProcess(process.execPath, ["-e", "0"], gateway.environment()))
    const began = performance.now()
    await call("GET", "/snapshot?mode=efficient")
    http.push(performance.now() - began)
    const words = ["browser", "snapshot", "--efficient"]
    whole.push(await timeProcess(process.execPath, [program, ...words], gateway.environment()))
  }
  const more = median(whole) - median(http)
  const times = more / median(floor)
  return {
    what: "`svc browser snapshot --efficient`, beyond the same over HTTP",
    target: "at most 2x `node -e 0`",
    measured: `${round(times, 2)}x (${round(more, 0)} ms / ${round(median(floor), 0)} ms)`,
    met: times <= 2,
  }
}
