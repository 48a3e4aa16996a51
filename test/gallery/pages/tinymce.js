// An editor whose text is the body of a frame.
import tinymce from "tinymce"
import "tinymce/models/dom"
import "tinymce/themes/silver"
import "tinymce/icons/default"
import "tinymce/skins/ui/oxide/skin.js"
import "tinymce/skins/ui/oxide/content.js"
import "tinymce/skins/content/default/content.js"

document.querySelector("#root").innerHTML = "<h1>New post</h1><textarea id=text></textarea><button>Publish</button>"
tinymce.init({ selector: "#text", license_key: "gpl", promotion: false, branding: false })
let published = ""
document.querySelector("#root > button").addEventListener("click", () => {
  published = tinymce.activeEditor.getContent({ format: "text" }).trim()
})
globalThis.isDone = () => published === "Meeting at noon"
