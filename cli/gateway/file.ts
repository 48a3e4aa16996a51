// Finds the running gateway: `<state>/gateway.json`, which it writes when it is ready and removes on a clean stop.
// The file says where the gateway's secret lies, so it must be ours and closed to others' writing.
import { fstatSync, openSync, readFileSync, closeSync } from "node:fs"
import { join } from "node:path"
import type { GatewayFile } from "../../src/gateway/contract.ts"
import { AppError, describeError } from "../../src/kernel/errors.ts"
import { isProcessAlive } from "../../src/kernel/process-alive.ts"

const startHint = "start it with: svc gateway"

/** Throws `gateway-unreachable` when there is no file, or when its process is gone. */
export function readGatewayFile(stateFolder: string): GatewayFile {
  const path = join(stateFolder, "gateway.json")
  const text = readOwnFile(path)
  if (text === undefined) {
    throw new AppError("gateway-unreachable", `No gateway is running for this state folder (looked for ${path})`, {
      hint: startHint,
    })
  }
  const file = parse(text)
  if (!file) {
    throw new AppError("gateway-unreachable", `${path} is damaged`, {
      hint: "start the gateway again, which writes it anew: svc gateway",
    })
  }
  if (!isProcessAlive(file.pid)) {
    throw new AppError(
      "gateway-unreachable",
      `The gateway is not running: ${path} is stale, its process ${file.pid} has ended without removing it`,
      { hint: startHint },
    )
  }
  return file
}

export function readToken(file: GatewayFile): string {
  const token = readOwnFile(file.tokenFile)?.trim()
  if (token === undefined) {
    throw new AppError("unauthorized", `The gateway's token file is missing: ${file.tokenFile}`, {
      hint: "restart the gateway, which writes it anew",
    })
  }
  if (/^[\x21-\x7e]{1,4096}$/.test(token)) return token
  throw new AppError("unauthorized", `${file.tokenFile} does not hold a token`)
}

function readOwnFile(path: string): string | undefined {
  let descriptor: number
  try {
    descriptor = openSync(path, "r")
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    throw new AppError("gateway-unreachable", `Cannot read ${path}: ${describeError(error)}`, {
      hint: "run svc as the user who runs the gateway",
      cause: error,
    })
  }
  try {
    const { uid, mode, size } = fstatSync(descriptor)
    const own = process.getuid?.()
    if (own !== undefined && ((uid !== own && own !== 0) || (mode & 0o022) !== 0)) {
      throw new AppError("forbidden", `${path} belongs to, or may be written by, another user; it is not used`, {
        hint: `make it yours alone: chmod 600 ${path}`,
      })
    }
    if (size > 65_536) throw new AppError("gateway-unreachable", `${path} is too large to be the gateway's file`)
    return readFileSync(descriptor, "utf8")
  } finally {
    closeSync(descriptor)
  }
}

function parse(text: string): GatewayFile | undefined {
  let value: Partial<GatewayFile> | null
  try {
    value = JSON.parse(text) as Partial<GatewayFile> | null
  } catch {
    return undefined
  }
  const isPort = (port: unknown) => Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536
  const fits =
    typeof value === "object" &&
    value !== null &&
    Number.isInteger(value.pid) &&
    Number(value.pid) > 0 &&
    isPort(value.port) &&
    isPort(value.controlPort) &&
    typeof value.host === "string" &&
    typeof value.tokenFile === "string"
  return fits ? (value as GatewayFile) : undefined
}
