// The systemd unit, as text with its reasons. What can be closed is closed as far as Chromium's own sandbox lets it: that
// makes namespaces, maps users and changes its root, and where it cannot, no page may be opened at all.
import { AppError } from "../kernel/index.ts"
import type { ServicePlan } from "./contract.ts"

/** Stands in every description that we have written, by which it is known again. */
export const writtenBy = "Written by: svc service install."

/** For the C library of GNU; others leave them aside. */
export const memoryVariables = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_TRIM_THRESHOLD_: "131072",
  MALLOC_MMAP_THRESHOLD_: "65536",
}

export function renderUnit(plan: ServicePlan): string {
  const isSystem = plan.scope === "system"
  const parts = [
    `# ${writtenBy} Changes of your own: systemctl edit (they are kept apart).`,
    about(plan),
    run(plan),
    ends,
    limits,
    plan.chromiumSandbox === "namespaces" ? closedIn : notClosedIn,
    ...(isSystem ? [closedFiles(plan)] : [openFiles]),
    `[Install]\nWantedBy=${isSystem ? "multi-user.target" : "default.target"}`,
  ]
  return `${parts.join("\n\n")}\n`
}

function about({ scope, stateFolder, configPath }: ServicePlan): string {
  const network = scope === "system" ? "\nWants=network-online.target\nAfter=network-online.target" : ""
  const folders = [stateFolder, ...(configPath === undefined ? [] : [configPath])]
  return `[Unit]
Description=svc, a gateway for an AI agent
Documentation=man:systemd.service(5)${network}
# Never without the disk that they are on: in the empty place of a mount a new state folder would be begun.
RequiresMountsFor=${folders.map((folder) => argument(path(folder), "environment")).join(" ")}
# Five starts in two minutes that fail: something is wrong that another start does not change.
StartLimitIntervalSec=120
StartLimitBurst=5`
}

function run(plan: ServicePlan): string {
  const { configPath, user, stateFolder } = plan
  const variables = [
    `SVC_STATE_DIR=${stateFolder}`,
    ...(configPath === undefined ? [] : [`SVC_CONFIG_PATH=${configPath}`]),
    `PATH=${searchPath}`,
    ...Object.entries(memoryVariables).map(([name, value]) => `${name}=${value}`),
    ...(user === undefined ? [] : [`HOME=${plan.home}`]),
  ]
  return `[Service]
Type=exec${user === undefined ? "" : `\nUser=${word(user)}`}
# --disable-sigusr1: that signal would open Node's inspector, which runs any code for any user of the machine.
ExecStart=${[plan.node, "--disable-sigusr1", plan.program, "gateway"].map((each) => argument(each)).join(" ")}
WorkingDirectory=${specifiers(path(plan.home))}
# Two arenas: the C library would keep memory apart for each of Node's threads, most of which work one after the other.
# The threshold for trimming is its own, but said here it stays: by itself it grows to 64 MB that are kept where nobody uses
# them. What is as large as a read from a socket, 64 KiB, is mapped apart and goes back when it is freed: in between what
# lives longer such pieces leave holes that never do.
# Secrets do not belong here, where everybody can read them: they go into .env in the state folder, mode 600.
${variables.map((variable) => `Environment=${argument(variable, "environment")}`).join("\n")}
UMask=0077`
}

/** Where browsers and tools lie; a service does not get the PATH of a terminal. */
export const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin"

const ends = `# After a failure, not after svc stop.
Restart=on-failure
RestartSec=2
# Only the gateway is asked to end; it closes its browsers itself. Ten seconds are what it takes at most.
KillMode=mixed
TimeoutStopSec=20`

const limits = `LimitNOFILE=65536
# A page that takes too much memory costs its own process, not the gateway.
OOMPolicy=continue`

/** None of these keeps a process from making user, pid, mount, network or IPC namespaces inside of what it has. */
const closedIn = `# Chromium's sandbox needs namespaces of its own, so these stay possible; the other kinds do not.
RestrictNamespaces=user pid net mnt ipc
# Its sandbox is made of user namespaces here, so its setuid helper is not needed.
NoNewPrivileges=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RestrictRealtime=yes
# AF_NETLINK: Chromium and Node ask for the network's interfaces.
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
# Not @privileged and @mount: the sandbox changes its root. Not @debug: Chromium's crash handler traces.
SystemCallFilter=~@clock @cpu-emulation @module @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
# MemoryDenyWriteExecute is left out: the JavaScript engines of Node and Chromium write code and run it.
# ProtectKernelTunables and ProtectProc are left out: they cover parts of /proc, and the kernel then refuses a new one to
# sandboxes inside of namespaces.`

const notClosedIn = `# Users may not make namespaces on this machine, so that Chromium's sandbox is its setuid helper. NoNewPrivileges would
# switch that off, and with it go all settings that imply it: RestrictNamespaces, RestrictSUIDSGID, LockPersonality,
# RestrictRealtime, RestrictAddressFamilies, SystemCallFilter, SystemCallArchitectures.`

const openFiles = `# A user's own manager cannot close files and devices without a user namespace around it all, which takes the rights
# of the home folder's other users out of sight: svc service install --system closes these too.`

function closedFiles(plan: ServicePlan): string {
  const isHomeElsewhere = ["/home/", "/root/", "/run/user/"].every((root) =>
    [plan.home, plan.stateFolder, ...plan.writable].every((folder) => !`${folder}/`.startsWith(root)),
  )
  const folders = [...new Set([plan.home, plan.stateFolder, ...plan.writable, "/tmp", "/var/tmp"])]
  // Only a helper that gets its rights from its file needs them to be there.
  const capabilities = plan.chromiumSandbox === "namespaces" ? "\nCapabilityBoundingSet=\nAmbientCapabilities=" : ""
  return `# Nothing may be written but the home and the state folder. PrivateTmp is left out: files for uploads come from there.
ProtectSystem=strict
ReadWritePaths=${folders.map((folder) => argument(`-${path(folder)}`, "environment")).join(" ")}
${isHomeElsewhere ? "ProtectHome=yes" : "# ProtectHome is left out: what it would close is what the gateway works in."}
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectHostname=yes${capabilities}
KeyringMode=private`
}

/** One word of a command line or of a list, as systemd reads it. */
function argument(text: string, kind: "command" | "environment" = "command"): string {
  const escaped = specifiers(word(text)).replaceAll("\\", "\\\\").replaceAll('"', '\\"')
  // Only command lines put variables in.
  return `"${kind === "command" ? escaped.replaceAll("$", "$$$$") : escaped}"`
}

function specifiers(text: string): string {
  return text.replaceAll("%", "%%")
}

function path(text: string): string {
  return word(text)
}

/** What would end the line would begin another setting. */
function word(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (!/[\u0000-\u001f\u007f]/.test(text)) return text
  throw new AppError("bad-request", `${JSON.stringify(text)} cannot stand in the description of a service`, {
    hint: "name it without control characters",
  })
}
