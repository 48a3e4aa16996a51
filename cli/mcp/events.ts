// Server-sent events, as far as an answer of `/mcp` has them: the data of each.

/** Of one event. */
const maxChars = 32 * 1024 * 1024

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ""
  let data: string[] = []
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    if (rest.length > maxChars) throw new Error("an event is too large")
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw
      if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""))
      if (line !== "" || data.length === 0) continue
      yield data.join("\n")
      data = []
    }
  }
}
