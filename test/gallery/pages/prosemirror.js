// An editor that keeps a document of its own beside what the browser shows.
import { exampleSetup } from "prosemirror-example-setup"
import { schema } from "prosemirror-schema-basic"
import { EditorState } from "prosemirror-state"
import { EditorView } from "prosemirror-view"
import "prosemirror-view/style/prosemirror.css"

document.querySelector("#root").innerHTML = "<h1>Draft</h1><div id=editor></div>"
const doc = schema.node("doc", {}, [schema.node("paragraph", {}, [schema.text("First thought")])])
const view = new EditorView(document.querySelector("#editor"), {
  state: EditorState.create({ doc, plugins: exampleSetup({ schema }) }),
})
globalThis.isDone = () => view.state.doc.textContent === "Second thought"
