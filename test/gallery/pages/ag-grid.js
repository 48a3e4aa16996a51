// A grid whose cells are edited after a double click.
import { AllCommunityModule, ModuleRegistry, createGrid } from "ag-grid-community"

ModuleRegistry.registerModules([AllCommunityModule])
const makes = ["Ford", "Fiat", "Volvo", "Seat", "Skoda", "Opel", "Kia", "Mazda"]
const rowData = Array.from({ length: 80 }, (_, index) => ({
  make: `${makes[index % 8]} ${index}`,
  price: 1000 + index,
}))
document.querySelector("#root").innerHTML = "<h1>Cars</h1><div id=grid style='height:400px'></div>"
createGrid(document.querySelector("#grid"), {
  rowData,
  columnDefs: [{ field: "make" }, { field: "price", editable: true }],
})
globalThis.isDone = () => rowData[2].price === 99 || rowData[2].price === "99"
