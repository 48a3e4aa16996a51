// Cards that are moved from one list to another.
import Sortable from "sortablejs"

const list = (id, title, items) =>
  `<section><h2>${title}</h2><div id=${id} style="min-height:60px;width:220px;border:1px solid">${items
    .map((item) => `<div class=card style="padding:8px;cursor:grab">${item}</div>`)
    .join("")}</div></section>`
document.querySelector("#root").innerHTML =
  list("todo", "To do", ["Write report", "Call bank"]) + list("done", "Done", ["Pay rent"])
for (const id of ["todo", "done"]) Sortable.create(document.getElementById(id), { group: "cards", animation: 150 })
const texts = (id) => [...document.querySelectorAll(`#${id} .card`)].map((card) => card.textContent)
globalThis.isDone = () => texts("done").includes("Call bank") && texts("todo").join() === "Write report"
