// A list that is put in order by the mouse.
import $ from "./jquery.js"
import "jquery-ui/dist/jquery-ui.js"

const items = ["Alpha", "Beta", "Gamma", "Delta"]
document.querySelector("#root").innerHTML =
  `<h1>Order</h1><ul id=list>${items.map((item) => `<li style="cursor:move;padding:8px;width:200px">${item}</li>`).join("")}</ul>`
$("#list").sortable()
const order = () => [...document.querySelectorAll("#list li")].map((item) => item.textContent).join()
globalThis.isDone = () => order() === "Beta,Gamma,Delta,Alpha"
