// How quickly things start, how much they keep, how large they are.
import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { BenchGateway, program, root, timeProcess } from "./gateway.ts"
import type { Bench, Figure } from "./figure.ts"
import { median, round } from "./statistics.ts"

const rounds = 15

export const starting: Bench = {
  name: "starting",
  async run(): Promise<Figure[]> {
    const gateway = new BenchGateway()
    try {
      await gateway.configure({})
      const ready: number[] = []
      const floor: number[] = []
      for (let round = 0; round < 7; round += 1) {
        floor.push(await timeProcess(process.execPath, ["-e", "0"], process.env))
        ready.push(await gateway.start())
        if (round < 6) await gateway.kill("SIGTERM")
      }
      // Long enough for the gateway to see that it is quiet, and to give back what its start has left behind.
      await delay(25_000)
      const resident = gateway.residentMb()
      const cli = await compareCli(gateway)
      const readyRatio = median(ready) / median(floor)
      return [
        cli,
        {
          what: "start to `/readyz`, no browser",
          target: "at most 20x `node -e 0`",
          measured: `${round(readyRatio)}x (${round(median(ready), 0)} ms / ${round(median(floor), 0)} ms)`,
          met: readyRatio <= 20,
        },
        {
          what: "gateway idle, resident memory",
          target: "at most 120 MB",
          measured: `${round(resident, 0)} MB`,
          met: resident <= 120,
        },
        ...installedSize(),
      ]
    } finally {
      await gateway.stop()
    }
  },
}

/** Taken in turns, so that both see the same machine. */
async function compareCli(gateway: BenchGateway): Promise<Figure> {
  const floor: number[] = []
  const tabs: number[] = []
  for (let index = 0; index < rounds; index += 1) {
    floor.push(await timeProcess(process.execPath, ["-e", "0"], gateway.environment()))
    tabs.push(await timeProcess(process.execPath, [program, "browser", "tabs", "--json"], gateway.environment()))
  }
  const ratio = median(tabs) / median(floor)
  return {
    what: "`svc browser tabs --json` against a running gateway",
    target: "at most 2x `node -e 0`",
    measured: `${round(ratio, 2)}x (${round(median(tabs), 0)} ms / ${round(median(floor), 0)} ms)`,
    met: ratio <= 2,
  }
}

function installedSize(): Figure[] {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-install-"))
  try {
    for (const name of ["package.json", "package-lock.json", ".npmrc"]) cpSync(join(root, name), join(folder, name))
    const install = (...more: string[]) =>
      execFileSync("npm", ["ci", "--ignore-scripts", "--omit=dev", "--loglevel=error", ...more], {
        cwd: folder,
        stdio: "ignore",
      })
    const dist = sizeMb(join(root, "dist"))
    install()
    const full = sizeMb(join(folder, "node_modules")) + dist
    const packages = execFileSync("npm", ["ls", "--all", "--omit=dev", "--parseable"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "ignore"],
    })
    const count = packages.toString().trim().split("\n").length - 1
    install("--omit=optional")
    const core = sizeMb(join(folder, "node_modules")) + dist
    return [
      {
        what: "installed size, production (packages and bundles)",
        target: "at most 80 MB, 70 packages",
        measured: `${round(full, 0)} MB, ${count} packages`,
        met: full <= 80 && count <= 70,
      },
      {
        what: "the same without `playwright-core`",
        target: "at most 60 MB",
        measured: `${round(core, 0)} MB`,
        met: core <= 60,
      },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Disk blocks, as `du` counts them. */
function sizeMb(path: string): number {
  const info = statSync(path, { throwIfNoEntry: false })
  if (!info) return 0
  const own = (info.blocks * 512) / 1024 / 1024
  if (!info.isDirectory()) return own
  return readdirSync(path).reduce((sum, name) => sum + sizeMb(join(path, name)), own)
}
