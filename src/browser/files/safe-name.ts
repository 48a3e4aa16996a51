// Names of files that somebody else has chosen. The command line uses it too, so it needs next to nothing.
import { trimBoth } from "../../kernel/trim.ts"

const maxNameLength = 150
const maxReadLength = 1_000

/** A file name without folders, control characters and what some system takes for something else. */
export function safeName(suggested: string): string {
  const last = suggested.slice(Math.max(suggested.lastIndexOf("/"), suggested.lastIndexOf("\\")) + 1)
  // Of a longer one the beginning and the extension are kept.
  const read = last.length <= maxReadLength ? last : last.slice(0, maxReadLength / 2) + last.slice(-maxReadLength / 2)
  const shown = read
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069<>:"|?*]/g, "_")
    .replace(/\s/g, " ")
  const plain = trimBoth(shown, ". ")
  const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(plain)
  const name = reserved ? `_${plain}` : plain
  if (name.length <= maxNameLength) return name || "download"
  const dot = name.lastIndexOf(".")
  const extension = dot > 0 && name.length - dot <= 12 ? name.slice(dot) : ""
  return name.slice(0, maxNameLength - extension.length) + extension
}
