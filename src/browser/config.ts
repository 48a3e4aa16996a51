// The keys of `browser.*` and `nodeHost.*`: profiles, how browsers are found and started, and what they may do.
import { z } from "zod"
import { ruleProblem } from "./page/policy/rules.ts"

/** Orange: a managed browser is told from a person's own at a glance. */
const defaultColour = "#FF4500"
const defaultRemoteTimeoutMs = 1500

export const colour = z
  .string()
  .trim()
  .overwrite((text) => (text.startsWith("#") ? text : `#${text}`).toUpperCase())
  .regex(/^#[0-9A-F]{6}$/, "must be a colour of six hex digits, such as #FF4500")

export const cdpUrl = z.url({ protocol: /^(https?|wss?)$/, error: "must be an http, https, ws or wss URL" })
const timeoutMs = z.int().min(1).max(60_000)

const hostList = z
  .array(
    z
      .string()
      .trim()
      .check((context) => {
        const problem = ruleProblem(context.value)
        if (problem !== undefined) context.issues.push({ code: "custom", input: context.value, message: problem })
      }),
  )
  .max(1_000)
  .default([])

const profile = z
  .strictObject({
    cdpUrl: cdpUrl.optional().meta({
      description:
        "CDP address (http, https, ws or wss) of a browser that somebody else runs; it may carry credentials. Makes the profile remote.",
      secret: true,
    }),
    cdpPort: z.int().min(1).max(65535).optional().meta({
      description:
        "Lets the browser listen for CDP on this port of 127.0.0.1, or the next free one of 18800 to 18899: every program and user of this machine can then drive it. Without it the browser is driven through a pipe, and nothing listens. With `browser.attachOnly`: where the browser is that somebody has started.",
      defaultText: "no port",
    }),
    driver: z.enum(["managed", "relay", "extension", "existing"]).default("managed").meta({
      description:
        "`relay` (or `extension`): the tabs of your own browser that you attach with the extension's button. `existing`: your own running Chrome as a whole, by its own permission for remote debugging. `managed`: a browser of the gateway's own, or the one at `cdpUrl`.",
    }),
    userDataDir: z.string().trim().min(1).optional().meta({
      description: "For `driver: existing`: the folder with the data of the running browser.",
      defaultText: "where Chrome, Chromium, Brave or Edge keep it",
    }),
    newTabs: z.boolean().optional().meta({
      defaultText: "`true`",
      description:
        "For `driver: relay`: whether the agent may open tabs of its own while one is attached. The extension's options must allow it too.",
    }),
    color: colour
      .optional()
      .meta({ description: "Tint of the browser of this profile.", defaultText: "`browser.color`" }),
  })
  .meta({ description: "One browser profile." })

export const browserSchema = z
  .strictObject({
    enabled: z.boolean().default(true).meta({ description: "Whether browser control is on." }),
    defaultProfile: z.string().trim().min(1).default("relay").meta({
      description:
        "Profile that is used when none is named. `relay` is your own browser from the moment on at which its extension is paired; until then it means the browser of `browser.cdpUrl`, else `managed`. Set `managed` to use a browser of the gateway's own in any case.",
    }),
    executablePath: z.string().trim().min(1).optional().meta({
      description: "The browser's program.",
      defaultText: "detected",
    }),
    headless: z
      .union([z.boolean(), z.literal("auto")])
      .default("auto")
      .meta({
        description: "Whether managed browsers run without a window; `auto`: only where there is no display.",
      }),
    noSandbox: z.boolean().default(false).meta({
      description: "Starts managed browsers without their own sandbox, where the system does not allow one.",
    }),
    cdpUrl: cdpUrl.optional().meta({
      description:
        "CDP address of the profile `remote`, which is then the default while the relay is not used; it may carry credentials.",
      defaultText: "the relay's port on 127.0.0.1",
      secret: true,
    }),
    profiles: z
      .record(z.string().regex(/^[a-z0-9-]+$/, "must be lower-case letters, digits and dashes"), profile)
      .default({})
      .meta({ description: "Profiles by name." }),
    color: colour.default(defaultColour).meta({ description: "Tint of the browser's window." }),
    attachOnly: z.boolean().default(false).meta({
      description:
        "Never start a browser: a profile uses the one that listens on its `cdpPort` (18800 unless it is set), if its owner has started it.",
    }),
    remoteCdpTimeoutMs: timeoutMs.default(defaultRemoteTimeoutMs).meta({
      description: "Milliseconds to wait for the HTTP answer of a remote browser; a second try waits twice as long.",
    }),
    remoteCdpHandshakeTimeoutMs: timeoutMs.optional().meta({
      description: "Milliseconds to wait for the WebSocket of a remote browser; a second try waits twice as long.",
      defaultText: "twice remoteCdpTimeoutMs, at least 2000",
    }),
    takeoverMinutes: z
      .int()
      .min(1)
      .max(24 * 60)
      .default(30)
      .meta({
        description:
          "Minutes for which the link to a tab is good that the agent hands to you, and then again that you have it in your hands.",
      }),
    evaluateEnabled: z.boolean().default(true).meta({
      description: "Whether code may be run in pages (`act kind=evaluate`, `evaluate`, `wait --fn`).",
    }),
    snapshotDefaults: z
      .strictObject({
        mode: z.enum(["efficient", "full"]).optional().meta({
          description: "Mode of snapshots for which the caller names none (tool and command line only).",
          defaultText: "efficient for the tool, full for the command line",
        }),
      })
      .prefault({})
      .meta({ description: "Defaults of snapshots." }),
    navigation: z
      .strictObject({
        policy: z.enum(["open", "strict"]).default("open").meta({
          description:
            "Which addresses pages may open. `open`: all but metadata services of clouds, link-local addresses and the gateway's own ports. `strict`: only the public internet. Turns of untrusted origin always get `strict`.",
        }),
        allow: hostList.meta({
          description:
            "What `strict` lets through besides: `host`, `*.host`, an address or a network such as `10.0.0.0/8`, each with `:port` for that port only.",
        }),
        deny: hostList.meta({ description: "What is refused in any case, in the same forms; it wins over `allow`." }),
      })
      .prefault({})
      .meta({ description: "Which addresses may be opened." }),
  })
  .transform((browser) => ({
    ...browser,
    remoteCdpHandshakeTimeoutMs: browser.remoteCdpHandshakeTimeoutMs ?? Math.max(2000, 2 * browser.remoteCdpTimeoutMs),
  }))
  .prefault({})
  .meta({ description: "Browser control." })

export const nodeHostSchema = z
  .strictObject({
    browserProxy: z
      .strictObject({
        enabled: z.boolean().default(true).meta({
          description: "Whether this machine, as a node (`svc node run`), offers its browser to the gateway.",
        }),
        allowProfiles: z.array(z.string().trim().min(1).max(64)).max(200).optional().meta({
          description: "Browser profiles that the gateway may use; it sees no others, and makes and removes none.",
          defaultText: "all",
        }),
      })
      .prefault({})
      .meta({ description: "The browser of a node." }),
  })
  .prefault({})
  .meta({ description: "This machine as a node of another gateway." })

export type BrowserConfig = z.infer<typeof browserSchema>
export type BrowserProfileConfig = z.infer<typeof profile>
export type NodeHostConfig = z.infer<typeof nodeHostSchema>
