// A terminal: what it says stands only in rows that are painted.
import { Terminal } from "@xterm/xterm"
import "@xterm/xterm/css/xterm.css"

document.querySelector("#root").innerHTML = "<h1>Console</h1><div id=terminal></div>"
const terminal = new Terminal({ rows: 10, cols: 60 })
terminal.open(document.querySelector("#terminal"))
terminal.write("$ ")
let line = ""
let answered = false
terminal.onData((data) => {
  for (const key of data) {
    if (key === "\r") {
      answered = line.trim() === "count files"
      terminal.write(answered ? "\r\nthere are 42 files\r\n$ " : "\r\nunknown command\r\n$ ")
      line = ""
    } else {
      line += key
      terminal.write(key)
    }
  }
})
globalThis.isDone = () => answered
