// How long one call to the platform may take. What answers late does not answer at all: whoever waits behind it goes on.

/** Calls that carry no file. */
const longestCallSeconds = 60
/** A slow line still moves that much: what a file may take on top. */
const slowestBytesPerSecond = 50_000

/** `timeoutSeconds` is the configuration's own limit and holds for all calls. */
export function callTimeoutMs(timeoutSeconds: number, uploadBytes = 0): number {
  const seconds = longestCallSeconds + uploadBytes / slowestBytesPerSecond
  return Math.ceil(Math.min(timeoutSeconds, seconds) * 1000)
}

/** Decoration that is slower is not worth a place. */
export const decorationTimeoutMs = 5_000
