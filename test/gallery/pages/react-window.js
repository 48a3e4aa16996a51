// A list of a thousand rows, of which only those in view exist.
import { createElement } from "react"
import { createRoot } from "react-dom/client"
import { List } from "react-window"

let opened = ""
const Row = ({ index, style }) =>
  createElement("div", { style }, [
    createElement("span", { key: 1 }, `Invoice ${index + 1} `),
    createElement("button", { key: 2, onClick: () => (opened = `Invoice ${index + 1}`) }, "Open"),
  ])
const list = createElement(List, {
  rowComponent: Row,
  rowCount: 1000,
  rowHeight: 30,
  rowProps: {},
  style: { height: 300 },
})
createRoot(document.querySelector("#root")).render(
  createElement("main", {}, [createElement("h1", { key: 1 }, "Invoices"), createElement("div", { key: 2 }, list)]),
)
globalThis.isDone = () => opened === "Invoice 40"
