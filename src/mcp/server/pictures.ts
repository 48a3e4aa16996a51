// Pictures that tools have made, kept in memory for a while so that whoever asked can fetch them as resources: a picture
// in the answer itself would stand in a model's context whether it is looked at or not. Each is its caller's alone.
import { AppError, type Ids } from "../../kernel/index.ts"

export interface Picture {
  uri: string
  name: string
  mediaType: string
  /** Base64. */
  data: string
}

export interface Pictures {
  add(callerId: string, picture: { mediaType: string; data: string }): Picture
  list(callerId: string): Picture[]
  /** Throws `not-found`. */
  read(callerId: string, uri: string): Picture
}

/** Base64 characters of all together, some 24 MB of pictures, and how many. */
const maxChars = 32 * 1024 * 1024
const maxCount = 32

export function createPictures(ids: Ids): Pictures {
  const kept = new Map<string, Picture & { callerId: string }>()
  const trim = () => {
    let chars = 0
    for (const [uri, { data }] of [...kept].reverse()) {
      chars += data.length
      if (chars > maxChars && kept.size > 1) kept.delete(uri)
    }
    for (const uri of kept.keys()) if (kept.size > maxCount) kept.delete(uri)
  }
  return {
    add(callerId, { mediaType, data }) {
      const name = `${ids.token(9)}.${mediaType.replace("image/", "")}`
      const picture = { uri: `svc://pictures/${name}`, name, mediaType, data }
      kept.set(picture.uri, { ...picture, callerId })
      trim()
      return picture
    },
    list: (callerId) => [...kept.values()].filter((picture) => picture.callerId === callerId),
    read(callerId, uri) {
      const picture = kept.get(uri)
      if (picture?.callerId === callerId) return picture
      throw new AppError("not-found", "There is no such picture any more", { hint: "Take it again" })
    },
  }
}
