// One answer wherever a channel is named that is not there: it says which ones are.
import { AppError } from "../kernel/errors.ts"

export function unknownChannel(name: string, known: Iterable<string>): AppError {
  const names = [...known].toSorted()
  const hint = names.length > 0 ? `Channels: ${names.join(", ")}` : "No chat is connected yet; see: svc setup"
  return new AppError("channel-unknown", `There is no channel named ${JSON.stringify(name)}`, { hint })
}
