// `<state>/gateway.json`: how the CLI finds the running gateway. Written when it is ready, removed on a clean stop.
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { writePrivateFile } from "../kernel/private-file.ts"
import type { GatewayFile } from "./contract.ts"

export function gatewayFilePath(stateFolder: string): string {
  return join(stateFolder, "gateway.json")
}

export function writeGatewayFile(stateFolder: string, content: GatewayFile): void {
  writePrivateFile(gatewayFilePath(stateFolder), `${JSON.stringify(content, null, 2)}\n`)
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
