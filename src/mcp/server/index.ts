// Our side of MCP as a server: nothing of it is loaded before the first request.
import type { Ids, Log } from "../../kernel/index.ts"
import type { Caller, ServerLinks } from "../contract.ts"
import { createPictures } from "./pictures.ts"
import type { Served } from "./serve.ts"

export interface McpServer {
  handle(request: Request, caller: Caller): Promise<Response>
  /** Ends what is being answered. */
  stop(): Promise<void>
}

export function createMcpServer(options: ServerLinks & { ids: Ids; log: Log }): McpServer {
  let served: Promise<Served> | undefined
  const load = async () => {
    const { serve } = await import("./serve.ts")
    return serve({ ...options, pictures: createPictures(options.ids) })
  }
  return {
    async handle(request, caller) {
      served ??= load().catch((error: unknown) => {
        // Out of handles, say: the next request tries again.
        served = undefined
        throw error
      })
      return await (await served).handle(request, caller)
    },
    async stop() {
      await (await served)?.stop()
    },
  }
}
