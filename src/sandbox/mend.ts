// Why bubblewrap does not work on a machine, and the command that mends it.
import { existsSync, readFileSync } from "node:fs"

export interface Mending {
  reason: string
  /** One line for a shell, or one step for a person. */
  command: string
}

/** What the causes are read from; given by tests. */
export interface MachineFacts {
  platform: NodeJS.Platform
  /** The text of a file; undefined when it is not there. */
  read(path: string): string | undefined
}

export const thisMachine: MachineFacts = {
  platform: process.platform,
  read(path) {
    try {
      return existsSync(path) ? readFileSync(path, "utf8") : undefined
    } catch {
      return undefined
    }
  },
}

const profile =
  "abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\\n  userns,\\n}\\n"

export function whyNotLinux(): Mending {
  return {
    reason: "bubblewrap exists on Linux only",
    command: "svc config set agents.defaults.sandbox.backend docker",
  }
}

export function whyMissing({ read }: MachineFacts): Mending {
  const system = read("/etc/os-release") ?? ""
  const named = [...system.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].flatMap(([, ids = ""]) => ids.match(/[a-z]+/g) ?? [])
  const is = (...names: string[]) => names.some((name) => named.includes(name))
  const install = is("fedora", "rhel", "centos")
    ? "sudo dnf install bubblewrap"
    : is("arch")
      ? "sudo pacman -S bubblewrap"
      : is("suse", "opensuse")
        ? "sudo zypper install bubblewrap"
        : is("alpine")
          ? "sudo apk add bubblewrap"
          : "sudo apt-get install bubblewrap"
  return { reason: "bubblewrap (the program bwrap) is not installed", command: install }
}

/** From what it said; `inside` when only a namespace within its own was refused. */
export function whyRefused(words: string, { read }: MachineFacts, inside: boolean): Mending {
  const number = (path: string) => read(path)?.trim()
  if (number("/proc/sys/user/max_user_namespaces") === "0") {
    return {
      reason: "the system allows no user namespaces (user.max_user_namespaces is 0)",
      command: "sudo sysctl -w user.max_user_namespaces=28633",
    }
  }
  if (number("/proc/sys/kernel/unprivileged_userns_clone") === "0") {
    return {
      reason: "the system allows user namespaces to root only (kernel.unprivileged_userns_clone is 0)",
      command: "sudo sysctl -w kernel.unprivileged_userns_clone=1",
    }
  }
  if (number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1") {
    return {
      reason: "AppArmor keeps bubblewrap from making user namespaces",
      command: `printf '${profile}' | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap`,
    }
  }
  const said = words === "" ? "" : `: ${words.split("\n").slice(-2).join(" ").slice(0, 300)}`
  if (read("/.dockerenv") !== undefined || read("/run/.containerenv") !== undefined) {
    return {
      reason: `the container that the gateway runs in allows no namespaces${said}`,
      command:
        "Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined",
    }
  }
  return {
    reason: inside
      ? `no user namespace can be made inside another one${said}`
      : `bubblewrap cannot make a sandbox${said}`,
    command: "bwrap --unshare-all --ro-bind / / true",
  }
}
