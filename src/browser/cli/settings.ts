// Commands that change what a tab pretends to be, until it is changed again.
import { AppError } from "../../kernel/errors.ts"
import { act, type CommandSpec, type Run } from "./command.ts"

async function post({ send, io, options }: Run, name: string, body: object, words: string) {
  const reply = await send("POST", `/set/${name}`, { body: { ...body, targetId: options.targetId }, timeoutMs: 20_000 })
  return { reply, show: () => io.print(words) }
}

const clearFlag: [string, string] = ["--clear", "take the setting away"]

export const settingCommands: CommandSpec[] = [
  {
    usage: "viewport <width> <height>",
    description: "Give the page a view of this size",
    example: "svc browser set viewport 1280 800",
    json: "ActReply",
    tab: true,
    perform: async (run, width, height) => {
      const reply = await act(run, { kind: "resize", width, height })
      return { reply, show: () => run.io.print(`viewport ${width}x${height}`) }
    },
  },
  {
    usage: "offline <state>",
    description: "Cut the page off from the network, or not: on or off",
    example: "svc browser set offline on",
    json: "Done",
    tab: true,
    perform: async (run, state) => {
      if (state !== "on" && state !== "off") throw new AppError("bad-request", "Give on or off")
      return post(run, "offline", { offline: state === "on" }, `offline ${state}`)
    },
  },
  {
    usage: "headers [headers]",
    description: "Send these headers with every request of the page, as a JSON object",
    example: `svc browser set headers '{"X-Test":"1"}'`,
    json: "Done",
    tab: true,
    flags: [clearFlag],
    perform: async (run, text) => {
      const headers: unknown = run.options["clear"] ? {} : parseJson(text ?? "")
      return post(run, "headers", { headers }, run.options["clear"] ? "headers cleared" : "headers set")
    },
  },
  {
    usage: "credentials [user] [password]",
    description: "Answer the site of the tab when it asks for a name and password",
    example: "svc browser set credentials ada secret",
    json: "Done",
    tab: true,
    flags: [["--origin <url>", "the site that they are for (default: the tab's, else the next it shows)"], clearFlag],
    perform: async (run, username, password) => {
      const { origin, clear } = run.options
      if (clear) return post(run, "credentials", { clear: true }, "credentials cleared")
      const given = { username: username === "" ? undefined : username, password, origin }
      return post(run, "credentials", given, "credentials set")
    },
  },
  {
    usage: "geo [latitude] [longitude]",
    description: "Put the page at a place, and let it ask for it",
    example: "svc browser set geo 48.2 16.4",
    json: "Done",
    tab: true,
    flags: [
      ["--accuracy <metres>", "how exact the place is (default 10)"],
      ["--origin <url>", "the site that may ask (default: the page's)"],
      clearFlag,
    ],
    perform: async (run, latitude, longitude) => {
      if (run.options["clear"]) return post(run, "geolocation", { clear: true }, "geolocation cleared")
      const { accuracy, origin } = run.options
      const place = { latitude: latitude || undefined, longitude: longitude || undefined, accuracy, origin }
      return post(run, "geolocation", place, "geolocation set")
    },
  },
  {
    usage: "media <scheme>",
    description: "Show the page in a colour scheme: dark, light, no-preference or none",
    example: "svc browser set media dark",
    json: "Done",
    tab: true,
    perform: async (run, colorScheme) => post(run, "media", { colorScheme }, `media ${colorScheme}`),
  },
  {
    usage: "timezone <id>",
    description: "Put the page into a time zone",
    example: "svc browser set timezone Europe/Vienna",
    json: "Done",
    tab: true,
    perform: async (run, timezoneId) => post(run, "timezone", { timezoneId }, `timezone ${timezoneId}`),
  },
  {
    usage: "locale <locale>",
    description: "Give the page a language",
    example: "svc browser set locale de-AT",
    json: "Done",
    tab: true,
    perform: async (run, locale) => post(run, "locale", { locale }, `locale ${locale}`),
  },
  {
    usage: "device [name]",
    description: "Make the tab look like a device",
    example: 'svc browser set device "Pixel 7"',
    json: "Done",
    tab: true,
    flags: [clearFlag],
    perform: async (run, name) => {
      if (run.options["clear"]) return post(run, "device", { clear: true }, "device cleared")
      return post(run, "device", { name: name === "" ? undefined : name }, `device ${name}`)
    },
  },
]

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new AppError("bad-request", "The headers are not a JSON object", { cause: error })
  }
}
