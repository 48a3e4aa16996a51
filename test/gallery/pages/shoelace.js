// Web components with open shadow roots.
import "@shoelace-style/shoelace/dist/themes/light.css"
import "@shoelace-style/shoelace/dist/components/select/select.js"
import "@shoelace-style/shoelace/dist/components/option/option.js"
import "@shoelace-style/shoelace/dist/components/switch/switch.js"
import "@shoelace-style/shoelace/dist/components/tab-group/tab-group.js"
import "@shoelace-style/shoelace/dist/components/tab/tab.js"
import "@shoelace-style/shoelace/dist/components/tab-panel/tab-panel.js"

document.querySelector("#root").innerHTML = `<h1>Preferences</h1>
<sl-tab-group><sl-tab slot=nav panel=a>General</sl-tab><sl-tab slot=nav panel=b>Delivery</sl-tab>
<sl-tab-panel name=a>Nothing here</sl-tab-panel>
<sl-tab-panel name=b><sl-select label="Speed"><sl-option value=slow>Slow boat</sl-option><sl-option value=fast>Fast plane</sl-option></sl-select>
<sl-switch>Insured</sl-switch></sl-tab-panel></sl-tab-group>`
const find = (name) => document.querySelector(name)
globalThis.isDone = () => find("sl-select").value === "fast" && find("sl-switch").checked
