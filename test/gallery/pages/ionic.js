// A page made for telephones: segments, toggles, a sheet of choices.
import { defineCustomElement as app } from "@ionic/core/components/ion-app.js"
import { defineCustomElement as item } from "@ionic/core/components/ion-item.js"
import { defineCustomElement as segment } from "@ionic/core/components/ion-segment.js"
import { defineCustomElement as segmentButton } from "@ionic/core/components/ion-segment-button.js"
import { defineCustomElement as select } from "@ionic/core/components/ion-select.js"
import { defineCustomElement as option } from "@ionic/core/components/ion-select-option.js"
import { defineCustomElement as toggle } from "@ionic/core/components/ion-toggle.js"
import { initialize } from "@ionic/core/components"
import "@ionic/core/css/core.css"

initialize()
for (const define of [app, item, segment, segmentButton, select, option, toggle]) define()
document.querySelector("#root").innerHTML = `<ion-app style="padding:20px"><h1>Order</h1>
<ion-segment value=here><ion-segment-button value=here>Eat here</ion-segment-button><ion-segment-button value=away>Take away</ion-segment-button></ion-segment>
<ion-item><ion-select label="Size" interface="alert" value="s"><ion-select-option value=s>Small</ion-select-option><ion-select-option value=l>Large</ion-select-option></ion-select></ion-item>
<ion-item><ion-toggle>Extra cheese</ion-toggle></ion-item></ion-app>`
const find = (name) => document.querySelector(name)
globalThis.isDone = () =>
  find("ion-segment").value === "away" && find("ion-select").value === "l" && find("ion-toggle").checked
