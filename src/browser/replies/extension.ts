// What the control service answers about the browser extension.
import { z } from "zod"

export const extensionStatus = z.object({
  path: z.string().nullable().describe("Folder that a browser loads it from; null until it is installed."),
  installedVersion: z.string().nullable(),
  shippedVersion: z.string().nullable().describe("Of the one that came with this release."),
  paired: z.boolean().describe("An extension has shown that it has the code."),
  codeWaits: z.boolean().describe("A code was made and no extension has shown it yet."),
  connected: z.boolean().describe("It connects while tabs are attached."),
  version: z.string().nullable().describe("Of the one that is connected."),
  userAgent: z.string().nullable(),
  port: z.number().describe("Of the relay."),
  listening: z.boolean(),
  problem: z.string().nullable().describe("Why the relay does not listen."),
  tabs: z.array(
    z.object({
      targetId: z.string(),
      title: z.string(),
      url: z.string(),
      by: z.enum(["person", "agent", "page"]).describe("Who attached or opened it."),
    }),
  ),
})

export const extensionInstalled = z.object({ ok: z.literal(true), path: z.string(), version: z.string() })

export const extensionPaired = z.object({
  ok: z.literal(true),
  code: z.string().describe("For the extension's options; it is not shown again."),
  port: z.number(),
})
