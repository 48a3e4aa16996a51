// CDP ports of managed browsers: from the control port + 9, a hundred of them, never 9222.
import { createServer } from "node:net"
import { AppError } from "../../kernel/index.ts"

export interface PortRange {
  first: number
  last: number
}

const avoided = 9222

/** Range for a control port; the defaults when it would leave the numbers that ports have. */
export function cdpPortRange(controlPort: number): PortRange {
  const first = controlPort + 9
  if (controlPort <= 0 || first + 99 > 65_535) return { first: 18_800, last: 18_899 }
  return { first, last: first + 99 }
}

/**
 * The first port that nobody listens on, the preferred one first; with `skip`, so many free ones are passed over, as far as
 * there are more. Throws `port-range-full`.
 */
export async function findFreePort(options: {
  range: PortRange
  preferred: number | undefined
  taken: ReadonlySet<number>
  skip?: number
}): Promise<number> {
  let { skip = 0 } = options
  let passed: number | undefined
  const candidates = options.preferred === undefined ? [] : [options.preferred]
  for (let port = options.range.first; port <= options.range.last; port += 1) candidates.push(port)
  for (const port of candidates) {
    if (port === avoided || options.taken.has(port)) continue
    if (!(await isFree(port))) continue
    if (skip === 0) return port
    skip -= 1
    passed = port
  }
  if (passed !== undefined) return passed
  throw new AppError("port-range-full", `No CDP port is free from ${options.range.first} to ${options.range.last}`, {
    hint: "Stop browsers that are not needed, or move gateway.port",
  })
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
