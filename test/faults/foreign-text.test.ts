// No text can stop the process: every function that sees text of strangers, fed with texts that grow, of every shape that
// has ever made one slow. Growth is asserted, not time. A longer run: FOREIGN_TEXT_SIZE=20000.
import { test } from "node:test"
import { isHeartbeatAck, wrapUntrusted } from "../../src/agent/index.ts"
import { neutralize } from "../../src/agent/boundary.ts"
import { mark } from "../../src/agent/prompt/segments.ts"
import { safeName } from "../../src/browser/files/safe-name.ts"
import { createRenderer } from "../../src/channels/chatapp/outbound/render.ts"
import { draftText } from "../../src/channels/chatapp/outbound/draft-text.ts"
import { toHtml, toPlain } from "../../src/channels/chatapp/outbound/spans.ts"
import { readCommand } from "../../src/channels/commands/read.ts"
import { compileMentions } from "../../src/channels/mentions.ts"
import { closeFence, openFence } from "../../src/delivery/fence.ts"
import { parseReply } from "../../src/delivery/reply.ts"
import { parsePayload } from "../../src/hooks/body.ts"
import { decodeEntities, htmlToText } from "../../src/hooks/gmail/mail-text.ts"
import { createRedactor, systemIds } from "../../src/kernel/index.ts"
import { oneLine, stripTags } from "../../src/models/failure/clean.ts"
import { readBody } from "../../src/models/failure/cause.ts"
import { splitText } from "../../src/models/offline/reading.ts"
import { parseSnapshot } from "../../src/models/offline/snapshot.ts"
import { assertGrowsInLine } from "../support/growth.ts"

const redactor = createRedactor()
redactor.add("a-known-secret-0123")
const render = createRenderer()
const named = compileMentions({ name: "Molty", emoji: "🦞" })
const chosen = compileMentions({ patterns: ["^(a+)+$", "(\\s|x)*bot"] })

const readers: Record<string, (text: string) => unknown> = {
  neutralize,
  wrapUntrusted: (text) => wrapUntrusted(systemIds, { source: "webhook", about: { name: text }, text }),
  mark,
  redact: (text) => redactor.redact(text),
  isHeartbeatAck: (text) => isHeartbeatAck(text, false, 300),
  mentions: (text) => named.match(text) || chosen.match(text),
  readCommand: (text) => readCommand(text, { botName: "ship_bot" }),
  parseReply: (text) => parseReply({ text, allowedMedia: new Set(), currentMessageId: "1" }),
  fences: (text) => [openFence(text), closeFence(text)],
  draftText: (text) => draftText(text, 4_000),
  render: (text) => [toHtml(render(text)), toPlain(render(text))],
  safeName,
  parsePayload: (text) =>
    parsePayload(Buffer.from(new URLSearchParams([["a", text]]).toString()), "application/x-www-form-urlencoded", true),
  htmlToText,
  decodeEntities,
  stripTags,
  oneLine,
  readBody,
  splitText,
  parseSnapshot,
}

const shapes = [
  "a",
  " ",
  "\n",
  "<",
  "<a",
  "</",
  "<!--",
  "&",
  "&#0",
  "[",
  "[[",
  "[](",
  "[[reply_to:",
  "*",
  "*a",
  "_",
  "`",
  "``` ",
  "~~~\n",
]
shapes.push(
  "|a",
  "\n|-",
  "> ",
  "\n- ",
  "://a",
  "a.",
  "=",
  "&key=",
  "1:",
  "MEDIA: ",
  '"',
  "\\",
  "{",
  "\u202e",
  "\u200b",
  "ﬃ",
  "HEARTBEAT_OK ",
  "System: ",
  '- a "',
)

const size = Number(process.env["FOREIGN_TEXT_SIZE"] ?? 1_500)
for (const [name, read] of Object.entries(readers)) {
  test(`${name} takes time in proportion to its text, whatever the shape`, async () => {
    for (const shape of shapes) {
      const work = (length: number) => read(`x ${shape.repeat(length / shape.length)} x`)
      await assertGrowsInLine(work, { size, what: `${name} ${JSON.stringify(shape)}` })
    }
  })
}
