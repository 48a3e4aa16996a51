// What our requests to a server's address are held to: a size of answers, and no way to other origins.
import { AppError } from "../../kernel/index.ts"

/** Of one answer or stream. */
const maxBytes = 32 * 1024 * 1024

/** `fetch` whose answers end with an error when they grow too large. */
export async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  if (!response.body) return response
  let size = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.byteLength
      if (size <= maxBytes) controller.enqueue(chunk)
      else controller.error(new AppError("mcp-unavailable", `The server sent more than ${maxBytes} bytes`))
    },
  })
  const { status, statusText, headers } = response
  const bounded = new Response(response.body.pipeThrough(counter), { status, statusText, headers })
  Object.defineProperty(bounded, "url", { value: response.url })
  return bounded
}
