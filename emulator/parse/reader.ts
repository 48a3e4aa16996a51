// Reading formatted text: positions are UTF-16 offsets of a JavaScript string, while errors name byte offsets of UTF-8.
import { badRequest, type ApiError } from "../errors.ts"

/** What the reader sees past the end; the platform's parser, too, takes a NUL character for the end. */
export const end = "\0"

export function byteOffset(text: string, position: number): number {
  return Buffer.byteLength(text.slice(0, position))
}

export function parseError(message: string): ApiError {
  return badRequest(`Can't parse entities: ${message}`)
}

export function isSpace(character: string): boolean {
  return " \t\r\n\0\v".includes(character)
}

export function isAsciiAlphanumeric(character: string): boolean {
  return /^[A-Za-z0-9]$/.test(character)
}

/** Lowers ASCII letters only, as the platform does for names of tags and hosts. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
