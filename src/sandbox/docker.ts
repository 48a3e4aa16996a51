// The command line of a container engine for a box: the same walls as with bubblewrap, in an image of the operator's.
// An engine passes only standard input and output on, so a browser's own pipes are laid over these inside.
import type { BoxSpec } from "./contract.ts"
import { commandOf, environmentOf } from "./bubblewrap.ts"
import { guardSocket } from "./forward.ts"

export interface DockerPlaces {
  name: string
  image: string
  seccompProfile?: string | undefined
  /** Whose files the writable mounts are. */
  user: string
}

/** Everything behind the name of the program. Throws for nothing: the engine says itself what it does not take. */
export function dockerArguments(spec: BoxSpec, places: DockerPlaces): string[] {
  const { memoryMb, tasks } = spec.limits
  const security = ["no-new-privileges", ...(places.seccompProfile ? [`seccomp=${places.seccompProfile}`] : [])]
  const mounts = [
    ...(spec.mounts ?? []),
    ...(spec.proxySocket === undefined ? [] : [{ source: spec.proxySocket, target: guardSocket }]),
  ]
  return [
    "run",
    "--rm",
    "--interactive",
    "--init",
    "--pull",
    "never",
    "--name",
    places.name,
    "--hostname",
    "sandbox",
    "--label",
    "svc.sandbox=1",
    "--network",
    "none",
    "--ipc",
    "private",
    "--cap-drop",
    "ALL",
    "--read-only",
    ...security.flatMap((option) => ["--security-opt", option]),
    "--memory",
    `${memoryMb}m`,
    "--memory-swap",
    `${memoryMb}m`,
    "--pids-limit",
    String(tasks),
    "--user",
    places.user,
    "--workdir",
    spec.folder ?? "/tmp",
    ...["/tmp", "/home/agent", "/run"].flatMap((path) => ["--tmpfs", `${path}:rw,nosuid,nodev,mode=1777,size=512m`]),
    "--shm-size",
    "512m",
    ...mounts.flatMap(({ source, target, ...rest }) => [
      "--mount",
      `type=bind,source=${source},target=${target}${"writable" in rest && rest.writable ? "" : ",readonly"}`,
    ]),
    ...Object.entries(environmentOf(spec)).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    places.image,
    ...(spec.hasPipes ? overStandard(commandOf(spec, "node")) : commandOf(spec, "node")),
  ]
}

function overStandard(command: readonly string[]): string[] {
  return ["/bin/sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null', "sh", ...command]
}
