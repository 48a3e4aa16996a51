// A select that is hidden behind a box of its own.
import $ from "./jquery.js"
import select2 from "select2/dist/js/select2.full.js"
import "select2/dist/css/select2.css"

if (typeof select2 === "function") select2(globalThis, $)
const countries = ["Albania", "Belgium", "Chile", "Denmark", "Norway", "Peru", "Zambia"]
document.querySelector("#root").innerHTML =
  `<h1>Address</h1><label for=country>Country</label><select id=country style="width:240px">${countries.map((name) => `<option>${name}</option>`).join("")}</select>`
$("#country").select2()
globalThis.isDone = () => document.querySelector("#country").value === "Norway"
