// A voice message from the microphone.

export interface Recording {
  finish(): Promise<{ file: File; seconds: number }>
}

/** What voice messages are made of on the platform comes first; browsers that cannot write it take what they can. */
const types = ["audio/ogg;codecs=opus", "audio/mp4", "audio/webm;codecs=opus"]

const pieceMs = 100
const silenceMs = 3_000

export async function startRecording(): Promise<Recording> {
  const type = types.find((each) => MediaRecorder.isTypeSupported(each))
  if (type === undefined) throw new Error("This browser cannot record sound. Attach a file and send it as voice.")
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true }).catch((cause: unknown) => {
    throw new Error("There is no microphone that may be used. Attach a file and send it as voice.", { cause })
  })
  const recorder = new MediaRecorder(stream, { mimeType: type })
  const pieces: Blob[] = []
  const heard = new Promise<void>((resolve) => {
    recorder.ondataavailable = ({ data }) => {
      pieces.push(data)
      if (data.size > 0) resolve()
    }
  })
  const began = performance.now()
  recorder.start(pieceMs)
  return {
    async finish() {
      await Promise.race([heard, new Promise((resolve) => setTimeout(resolve, silenceMs))])
      const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }))
      recorder.stop()
      await stopped
      for (const track of stream.getTracks()) track.stop()
      const [mimeType = type] = type.split(";")
      const file = new File(pieces, `voice.${mimeType.slice(mimeType.indexOf("/") + 1)}`, { type: mimeType })
      if (file.size === 0) throw new Error("The microphone gave no sound.")
      return { file, seconds: Math.max(1, Math.round((performance.now() - began) / 1000)) }
    },
  }
}
