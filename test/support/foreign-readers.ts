// Every function that sees text of strangers, by a name, and texts of every shape that has ever made one of them slow.
import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import { describeAction } from "../../src/approvals/index.ts"
import { isHeartbeatAck, wrapUntrusted } from "../../src/agent/index.ts"
import { neutralize } from "../../src/agent/boundary.ts"
import { mark } from "../../src/agent/prompt/segments.ts"
import { safeName } from "../../src/browser/files/safe-name.ts"
import { chunkPieces } from "../../src/channels/chatapp/outbound/chunk.ts"
import { createRenderer } from "../../src/channels/chatapp/outbound/render.ts"
import { draftText } from "../../src/channels/shared/live-text.ts"
import { toHtml, toPlain } from "../../src/channels/chatapp/outbound/spans.ts"
import { readCommand } from "../../src/channels/commands/read.ts"
import { compileMentions } from "../../src/channels/mentions.ts"
import { browserName } from "../../src/gateway/page/browser-name.ts"
import { closeFence, openFence } from "../../src/delivery/fence.ts"
import { nextCut } from "../../src/delivery/early/cut.ts"
import { parseReply } from "../../src/delivery/reply.ts"
import { parsePayload } from "../../src/hooks/body.ts"
import { decodeEntities, htmlToText } from "../../src/hooks/gmail/mail-text.ts"
import { AppError, createRedactor, systemIds } from "../../src/kernel/index.ts"
import { sectionsOf } from "../../src/memory/sections.ts"
import { oneLine, stripTags } from "../../src/models/failure/clean.ts"
import { readBody } from "../../src/models/failure/cause.ts"
import { stripHiddenReasoning } from "../../src/models/reply/index.ts"
import { splitText } from "../../src/models/offline/reading.ts"
import { parseSnapshot } from "../../src/models/offline/snapshot.ts"
import { plainName } from "../../src/nodes/gateway/messages.ts"
import { readWhen } from "../../src/schedules/when.ts"
import { recallMessages } from "../../src/sessions/archive/recall.ts"
import { renderMessage } from "../../src/sessions/archive/render.ts"
import type { Store } from "../../src/store/index.ts"

const redactor = createRedactor()
redactor.add("a-known-secret-0123")
const render = createRenderer()
const named = compileMentions({ name: "Molty", emoji: "🦞" })
const chosen = compileMentions({ patterns: ["^(a+)+$", "(\\s|x)*bot"] })

/** The Markdown of the page, as it is bundled for browsers; what it makes is looked at to its last element. */
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL("../../dashboard/ui/markdown.tsx", import.meta.url))],
  bundle: true,
  write: false,
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  // The frame round code is drawn with the rest of the page, which wants a browser.
  plugins: [
    {
      name: "without the page",
      setup(bundle) {
        bundle.onResolve({ filter: /\/parts\.tsx$/ }, () => ({ path: "parts", namespace: "frame" }))
        bundle.onLoad({ filter: /./, namespace: "frame" }, () => ({ contents: "export const Code = () => null" }))
      },
    },
  ],
})
const page = (await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? "").toString("base64")}`
)) as { Markdown: (given: { text: string }) => unknown }

/** What is too long or cannot be read is told with an error. */
function refusedOr(read: () => unknown): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
}

/** Those that look something up do it in the store. What they are given is the size of the whole text that came. */
export function foreignReaders(store: Store): Record<string, (text: string) => unknown> {
  return {
    neutralize,
    wrapUntrusted: (text) => wrapUntrusted(systemIds, { source: "webhook", about: { name: text }, text }),
    mark,
    describeAction: (text) => {
      const part = text.slice(0, Math.ceil(text.length / 3))
      return describeAction(part, { [part]: [part, ...part.slice(0, 10_000)] })
    },
    redact: (text) => redactor.redact(text),
    isHeartbeatAck: (text) => isHeartbeatAck(text, false, 300),
    mentions: (text) => named.match(text) || chosen.match(text),
    readCommand: (text) => readCommand(text, { botName: "ship_bot" }),
    parseReply: (text) => parseReply({ text, allowedMedia: new Set(), currentMessageId: "1" }),
    parseMarkedReply: (text) =>
      parseReply({ text: `[[audio_as_voice]]${text}\nMEDIA:a`, allowedMedia: new Set(), currentMessageId: "1" }),
    /** Between two parts there is a pause: what is cut is sent first. */
    earlyParts: (text) => {
      let open: ReturnType<typeof openFence>
      for (let from = 0; ;) {
        const rest = text.slice(from)
        const cut = nextCut(rest, open, { minChars: 100, maxChars: 400 }, "complete")
        if (cut === undefined) return
        open = openFence(rest.slice(0, cut), open)
        from += cut
      }
    },
    openFence,
    closeFence,
    draftText: (text) => draftText(text, 4_000),
    render: (text) => {
      const rendered = render(text)
      return [toHtml(rendered), toPlain(rendered)]
    },
    messages: (text) => chunkPieces(render(text), 400),
    safeName,
    parsePayload: (text) =>
      refusedOr(() => parsePayload(Buffer.from(`a=${text}`), "application/x-www-form-urlencoded", true)),
    htmlToText,
    decodeEntities,
    stripTags,
    oneLine,
    readBody,
    hiddenReasoning: (text) => stripHiddenReasoning(text, "auto"),
    exported: (text) =>
      renderMessage("markdown", {
        id: 1,
        sessionId: "s",
        runId: null,
        at: 0,
        origin: "webhook",
        trusted: false,
        isSummary: false,
        message: {
          role: "tool",
          results: [{ callId: "1", toolName: "read", content: [{ type: "text", text }], isError: false }],
        },
      }),
    splitText,
    parseSnapshot,
    markdownOfThePage: (text) => page.Markdown({ text }),
    sectionsOf,
    timesOfSchedules: (text) => {
      for (const name of ["in", "at", "cron"] as const)
        refusedOr(() => readWhen({ [name]: text }, 1_790_000_000_000, "UTC"))
    },
    questions: (text) => recallMessages(store, { question: text, limit: 5, excerpt: 100, exceptTool: "none" }),
    browserName,
    plainName: (text) => plainName(text, "0123456789abcdef"),
  }
}

export const hostileShapes = [
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
hostileShapes.push(
  "|",
  "||a",
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
  "\u{e0041}",
  "a\ud800",
  "ﬃ",
  "HEARTBEAT_OK ",
  "System: ",
  "1s",
  "9m 9",
  "*/",
  "'a",
  "\u0301",
  "**a",
  "~~",
  "__(",
  "1. ",
  "# ",
  '- a "',
  "![](",
  "&amp;",
  "👩\u200d",
  "\n~~~js\nMEDIA:a",
  "\n\n",
)
