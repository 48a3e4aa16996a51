// A picture of the gateway: fetched, because a plain image would come without the page's key.
import { useSignal } from "./signals.ts"
import { useEffect } from "./hooks.ts"
import { send } from "../api.ts"

/** Returns what ends it, and lets go of the picture. One that comes later is neither kept nor shown. */
export function fetchPicture(address: string, show: (url: string) => void): () => void {
  const control = new AbortController()
  let url = ""
  const get = async () => {
    const response = await send(address, { signal: control.signal })
    const picture = await response.blob()
    if (control.signal.aborted) return
    url = URL.createObjectURL(picture)
    show(url)
  }
  get().catch(() => undefined)
  return () => {
    control.abort()
    URL.revokeObjectURL(url)
  }
}

export function Picture({ address, alt }: { address: string; alt: string }) {
  const source = useSignal("")
  useEffect(() => fetchPicture(address, (url) => (source.current = url)), [address])
  return source.current === "" ? null : <img class="picture" src={source.current} alt={alt} />
}
