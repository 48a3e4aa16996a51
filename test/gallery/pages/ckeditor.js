// An editor with a toolbar, which takes only what its own model allows.
import { Bold, ClassicEditor, Essentials, Heading, Paragraph } from "ckeditor5"
import "ckeditor5/ckeditor5.css"

document.querySelector("#root").innerHTML = "<h1>Letter</h1><div id=editor></div><button id=send>Send</button>"
const editor = await ClassicEditor.create(document.querySelector("#editor"), {
  licenseKey: "GPL",
  plugins: [Essentials, Paragraph, Heading, Bold],
  toolbar: ["heading", "bold"],
})
let sent = ""
document.querySelector("#send").addEventListener("click", () => (sent = editor.getData()))
globalThis.isDone = () => sent.includes("Dear aunt")
