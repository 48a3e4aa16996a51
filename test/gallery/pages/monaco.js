// A code editor that takes its input by an element of no width.
import * as monaco from "monaco-editor/editor/editor.api.js"

globalThis.MonacoEnvironment = {
  getWorker: () => new Worker(URL.createObjectURL(new Blob(["onmessage = () => {}"], { type: "text/javascript" }))),
}
document.querySelector("#root").innerHTML = "<h1>Program</h1><div id=editor style='height:300px'></div>"
const editor = monaco.editor.create(document.querySelector("#editor"), { value: "old text", language: "plaintext" })
globalThis.isDone = () => editor.getValue().trim() === "answer = 42"
