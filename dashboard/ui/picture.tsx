// A picture of the gateway: fetched, because a plain image would come without the page's key.
import { useSignal } from "./signals.ts"
import { useEffect } from "preact/hooks"
import { send } from "../api.ts"

export function Picture({ address, alt }: { address: string; alt: string }) {
  const source = useSignal("")
  useEffect(() => {
    let url = ""
    send(address).then(
      async (response) => {
        url = URL.createObjectURL(await response.blob())
        source.value = url
      },
      () => undefined,
    )
    return () => URL.revokeObjectURL(url)
  }, [address])
  return source.value === "" ? null : <img class="picture" src={source.value} alt={alt} />
}
