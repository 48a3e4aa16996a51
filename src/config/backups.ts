// The last five versions of a file that the gateway has replaced.
import { chmodSync, copyFileSync, existsSync, renameSync } from "node:fs"

const backupsKept = 5

/** Keeps the present file as `.bak`, older ones as `.bak.1` to `.bak.4`. */
export function rotateBackups(file: string): void {
  if (!existsSync(file)) return
  const name = (index: number) => (index === 0 ? `${file}.bak` : `${file}.bak.${index}`)
  for (let index = backupsKept - 2; index >= 0; index -= 1) {
    if (existsSync(name(index))) renameSync(name(index), name(index + 1))
  }
  const temporary = `${name(0)}.tmp`
  copyFileSync(file, temporary)
  chmodSync(temporary, 0o600)
  renameSync(temporary, name(0))
}
