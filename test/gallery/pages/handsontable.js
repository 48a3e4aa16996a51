// A spreadsheet: a cell is selected, then typed into.
import Handsontable from "handsontable"
import { registerAllModules } from "handsontable/registry"
import "handsontable/styles/handsontable.css"
import "handsontable/styles/ht-theme-main.css"

registerAllModules()
document.querySelector("#root").innerHTML = "<h1>Budget</h1><div id=grid></div>"
const table = new Handsontable(document.querySelector("#grid"), {
  data: [
    ["Rent", 900],
    ["Food", 400],
    ["Travel", 120],
  ],
  colHeaders: ["What", "Amount"],
  rowHeaders: true,
  themeName: "ht-theme-main",
  licenseKey: "non-commercial-and-evaluation",
})
globalThis.isDone = () => String(table.getDataAtCell(1, 1)) === "450"
