// A list that is put in order by pointer or keys.
import { DndContext, KeyboardSensor, PointerSensor, closestCenter, useSensor, useSensors } from "@dnd-kit/core"
import {
  SortableContext,
  arrayMove,
  sortableKeyboardCoordinates,
  useSortable,
  verticalListSortingStrategy,
} from "@dnd-kit/sortable"
import { createElement as h, useState } from "react"
import { createRoot } from "react-dom/client"

let order = ""
const Item = ({ id }) => {
  const { attributes, listeners, setNodeRef, transform } = useSortable({ id })
  const style = {
    padding: 10,
    width: 200,
    border: "1px solid",
    transform: transform ? `translateY(${transform.y}px)` : undefined,
  }
  return h("div", { ref: setNodeRef, style, ...attributes, ...listeners }, id)
}
const Page = () => {
  const [items, setItems] = useState(["Stop one", "Stop two", "Stop three"])
  order = items.join()
  const sensors = useSensors(
    useSensor(PointerSensor),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  )
  const onDragEnd = ({ active, over }) => {
    if (over && active.id !== over.id) setItems(arrayMove(items, items.indexOf(active.id), items.indexOf(over.id)))
  }
  const list = items.map((id) => h(Item, { key: id, id }))
  return h(DndContext, { sensors, collisionDetection: closestCenter, onDragEnd }, [
    h("h1", { key: 1 }, "Route"),
    h(SortableContext, { key: 2, items, strategy: verticalListSortingStrategy }, list),
  ])
}
createRoot(document.querySelector("#root")).render(h(Page))
globalThis.isDone = () => order === "Stop two,Stop three,Stop one"
