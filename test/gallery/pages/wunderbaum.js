// A tree whose rows are boxes placed by hand.
import { Wunderbaum } from "wunderbaum"
import "wunderbaum/dist/wunderbaum.css"

document.querySelector("#root").innerHTML = "<h1>Files</h1><div id=tree style='height:300px;width:300px'></div>"
let chosen = ""
new Wunderbaum({
  element: document.querySelector("#tree"),
  source: [
    { title: "Photos", children: [{ title: "beach.png" }, { title: "hill.png" }] },
    { title: "Letters", children: [{ title: "aunt.txt" }] },
  ],
  iconMap: "bootstrap",
  activate: ({ node }) => (chosen = node.title),
})
globalThis.isDone = () => chosen === "hill.png"
