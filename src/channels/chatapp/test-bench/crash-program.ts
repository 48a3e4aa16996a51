// For tests: a channel in a process of its own that dies at a named point.
// Arguments: state folder, API root, bot token, allowed sender, crash label.
import { join } from "node:path"
import pino from "pino"
import { configSchema } from "../../../config/index.ts"
import { createBackground, createRedactor, systemClock, systemIds } from "../../../kernel/index.ts"
import { openStore } from "../../../store/index.ts"
import { createChatappChannel, createPairing } from "../../index.ts"

const [folder = "", apiRoot = "", botToken = "", sender = "", crashLabel = ""] = process.argv.slice(2)
const log = pino({ level: "silent" })
const crashPoint = (label: string) => {
  if (label === crashLabel) process.kill(process.pid, "SIGKILL")
}
const clock = systemClock
const store = await openStore({ folder, bootId: systemIds.uuid(), clock, ids: systemIds, log, crashPoint })
const config = configSchema.parse({ channels: { chatapp: { apiRoot, botToken, allowFrom: [sender] } } })
const channel = createChatappChannel({
  store,
  config: () => config,
  defaultAgentId: () => "main",
  pairing: createPairing({ store, clock, ids: systemIds, log }),
  clock,
  ids: systemIds,
  log,
  redactor: createRedactor(),
  background: createBackground(log),
  crashPoint,
  stateFolder: folder,
  runtimeFolder: join(folder, "run"),
  environment: {},
  describePicture: async () => undefined,
  rememberRoute: () => undefined,
  renameConfig: () => ({ kind: "invalid", issues: [] }),
  waitForDeliveries: async () => [],
  stopTurn: async () => undefined,
})
await channel.start()
