// A spreadsheet made of a table: a cell is opened by a double click.
import jspreadsheet from "jspreadsheet-ce"
import "jspreadsheet-ce/dist/jspreadsheet.css"
import "jsuites/dist/jsuites.css"

document.querySelector("#root").innerHTML = "<h1>Stock</h1><div id=sheet></div>"
const [sheet] = jspreadsheet(document.querySelector("#sheet"), {
  worksheets: [
    {
      data: [
        ["Apples", "10"],
        ["Pears", "20"],
      ],
      columns: [{ title: "Fruit" }, { title: "Count" }],
    },
  ],
})
globalThis.isDone = () => String(sheet.getValueFromCoords(1, 1)) === "25"
