// What a tab tells those who wait for its page.

/**
 * What the main frame is about: off to another document, that document ready, or at rest (a download, an empty answer).
 * `file`: the page asks for a file; the browser tells of it when it has looked at it.
 */
export type NavigationEvent = "started" | "ready" | "stopped" | "file"

/** Of a request that a script made. */
export interface RequestEvent {
  id: string
  /** `answered`: the head of the answer is there; its body may never be read. */
  kind: "began" | "answered" | "ended"
}

export interface LifecycleEvent {
  frameId: string
  loaderId: string
  name: string
}
