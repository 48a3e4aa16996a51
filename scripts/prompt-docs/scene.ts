// One entry of the page: what happens, and what the model is shown of it.
import type { Shown, World } from "./world.ts"

export interface Scene {
  title: string
  /** What has come in; one or two sentences. */
  about: string
  play(world: World): Promise<Shown>
}
