// A table whose deletions are asked about, and a select that draws its own list.
import { Button, Popconfirm, Select, Table } from "antd"
import { createElement as h, useState } from "react"
import { createRoot } from "react-dom/client"

const state = { role: "", names: [] }
const Page = () => {
  const [rows, setRows] = useState(["Anna", "Boris", "Clara"].map((name) => ({ key: name, name })))
  state.names = rows.map((row) => row.name)
  const remove = (name) => setRows(rows.filter((row) => row.name !== name))
  const columns = [
    { title: "Name", dataIndex: "name" },
    {
      title: "Action",
      render: (_, { name }) =>
        h(Popconfirm, { title: "Sure?", onConfirm: () => remove(name) }, h(Button, {}, "Delete")),
    },
  ]
  const options = ["Reader", "Writer", "Owner"].map((value) => ({ value, label: value }))
  return h("main", {}, [
    h("h1", { key: 1 }, "Members"),
    h(Select, {
      key: 2,
      options,
      "aria-label": "Role",
      style: { width: 200 },
      onChange: (value) => (state.role = value),
    }),
    h(Table, { key: 3, columns, dataSource: rows, pagination: false }),
  ])
}
createRoot(document.querySelector("#root")).render(h(Page))
globalThis.isDone = () => state.role === "Writer" && state.names.join() === "Anna,Clara"
