// Stars over inputs that nobody sees, a list that completes, a slider.
import Autocomplete from "@mui/material/Autocomplete"
import Rating from "@mui/material/Rating"
import Slider from "@mui/material/Slider"
import TextField from "@mui/material/TextField"
import { createElement as h } from "react"
import { createRoot } from "react-dom/client"

const state = { stars: 0, film: "", volume: 30 }
const films = ["Alien", "Brazil", "Casablanca", "Dune", "Fargo"]
const page = h("main", {}, [
  h("h1", { key: 1 }, "Review"),
  h(Autocomplete, {
    key: 2,
    options: films,
    onChange: (_, value) => (state.film = value),
    renderInput: (params) => h(TextField, { ...params, label: "Film" }),
  }),
  h(Rating, { key: 3, name: "stars", onChange: (_, value) => (state.stars = value) }),
  h(Slider, {
    key: 4,
    "aria-label": "Volume",
    defaultValue: 30,
    step: 10,
    onChange: (_, value) => (state.volume = value),
  }),
])
createRoot(document.querySelector("#root")).render(page)
globalThis.isDone = () => state.stars === 4 && state.film === "Dune" && state.volume === 50
