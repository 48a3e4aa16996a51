// Password managers by their own programs: `op` (1Password) and `bw` (Bitwarden). They are asked each time, nothing of
// theirs is kept. No shell; of the environment only what they need; what they say on standard error is told without values.
import { execFile } from "node:child_process"
import { AppError, Secret } from "../kernel/index.ts"
import type { BitwardenField } from "./contract.ts"

/** A person may have to touch a reader. */
const askMs = 30_000
const maxBytes = 64 * 1024

export type Variables = Readonly<Record<string, string | undefined>>

/** Of the gateway's own environment, in which there are keys of others too. */
const passedOn =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TMPDIR|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|SYSTEMROOT|APPDATA|LOCALAPPDATA|OP_\w+|BW_\w+|BITWARDENCLI_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|https?_proxy|HTTPS?_PROXY|NO_PROXY|no_proxy)$/

export interface ManagerCall {
  program: "op" | "bw"
  words: readonly string[]
}

/** Throws `bad-request` for a reference that 1Password would not take. */
export function onePasswordCall(reference: string): ManagerCall {
  if (!/^op:\/\/[^/\s][^/]*(?:\/[^/]+){2,3}$/.test(reference) || reference.length > 500) {
    throw new AppError("bad-request", "--op is no secret reference", { hint: "Write it as in op://vault/item/field" })
  }
  return { program: "op", words: ["read", "--no-newline", reference] }
}

/** Throws `bad-request`. */
export function bitwardenCall(item: string, field: BitwardenField): ManagerCall {
  // The program would take it for an option.
  if (item === "" || item.startsWith("-") || item.length > 200 || /[\r\n\0]/.test(item)) {
    throw new AppError("bad-request", "--bw is no item", { hint: "Give the item's id or name, as in: bw list items" })
  }
  return { program: "bw", words: ["--nointeraction", "get", field, item] }
}

/** Throws `secret-unavailable` with what the program has said. */
export async function askManager(call: ManagerCall, variables: Variables, signal: AbortSignal): Promise<Secret> {
  const env = Object.fromEntries(Object.entries(variables).filter(([name]) => passedOn.test(name)))
  const { program, words } = call
  const value = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      program,
      [...words],
      { env, timeout: askMs, maxBuffer: maxBytes, killSignal: "SIGKILL", signal, windowsHide: true },
      (error, stdout, stderr) => (error ? reject(explain(program, error, stderr)) : resolve(stdout)),
    )
    // It must not wait for a password that nobody can type.
    child.stdin?.end()
  })
  const plain = value.replace(/\r?\n$/, "")
  if (plain === "") throw unavailable(`${program} gave nothing`)
  return new Secret(plain)
}

function explain(program: string, error: Error & { code?: unknown; killed?: boolean }, stderr: string): Error {
  if (error.name === "AbortError") return unavailable(`${program} was not waited for any longer`)
  if (error.code === "ENOENT") {
    return unavailable(`There is no program ${program}`, `Install it, and let it be found in the PATH of the gateway`)
  }
  if (error.killed) return unavailable(`${program} did not answer within ${askMs / 1000} s`)
  const said = stderr.trim().split("\n").slice(-2).join(" ").slice(0, 300)
  const hint =
    program === "op"
      ? "Sign in, or set OP_SERVICE_ACCOUNT_TOKEN in the gateway's .env"
      : "Unlock the vault, and set BW_SESSION in the gateway's .env"
  return unavailable(`${program} gave no secret${said === "" ? "" : `: ${said}`}`, hint)
}

function unavailable(message: string, hint?: string): AppError {
  return new AppError("secret-unavailable", message, hint === undefined ? {} : { hint })
}
