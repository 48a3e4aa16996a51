// Access tokens for Google's cloud. The only door of the folder.
export { createGoogleTokens, type GoogleAccess, type GoogleTokens } from "./tokens.ts"
