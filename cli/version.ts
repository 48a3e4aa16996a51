// The version of this program, from the package's own description.
import description from "../package.json" with { type: "json" }

export const version: string = description.version
