// A box with a search field inside its list.
import Choices from "choices.js"
import "choices.js/public/assets/styles/choices.css"

const cities = ["Athens", "Berlin", "Lisbon", "Oslo", "Paris", "Rome", "Vienna"]
document.querySelector("#root").innerHTML =
  `<h1>Branch</h1><label for=city>City</label><select id=city>${cities.map((name) => `<option>${name}</option>`).join("")}</select>`
new Choices("#city")
globalThis.isDone = () => document.querySelector("#city").value === "Paris"
