// A grid that draws only the rows in view, each with a button of its own.
import { TabulatorFull } from "tabulator-tables"
import "tabulator-tables/dist/css/tabulator.min.css"

const data = Array.from({ length: 200 }, (_, index) => ({ id: index + 1, name: `Person ${index + 1}` }))
document.querySelector("#root").innerHTML = "<h1>People</h1><div id=grid></div>"
const deleted = []
new TabulatorFull("#grid", {
  data,
  height: 320,
  columns: [
    { title: "Name", field: "name", width: 200 },
    {
      title: "",
      formatter: () => "<button>Delete</button>",
      cellClick: (_event, cell) => deleted.push(cell.getRow().getData().name),
    },
  ],
})
globalThis.isDone = () => deleted.join() === "Person 7"
