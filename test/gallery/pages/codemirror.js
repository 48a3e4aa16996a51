// A code editor, whose program is replaced.
import { EditorView, basicSetup } from "codemirror"

document.querySelector("#root").innerHTML = "<h1>Settings</h1><div id=editor></div>"
const doc = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join("\n")
const view = new EditorView({ doc, extensions: [basicSetup], parent: document.querySelector("#editor") })
globalThis.isDone = () => view.state.doc.toString().trim() === "answer = 42"
