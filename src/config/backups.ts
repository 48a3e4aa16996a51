// The last five versions of a file that the gateway has replaced.
import { existsSync, renameSync } from "node:fs"
import { writeDurableFileSync } from "../kernel/durable-file.ts"

const backupsKept = 5

/** Keeps the present file as `.bak`, older ones as `.bak.1` to `.bak.4`. */
export function rotateBackups(file: string): void {
  if (!existsSync(file)) return
  const name = (index: number) => (index === 0 ? `${file}.bak` : `${file}.bak.${index}`)
  for (let index = backupsKept - 2; index >= 0; index -= 1) {
    if (existsSync(name(index))) renameSync(name(index), name(index + 1))
  }
  writeDurableFileSync(name(0), { copyOf: file })
}
