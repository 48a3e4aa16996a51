// An API's page: open an operation, try it with a parameter of one's own.
import SwaggerUI from "swagger-ui-dist/swagger-ui-bundle.js"
import "swagger-ui-dist/swagger-ui.css"

const parameters = [{ name: "id", in: "path", required: true, schema: { type: "integer" } }]
const responses = { 200: { description: "A pet" } }
SwaggerUI({
  domNode: document.querySelector("#root"),
  spec: {
    openapi: "3.0.0",
    info: { title: "Pets", version: "1" },
    servers: [{ url: "/api" }],
    paths: {
      "/pets": { get: { summary: "All pets", responses } },
      "/pets/{id}": { get: { summary: "One pet", parameters, responses } },
    },
  },
})
globalThis.isDone = () => performance.getEntriesByType("resource").some(({ name }) => name.endsWith("/api/pets/7"))
