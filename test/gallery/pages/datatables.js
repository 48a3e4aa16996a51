// A table with a search field and pages.
import DataTable from "datatables.net"

const rows = Array.from(
  { length: 60 },
  (_, index) => `<tr><td>Town ${index + 1}</td><td>${(index * 37) % 500}</td></tr>`,
)
document.querySelector("#root").innerHTML =
  `<h1>Towns</h1><table id=table><thead><tr><th>Name</th><th>People</th></tr></thead><tbody>${rows.join("")}</tbody></table>`
const table = new DataTable("#table")
let chosen = ""
document.querySelector("#table tbody").addEventListener("click", (event) => {
  chosen = event.target.closest("tr")?.cells[0].textContent ?? ""
})
globalThis.isDone = () => table.page() === 1 && chosen === "Town 20"
