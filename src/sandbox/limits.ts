// Memory and tasks of a box: a scope of systemd where one can be had, else a control group that we may make, else limits of
// each process. Each wraps the command that makes the box.
import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Launch, Limiter, Limits } from "./contract.ts"
import { type Look, succeeded } from "./look.ts"

export interface LimiterFound {
  kind: Limiter
  /** Of `cgroup`: folders in which one of a box may be made, and what is written into it. */
  groups?: readonly { parent: string; files: (limits: Limits) => Record<string, string> }[]
}

const bytes = (memoryMb: number) => String(memoryMb * 1024 * 1024)

export async function findLimiter(userId: number | undefined, look: Look): Promise<LimiterFound> {
  if (succeeded(await look("systemd-run", [...scopeWords(userId), "true"]))) return { kind: "systemd" }
  const groups = findGroups()
  if (groups) return { kind: "cgroup", groups }
  return { kind: succeeded(await look("prlimit", ["--version"])) ? "prlimit" : "none" }
}

/** What runs inside, with limits of its own where nothing around it can be limited. */
export function limitedInside({ kind }: LimiterFound, { memoryMb, tasks }: Limits, argv: readonly string[]) {
  return kind === "prlimit" ? ["prlimit", `--data=${bytes(memoryMb)}`, `--nproc=${tasks}`, "--", ...argv] : argv
}

const scopeWords = (userId: number | undefined) => [
  ...(userId === 0 ? [] : ["--user"]),
  "--scope",
  "--quiet",
  "--collect",
]

/** The second version in one tree; of the first the trees of memory and tasks. */
function findGroups(): LimiterFound["groups"] {
  try {
    const own = new Map(
      readFileSync("/proc/self/cgroup", "utf8")
        .trim()
        .split("\n")
        .map((line) => line.split(":"))
        .map(([, names = "", path = "/"]) => [names, path]),
    )
    const unified = join("/sys/fs/cgroup", own.get("") ?? "/")
    if (controllersOf(unified).has("memory")) {
      const files = ({ memoryMb, tasks }: Limits) => ({ "memory.max": bytes(memoryMb), "pids.max": String(tasks) })
      return mayMake(unified) ? [{ parent: unified, files }] : undefined
    }
    const memory = join("/sys/fs/cgroup/memory", own.get("memory") ?? "/")
    const pids = join("/sys/fs/cgroup/pids", own.get("pids") ?? "/")
    if (!mayMake(memory) || !mayMake(pids)) return undefined
    return [
      { parent: memory, files: ({ memoryMb }) => ({ "memory.limit_in_bytes": bytes(memoryMb) }) },
      { parent: pids, files: ({ tasks }) => ({ "pids.max": String(tasks) }) },
    ]
  } catch {
    // Not mounted, or not readable: there is another way.
    return undefined
  }
}

/** What groups below this one can be given. */
function controllersOf(folder: string): Set<string> {
  try {
    return new Set(readFileSync(join(folder, "cgroup.subtree_control"), "utf8").trim().split(" "))
  } catch {
    return new Set()
  }
}

function mayMake(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const probe = join(folder, `svc-probe-${process.pid}`)
    mkdirSync(probe)
    rmdirSync(probe)
    return true
  } catch {
    return false
  }
}

export function limited(
  { kind, groups = [] }: LimiterFound,
  limits: Limits,
  { id, userId, launch }: { id: string; userId: number | undefined; launch: Launch },
): Launch {
  const { memoryMb, tasks } = limits
  const wrap = (path: string, words: string[]) => ({
    ...launch,
    path,
    arguments: [...words, launch.path, ...launch.arguments],
  })
  if (kind === "systemd") {
    const properties = [`MemoryMax=${bytes(memoryMb)}`, "MemorySwapMax=0", `TasksMax=${tasks}`]
    return wrap("systemd-run", [
      ...scopeWords(userId),
      ...properties.flatMap((each) => ["-p", each]),
      "--",
      ...bare(launch),
    ])
  }
  if (kind !== "cgroup") return launch
  const folders = groups.map(({ parent, files }) => {
    const folder = join(parent, `svc-${id}`)
    mkdirSync(folder)
    for (const [name, value] of Object.entries(files(limits))) writeFileSync(join(folder, name), value)
    return folder
  })
  const enter =
    'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ >"$1/cgroup.procs" || exit 126; shift; n=$((n - 1)); done; exec "$@"'
  return {
    ...wrap("/bin/sh", ["-c", enter, "sh", String(folders.length), ...folders]),
    async dispose() {
      await launch.dispose()
      await removeGroups(folders)
    },
  }
}

/** What makes the box can be read in the box: of our environment it has only the path. */
function bare({ environment: { PATH = "/usr/bin:/bin" } }: Launch): string[] {
  return ["/usr/bin/env", "-i", `PATH=${PATH}`]
}

const patienceMs = 1_000
const longestWaitMs = 32

/** The kernel takes a moment after the last process is gone, mostly a short one, for which a command's end would wait. */
async function removeGroups(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    for (let waited = 0, next = 1; waited < patienceMs; waited += next, next = Math.min(next * 2, longestWaitMs)) {
      try {
        rmdirSync(folder)
        break
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EBUSY") break
        await new Promise((resolve) => setTimeout(resolve, next))
      }
    }
  }
}
