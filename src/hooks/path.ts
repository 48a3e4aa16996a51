// The part of a request's path below the hooks' base, taken from the raw request line and compared as it is:
// nothing is decoded or normalised, so two spellings of a path can never mean two different things.
import { AppError } from "../kernel/index.ts"

const plainPath = /^(?!\.{1,2}(?:\/|$))[\w.~:@!$&'()*+,;=-]+(?:\/(?!\.{1,2}(?:\/|$))[\w.~:@!$&'()*+,;=-]+)*$/
const brokenEscape = /%(?![0-9a-f]{2})/i

/** Whether some request has this path: `match.path` of a mapping can be one that none ever has. */
export function isRequestPath(path: string): boolean {
  return plainPath.test(path)
}

/** For whoever has shown a right token or signature: says where paths come from. */
export function unknownPath(): AppError {
  return new AppError("not-found", "There is no webhook under this path", {
    hint: "Besides wake and agent the paths are those of hooks.presets and hooks.mappings in the configuration",
  })
}

/** `wake` of `/hooks/wake`. Throws `not-found` for any path that could be written in another way. */
export function subPathOf(path: string, base: string): string {
  const rest = path.slice(base.length + 1)
  if (brokenEscape.test(rest)) throw new AppError("bad-request", "The path has a broken percent-encoding")
  if (!plainPath.test(rest)) {
    throw new AppError("not-found", "There is no webhook under this path", {
      hint: "Paths are compared as they are: no encoded characters, no empty parts, no slash at the end",
    })
  }
  return rest
}
