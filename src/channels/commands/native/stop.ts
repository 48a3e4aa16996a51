// `/stop`: ends what the session does for this chat, and takes away what waits. It overtakes everything.
import type { ChatCommand } from "../contract.ts"

export const stop: ChatCommand = {
  name: "stop",
  summary: "Stops the answer under way and drops what waits",
  access: "authorised",
  time: "now",
  async run(call, services) {
    const { running, waiting } = await services.lanes.stop(call)
    if (running === 0 && waiting === 0) return { text: "Nothing to stop." }
    const dropped =
      waiting === 0 ? "" : ` ${waiting} waiting ${waiting === 1 ? "message was" : "messages were"} dropped.`
    return { text: `${running > 0 ? "Stopped." : "Nothing was under way."}${dropped}` }
  },
}
