// Web components whose fields and boxes are inside closed-looking shells.
import "@material/web/textfield/outlined-text-field.js"
import "@material/web/checkbox/checkbox.js"
import "@material/web/button/filled-button.js"
import "@material/web/select/outlined-select.js"
import "@material/web/select/select-option.js"

document.querySelector("#root").innerHTML = `<h1>Sign up</h1>
<md-outlined-text-field label="Full name"></md-outlined-text-field>
<md-outlined-select label="Plan"><md-select-option value=free><div slot=headline>Free</div></md-select-option>
<md-select-option value=pro><div slot=headline>Pro</div></md-select-option></md-outlined-select>
<label><md-checkbox></md-checkbox> I agree</label><md-filled-button>Create account</md-filled-button>`
let created = ""
const find = (name) => document.querySelector(name)
find("md-filled-button").addEventListener("click", () => {
  created = `${find("md-outlined-text-field").value} ${find("md-outlined-select").value} ${find("md-checkbox").checked}`
})
globalThis.isDone = () => created === "Ada Berg pro true"
