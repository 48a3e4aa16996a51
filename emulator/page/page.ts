// The chat page as one document: its script and its style were built with the program, or are built from the sources.
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"

export interface ChatPage {
  html: string
  /** What the page may do, as the value of a Content-Security-Policy. */
  policy: string
}

interface Built {
  script: string
  style: string
}

let loading: Promise<ChatPage> | undefined

/** Read or built once. Rejects when neither can be done. */
export function loadPage(): Promise<ChatPage> {
  loading ??= compose().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

async function compose(): Promise<ChatPage> {
  const { script: source, style } = await load()
  const script = source.replaceAll("</script", "<\\/script")
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "img-src blob: data:",
    "media-src blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ")
  return { html: document(script, style), policy }
}

/** Beside the bundle, or beside the folder of its chunks. */
const builtPlaces = ["./emulator-page/", "../emulator-page/"]

async function load(): Promise<Built> {
  for (const place of builtPlaces) {
    const read = (name: string) => readFile(new URL(`${place}${name}`, import.meta.url), "utf8")
    try {
      return { script: await read("page.js"), style: await read("style.css") }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
    }
  }
  // The address is no literal, so that what is shipped does not take the build along.
  const build = new URL("../../scripts/build-emulator-page.mjs", import.meta.url).href
  const { bundleEmulatorPage } = (await import(build)) as { bundleEmulatorPage(): Promise<Built> }
  return bundleEmulatorPage()
}

function document(script: string, style: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>Chat</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body><script>${script}</script></body>
</html>
`
}
