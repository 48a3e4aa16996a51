// Menus that open by a transition.
import "vuetify/styles"
import { createApp, h } from "vue"
import { createVuetify } from "vuetify"
import { VApp, VBtn, VCard, VDialog, VSelect } from "vuetify/components"

const state = { size: "", ordered: false }
const Page = {
  data: () => ({ size: null, open: false }),
  render() {
    return h(VApp, () => [
      h("h1", "Shirt"),
      h(VSelect, {
        label: "Size",
        items: ["Small", "Medium", "Large"],
        modelValue: this.size,
        "onUpdate:modelValue": (value) => (this.size = state.size = value),
      }),
      h(VBtn, { onClick: () => (this.open = true) }, () => "Order"),
      h(VDialog, { modelValue: this.open, "onUpdate:modelValue": (value) => (this.open = value) }, () =>
        h(VCard, () => [
          h("p", "Order now?"),
          h(VBtn, { onClick: () => ((state.ordered = true), (this.open = false)) }, () => "Confirm"),
        ]),
      ),
    ])
  },
}
createApp(Page).use(createVuetify()).mount("#root")
globalThis.isDone = () => state.size === "Medium" && state.ordered
