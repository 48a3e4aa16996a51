// Ends browser processes, which need not be children of ours, together with everything that they have started.
import { isProcessAlive } from "../../kernel/process-alive.ts"

const lookMs = 20

/**
 * Ends a process and its group: a polite signal, a wait, then a firm one. Resolves as soon as the process is gone, or was
 * given all the time there is.
 */
export async function endGroup(pid: number, waits: { politeMs: number; firmMs: number }): Promise<void> {
  if (waits.politeMs > 0) {
    signalGroup(pid, "SIGTERM")
    await isGoneWithin(pid, waits.politeMs)
  }
  // To what is left of the group also when its leader is gone.
  signalGroup(pid, "SIGKILL")
  await isGoneWithin(pid, waits.firmMs)
}

/** Whether the process ends in time. It need not be a child of ours. */
export async function isGoneWithin(pid: number, ms: number): Promise<boolean> {
  for (const until = performance.now() + ms; isProcessAlive(pid); await pause(lookMs)) {
    if (performance.now() >= until) return false
  }
  return true
}

/** One that leads no group is meant alone. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  const isGroup = process.platform !== "win32" && send(-pid, signal)
  if (!isGroup) send(pid, signal)
}

function send(target: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(target, signal)
  } catch (error) {
    // ESRCH: nobody left, which is what we want. EPERM: a zombie's group on some systems.
    const { code } = error as NodeJS.ErrnoException
    if (code !== "ESRCH" && code !== "EPERM") throw error
    return false
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
