// Names and words of a message, for whoever plans it.
export { authorLabel, forwardLabel, messageText, senderLabel } from "./content/index.ts"
