// `/pause` and `/resume`: nothing starts until its owner says so; messages wait.
import type { ChatCommand } from "../contract.ts"

export const pause: ChatCommand = {
  name: "pause",
  summary: "Pauses everything until /resume; messages are kept",
  access: "owner",
  time: "now",
  async run({ sender }, services) {
    const isNew = await services.pause.begin(`chat:${sender.id}`)
    const text = isNew ? "Paused: nothing starts any more, and what comes is kept." : "I am paused already."
    return { text: `${text} Go on with /resume.` }
  },
}

export const resume: ChatCommand = {
  name: "resume",
  summary: "Ends the pause; what has waited goes on",
  access: "owner",
  time: "now",
  async run({ sender }, services) {
    const waiting = await services.pause.end(`chat:${sender.id}`)
    if (waiting === undefined) return { text: "I am not paused." }
    return {
      text:
        waiting === 0 ? "I go on. Nothing has waited." : `I go on. Conversations with something waiting: ${waiting}.`,
    }
  },
}
