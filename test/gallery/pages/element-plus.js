// A select and a calendar that open over the page.
import ElementPlus, { ElDatePicker, ElOption, ElSelect } from "element-plus"
import "element-plus/dist/index.css"
import { createApp, h } from "vue"

const state = { room: "", date: "" }
const Page = {
  data: () => ({ room: "", date: "2026-03-10" }),
  render() {
    return h("main", [
      h("h1", "Booking"),
      h(
        ElSelect,
        {
          "aria-label": "Room",
          modelValue: this.room,
          "onUpdate:modelValue": (value) => (this.room = state.room = value),
        },
        () => ["Red room", "Blue room"].map((name) => h(ElOption, { key: name, label: name, value: name })),
      ),
      h(ElDatePicker, {
        ariaLabel: "Day",
        type: "date",
        valueFormat: "YYYY-MM-DD",
        modelValue: this.date,
        "onUpdate:modelValue": (value) => (this.date = state.date = value),
      }),
    ])
  },
}
createApp(Page).use(ElementPlus).mount("#root")
globalThis.isDone = () => state.room === "Blue room" && state.date === "2026-03-17"
