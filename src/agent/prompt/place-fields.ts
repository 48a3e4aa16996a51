// `{{MessageThreadId}}`, `{{IsForum}}` and `{{Sticker.<field>}}` in the operator's instructions for a place, filled for
// each message. What others have made (a sticker's set, its description) stands marked in its line, and never becomes part
// of what is kept as the operator's words.
import type { TurnInput } from "../turn-input.ts"
import { markLine } from "./segments.ts"

type Fielded = Pick<TurnInput, "instructions" | "route" | "sticker">

const stickerFields = ["emoji", "setName", "fileId", "fileUniqueId", "cachedDescription"] as const

/** A field without a value is empty; a name that there is not stays as written, so that a typing error is seen. */
export function fillInstructions({ instructions, route, sticker }: Fielded): string | undefined {
  if (instructions === undefined || !instructions.includes("{{")) return instructions
  const isForum = route !== null && route.chatKind !== "private" && route.threadId !== undefined
  const fields = new Map<string, string>([
    ["MessageThreadId", route?.threadId ?? ""],
    ["IsForum", String(isForum)],
    ...stickerFields.map((name): [string, string] => {
      const value = sticker?.[name] ?? ""
      return [`Sticker.${name}`, value === "" ? "" : markLine(value)]
    }),
  ])
  return instructions.replace(
    /\{\{\s{0,9}([A-Za-z.]{1,40})\s{0,9}\}\}/g,
    (whole, name: string) => fields.get(name) ?? whole,
  )
}
