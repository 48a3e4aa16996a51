// The `svc` program: version check, then the program itself. Nothing is imported at the top, so that an old Node
// can still read this file and say what it lacks, and so that each command loads only what it needs.
const oldestNode = [22, 18] as const

function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
}

// Node.js answers SIGUSR1 by opening its inspector, which runs any code for any user of the machine: not here.
if (process.platform !== "win32") process.on("SIGUSR1", () => undefined)

if (isSupported(process.versions.node)) {
  void import("./program.ts").then(({ runProcess }) => runProcess())
} else {
  process.stderr.write(
    `error: svc needs Node ${oldestNode.join(".")} or newer, but this is Node ${process.versions.node} (${process.execPath})\n` +
      `hint: install Node 24, or run "npx svc" in the project's folder, which brings its own Node\n`,
  )
  process.exitCode = 1
}
