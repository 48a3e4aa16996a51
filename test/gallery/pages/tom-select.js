// Several values in one box.
import TomSelect from "tom-select"
import "tom-select/dist/css/tom-select.css"

const colours = ["Red", "Green", "Blue", "Yellow"]
document.querySelector("#root").innerHTML =
  `<h1>Theme</h1><label for=colours>Colours</label><select id=colours multiple>${colours.map((name) => `<option>${name}</option>`).join("")}</select>`
const select = new TomSelect("#colours", {})
globalThis.isDone = () => select.getValue().toSorted().join() === "Blue,Green"
