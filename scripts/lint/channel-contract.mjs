// A channel is known by its contract (`src/channels/contract.ts`): nothing but the composition looks into its folder, so that each can
// be changed, switched off or left out by itself. Types count as imports, and so does what is loaded later.
import { dirname, posix } from "node:path"

const folder = "src/channels/"
/** Below `channels`, and no channel: what all of them are made with. None of it knows a channel. */
const common = new Set(["access", "commands", "shared"])

/** Doors to all channels: for the composition, and for what the command line does without a gateway. */
const door = `${folder}index.ts`
const programDoor = `${folder}cli.ts`

/** Who may look into every channel: what puts the product together, and what tries and describes it. */
const composers = [
  /^src\/main(?:\/|\.ts$)/,
  /^src\/(?:setup|doctor)\//,
  /^src\/channels\/(?:index|cli)\.ts$/,
  /^(?:test|bench|emulator|scripts)\//,
  /\.test\.ts$|\/test-bench\//,
]

/** Why a file (of the repository, with `/`) may not import this; undefined where it may. */
export function problemOfImport(file, source) {
  if (!source.startsWith(".")) return undefined
  const target = posix.join(dirname(file), source)
  const channel = channelOf(target)
  if (composers.some((pattern) => pattern.test(file))) return undefined
  if (target === door || (target === programDoor && !file.startsWith("cli/")))
    return "Only the composition (src/main) knows the channels; go through src/channels/contract.ts"
  if (channel === undefined || channelOf(file) === channel) return undefined
  if (target.endsWith(`/${channel}/config.ts`) && file.startsWith("src/config/")) return undefined
  // Wire types of the command line's own channel.
  if (target === `${folder}terminal/contract.ts` && file.startsWith("cli/")) return undefined
  return `Only the composition (src/main) knows the channel ${channel}; go through src/channels/contract.ts`
}

function channelOf(path) {
  if (!path.startsWith(folder)) return undefined
  const [name, ...rest] = path.slice(folder.length).split("/")
  return rest.length === 0 || common.has(name) ? undefined : name
}

export const channelContract = {
  create(context) {
    const file = context.filename
      .replaceAll("\\", "/")
      .replace(/^.*?\/(?=(?:src|cli|test|bench|emulator|dashboard|extension|scripts)\/)/, "")
    const check = (node, source) => {
      const problem = typeof source?.value === "string" ? problemOfImport(file, source.value) : undefined
      if (problem !== undefined) context.report({ node, message: problem })
    }
    return {
      ImportDeclaration: (node) => check(node, node.source),
      ExportNamedDeclaration: (node) => check(node, node.source),
      ExportAllDeclaration: (node) => check(node, node.source),
      ImportExpression: (node) => check(node, node.source),
    }
  },
}
