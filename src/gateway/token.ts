// The gateway's own secret: `gateway.auth.token`, else one that is generated once into the state folder.
// Fails closed: without a usable secret nothing listens. The CLI finds the secret in the file that is returned.
import { chmodSync, readFileSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { AppError, type Ids, type Log, type Redactor, Secret, writePrivateFile } from "../kernel/index.ts"

export interface GatewayToken {
  token: Secret
  /** Characters, for the rule about listeners that other machines can reach. */
  length: number
  /** Absolute path of the file that holds it. */
  file: string
  source: "config" | "file"
}

export interface GatewayTokenOptions {
  /** `gateway.auth.token`. */
  configured?: string | undefined
  /** `hooks.token`, which must be another secret. */
  hookToken?: string | undefined
  stateFolder: string
  ids: Ids
  log: Log
  /** Learns the secret that is made for the command line. */
  redactor?: Redactor
}

const generatedBytes = 32
/** In base64url. */
const generatedCharacters = Math.ceil((generatedBytes * 4) / 3)
const leastCharacters = 16

export function loadGatewayToken(options: GatewayTokenOptions): GatewayToken {
  const loaded = options.configured === undefined ? fromFile(options) : fromConfig(options, options.configured)
  checkApart(loaded.token, options.hookToken)
  return loaded
}

/** Throws what a load would say of the secret; makes and changes nothing. */
export function checkGatewayToken(
  options: Pick<GatewayTokenOptions, "configured" | "hookToken" | "stateFolder">,
): Pick<GatewayToken, "length"> {
  const file = tokenFile(options.stateFolder)
  const isMade = options.configured === undefined && !statSync(file, { throwIfNoEntry: false })
  if (isMade) return { length: generatedCharacters }
  const token = options.configured?.trim() ?? explainFailure(file, "be read", () => readFileSync(file, "utf8").trim())
  checkForm(token, options.configured === undefined ? file : "gateway.auth.token")
  checkApart(new Secret(token), options.hookToken)
  return { length: token.length }
}

function checkApart(token: Secret, hookToken: string | undefined): void {
  if (hookToken === undefined || !token.matches(hookToken.trim())) return
  throw new AppError("config-invalid", "hooks.token must not be the gateway's own token", {
    hint: "Give the webhooks a secret of their own: svc config set hooks.token <secret>",
  })
}

function tokenFile(stateFolder: string): string {
  return join(stateFolder, "gateway-token")
}

/**
 * What the command line of this machine uses while a token is configured: another secret, new at every start, so that
 * the configured one is in no file but its own, and ends when it is taken out.
 */
function localFile(stateFolder: string): string {
  return join(stateFolder, "gateway-token.local")
}

/** Earlier versions kept the configured token itself there. */
function removeCopy(stateFolder: string): void {
  rmSync(join(stateFolder, "gateway-token.configured"), { force: true })
}

function fromConfig(options: GatewayTokenOptions, configured: string): GatewayToken {
  const token = configured.trim()
  checkForm(token, "gateway.auth.token")
  const file = localFile(options.stateFolder)
  const local = options.ids.token(generatedBytes)
  explainFailure(file, "be written", () => {
    removeCopy(options.stateFolder)
    writePrivateFile(file, `${local}\n`)
  })
  options.redactor?.add(local)
  return { token: new Secret(token, [local]), length: token.length, file, source: "config" }
}

function fromFile(options: GatewayTokenOptions): GatewayToken {
  const file = tokenFile(options.stateFolder)
  const token = explainFailure(file, "be read or made", () => {
    removeCopy(options.stateFolder)
    rmSync(localFile(options.stateFolder), { force: true })
    return readOrMake(file, options)
  })
  checkForm(token, file)
  return { token: new Secret(token), length: token.length, file, source: "file" }
}

function readOrMake(file: string, options: GatewayTokenOptions): string {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) {
    const made = options.ids.token(generatedBytes)
    writePrivateFile(file, `${made}\n`)
    options.log.info({ file }, "gateway token generated")
    return made
  }
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
    chmodSync(file, 0o600)
    options.log.warn({ file, hint: "others could read it: consider a new token" }, "gateway token file rights narrowed")
  }
  return readFileSync(file, "utf8").trim()
}

function checkForm(token: string, where: string): void {
  if (token.length < leastCharacters) {
    throw new AppError("config-invalid", `The gateway token (${where}) is empty or shorter than ${leastCharacters}`, {
      hint: "Use at least 16 characters, better 24; without gateway.auth.token and token file one is generated",
    })
  }
  // It travels in a header: anything else could never be sent and would lock everyone out.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new AppError("config-invalid", `The gateway token (${where}) may have printable ASCII characters only`, {
      hint: "Write another one there; a token file that is removed is made anew by the next start",
    })
  }
}

function explainFailure<T>(file: string, what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new AppError("internal", `The gateway token file ${file} cannot ${what}; the gateway does not start`, {
      cause: error,
      hint: "Check the rights of the state folder and of the file",
    })
  }
}
