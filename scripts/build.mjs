// Bundles what is shipped: the CLI as one CommonJS file (ESM imports of node:http cost it 20 ms) and the
// gateway as ES modules with lazily loaded chunks.
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { asciiOutput } from "./ascii-output.ts"
import { buildExtension } from "./build-extension.ts"
import { buildDashboard } from "./build-dashboard.mjs"
import { buildEmulatorPage } from "./build-emulator-page.mjs"
import { loadedWhenUsed, moduleOptions } from "./bundle-options.ts"
import { newest } from "./newest.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, "dist")

function isFresh() {
  const sources = ["src", "cli", "emulator", "extension", "dashboard", "scripts", "package.json", "package-lock.json"]
  return newest(join(dist, "svc.cjs")) > newest(...sources.map((name) => join(root, name)))
}

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node22.18",
  sourcemap: false,
  legalComments: "none",
  logLevel: "warning",
  plugins: [asciiOutput],
  define: { "process.env.NODE_ENV": '"production"' },
}

if (process.argv.includes("--if-changed") && isFresh()) process.exit(0)
// Commands that carry zod and more, which the CLI must not load at its start, are files of their own.
const programs = {
  gateway: "src/main.ts",
  emulator: "emulator/main.ts",
  "backup-commands": "src/main/backup-cli.ts",
  "config-commands": "src/main/config-cli.ts",
  "doctor-commands": "src/doctor/doctor.ts",
  "setup-commands": "src/setup/setup.ts",
  "model-commands": "src/main/models/cli.ts",
  "channel-commands": "src/channels/cli.ts",
  "update-commands": "src/main/update-cli.ts",
  "service-commands": "src/main/service-cli.ts",
  "gmail-commands": "src/hooks/gmail/cli.ts",
  "node-worker": "src/main/node-worker.ts",
}

async function bundle(output) {
  await build({
    ...shared,
    ...moduleOptions,
    entryPoints: programs,
    outdir: output,
    chunkNames: "chunks/[name]-[hash]",
  })
  await build({
    ...shared,
    entryPoints: { svc: "cli/main.ts" },
    plugins: [loadedWhenUsed, ...shared.plugins],
    outdir: output,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    minify: true,
    banner: { js: "#!/usr/bin/env node" },
  })
  // As CommonJS it loads of Node.js only what it uses, which a node that waits for months has in its memory.
  await build({
    ...shared,
    entryPoints: { "node-host": "src/main/node-host.ts" },
    outdir: output,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
  })
  await buildExtension(root, join(output, "extension"))
  await buildDashboard(join(output, "dashboard"))
  await buildEmulatorPage(join(output, "emulator-page"))
  chmodSync(output, 0o755)
  chmodSync(join(output, "svc.cjs"), 0o755)
}

// Built beside and put in place whole, so that a program that runs from dist never finds half of it.
const output = mkdtempSync(join(root, ".dist-"))
const old = `${output}-old`
try {
  await bundle(output)
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(output, dist)
} finally {
  for (const folder of [output, old]) rmSync(folder, { recursive: true, force: true })
}
