// A grid of plain boxes: no roles tell rows from cells.
import { Editors, SlickGrid } from "slickgrid"
import Sortable from "sortablejs"
import "slickgrid/dist/styles/css/slick.grid.css"

// It looks for this among the globals.
globalThis.Sortable = Sortable
const data = Array.from({ length: 300 }, (_, index) => ({ task: `Task ${index + 1}`, hours: index }))
document.querySelector("#root").innerHTML = "<h1>Hours</h1><div id=grid style='height:300px;width:500px'></div>"
const columns = [
  { id: "task", name: "Task", field: "task", width: 200 },
  { id: "hours", name: "Hours", field: "hours", width: 200, editor: Editors.Text },
]
new SlickGrid("#grid", data, columns, { editable: true, autoEdit: true, enableCellNavigation: true })
globalThis.isDone = () => String(data[3].hours) === "88"
