// An editor that starts with a text, to which something is added.
import Quill from "quill"
import "quill/dist/quill.snow.css"

document.querySelector("#root").innerHTML = "<h1>Notes</h1><div id=editor><p>Buy milk</p></div>"
const quill = new Quill("#editor", { theme: "snow" })
globalThis.isDone = () => quill.getText().trim() === "Buy bread"
