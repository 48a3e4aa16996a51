// `<state>/gateway.json`: how the CLI finds the running gateway. Written when it is ready, removed on a clean stop.
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Log } from "../kernel/log.ts"
import { writePrivateFile } from "../kernel/private-file.ts"
import type { GatewayFile } from "./contract.ts"

export function gatewayFilePath(stateFolder: string): string {
  return join(stateFolder, "gateway.json")
}

export function writeGatewayFile(stateFolder: string, content: GatewayFile): void {
  writePrivateFile(gatewayFilePath(stateFolder), `${JSON.stringify(content, null, 2)}\n`)
}

const everyMs = 2_000

/**
 * Writes it again when somebody has removed it: without it the command line would say that no gateway runs. Gives the way to
 * end that, which comes before the file is removed.
 */
export function keepGatewayFile(stateFolder: string, content: GatewayFile, log: Log): () => void {
  const look = () => {
    try {
      if (existsSync(gatewayFilePath(stateFolder)) || !existsSync(stateFolder)) return
      writeGatewayFile(stateFolder, content)
      log.warn({ file: gatewayFilePath(stateFolder) }, "gateway file was removed, and is written again")
    } catch (error) {
      // A disk that is full, say: the next look tries again.
      log.debug({ err: error }, "gateway file not written again")
    }
  }
  const timer = setInterval(look, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Undefined when there is none; one that was left by a killed gateway is returned as it is. */
export function readGatewayFile(stateFolder: string): GatewayFile | undefined {
  let text: string
  try {
    text = readFileSync(gatewayFilePath(stateFolder), "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
  return JSON.parse(text) as GatewayFile
}

/** Removes the file of this boot only: a successor may have written its own already. */
export function removeGatewayFile(stateFolder: string, bootId: string): void {
  if (readGatewayFile(stateFolder)?.bootId === bootId) rmSync(gatewayFilePath(stateFolder), { force: true })
}
