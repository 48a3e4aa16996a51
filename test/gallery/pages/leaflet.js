// A map with marks that tell what they are when clicked.
import L from "leaflet"
import "leaflet/dist/leaflet.css"

document.querySelector("#root").innerHTML = "<h1>Stations</h1><div id=map style='height:400px'></div>"
const map = L.map("map").setView([50, 10], 6)
const opened = []
for (const [name, at] of Object.entries({ North: [51.5, 10], South: [48.5, 10] })) {
  L.marker(at, { icon: L.divIcon({ className: "pin", html: name, iconSize: [40, 20] }) })
    .addTo(map)
    .bindPopup(`${name} station, platform 4`)
    .on("popupopen", () => opened.push(name))
}
globalThis.isDone = () => map.getZoom() === 7 && opened.join() === "South"
