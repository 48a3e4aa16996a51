// The door of early parts: streaming them, and what they leave over for the end of the turn.
export { partText } from "./cut.ts"
export { type EarlyPart, earlyParts, sentLength, withReference } from "./record.ts"
export * from "./stream.ts"
