// Files of the gateway: fetched, because a plain link would come without the page's key.
import { send } from "../api.ts"

export async function download(path: string, name: string): Promise<void> {
  const url = URL.createObjectURL(await (await send(path)).blob())
  Object.assign(document.createElement("a"), { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
