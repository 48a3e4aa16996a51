// The interfaces that the server speaks.
import type { WireName } from "../../provider-rules/index.ts"
import { chatWire } from "./chat.ts"
import type { Wire } from "./contract.ts"
import { converseWire } from "./converse.ts"
import { geminiWire } from "./gemini.ts"
import { messagesWire } from "./messages.ts"
import { responsesWire } from "./responses.ts"

export type { ReplyUsage, WholeReply, Wire, WireStream } from "./contract.ts"

export const wires: Readonly<Record<WireName, Wire>> = {
  chat: chatWire,
  responses: responsesWire,
  messages: messagesWire,
  gemini: geminiWire,
  converse: converseWire,
}
