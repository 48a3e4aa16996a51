// The command line of bubblewrap: namespaces of its own for everything, no capabilities, nothing of the host but its programs
// (read-only) and what the box is given. An ordinary user inside, also where the gateway is root: with a user id of its
// own in a namespace of its own, Chromium's sandbox works in there too.
import type { BoxSpec, Mount } from "./contract.ts"
import { proxyAddress, proxyPort } from "./contract.ts"
import { forwardProgram, guardSocket, nodePath } from "./forward.ts"

export const boxHome = "/home/agent"
const boxUser = "1000"
/** Of the folders that live in memory. */
const scratchBytes = 512 * 1024 * 1024

/** Of /etc only what programs need to run: fonts, certificates, what the loader and alternatives say. */
const settings = [
  "/etc/fonts",
  "/etc/ssl",
  "/etc/pki",
  "/etc/ca-certificates",
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/mime.types",
  "/etc/chromium",
  "/etc/chromium.d",
]

export interface BubblewrapPlaces {
  /** How each of /bin, /lib and such is on this machine: a link into /usr, or a folder. */
  roots: readonly { path: string; link?: string }[]
  /** Files of ours that stand for the system's lists of users and hosts. */
  identity: readonly Mount[]
  /** The Node that carries connections to the proxy. */
  node: string
}

/** Everything behind the name of the program. */
export function bubblewrapArguments(spec: BoxSpec, places: BubblewrapPlaces): string[] {
  const scratch = (path: string) => ["--size", String(scratchBytes), "--tmpfs", path]
  return [
    "--unshare-all",
    "--cap-drop",
    "ALL",
    "--die-with-parent",
    "--new-session",
    "--clearenv",
    "--uid",
    boxUser,
    "--gid",
    boxUser,
    "--hostname",
    "sandbox",
    "--ro-bind",
    "/usr",
    "/usr",
    ...places.roots.flatMap(({ path, link }) =>
      link === undefined ? ["--ro-bind", path, path] : ["--symlink", link, path],
    ),
    ...settings.flatMap((path) => ["--ro-bind-try", path, path]),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...["/tmp", boxHome, "/dev/shm", "/run"].flatMap(scratch),
    ...places.identity.flatMap(mount),
    ...(spec.mounts ?? []).flatMap(mount),
    ...wayOut(spec, places),
    ...Object.entries(environmentOf(spec)).flatMap(([name, value]) => ["--setenv", name, value]),
    "--chdir",
    spec.folder ?? boxHome,
    "--",
    ...commandOf(spec, nodePath),
  ]
}

function mount({ source, target, writable, optional }: Mount): string[] {
  return [`--${writable ? "" : "ro-"}bind${optional ? "-try" : ""}`, source, target]
}

function wayOut({ proxySocket }: BoxSpec, { node }: BubblewrapPlaces): string[] {
  return proxySocket === undefined ? [] : ["--ro-bind", proxySocket, guardSocket, "--ro-bind", node, nodePath]
}

export function environmentOf({ environment, proxySocket }: BoxSpec): Record<string, string> {
  const proxy =
    proxySocket === undefined
      ? {}
      : Object.fromEntries(
          ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].map((name) => [name, proxyAddress]),
        )
  return {
    HOME: boxHome,
    USER: "agent",
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
    TMPDIR: "/tmp",
    // Nobody is there; without this programs look for it and say so.
    DBUS_SESSION_BUS_ADDRESS: "disabled:",
    ...proxy,
    ...environment,
  }
}

/**
 * The forwarder runs beside the command and ends with it. The command's pipes are not for it. The command begins when the
 * forwarder listens, or has ended: until then a program that heeds the proxy finds nobody there.
 */
export function commandOf({ argv, proxySocket }: BoxSpec, node: string): string[] {
  if (proxySocket === undefined) return [...argv]
  const beside =
    'node=$1; program=$2; shift 2; mkfifo /run/listens; "$node" -e "$program" </dev/null >/run/listens 2>/dev/null 3<&- 4<&- & ' +
    'read -r word </run/listens; rm -f /run/listens; exec "$@"'
  return ["/bin/sh", "-c", beside, "sh", node, forwardProgram(proxyPort), ...argv]
}
