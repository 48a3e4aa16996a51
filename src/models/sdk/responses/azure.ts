// Addresses of OpenAI's models on Azure: `https://<resource>.openai.azure.com` -> the interface of its version.
import { AppError, trimEnd } from "../../../kernel/index.ts"
import type { ProviderSettings } from "../../view.ts"

/** Throws `model-failed` when the resource is not named. */
export function azureAddress(settings: ProviderSettings, path: string): string {
  const { baseUrl, apiVersion } = settings
  if (baseUrl === undefined) {
    throw new AppError("model-failed", "The provider of kind azure has no address", {
      hint: "Set its baseUrl to https://<resource>.openai.azure.com.",
    })
  }
  const url = new URL(baseUrl)
  url.pathname = `${interfacePath(trimEnd(url.pathname, "/"), apiVersion)}${path}`
  if (apiVersion !== undefined) url.searchParams.set("api-version", apiVersion)
  return url.href
}

/** Versions that are dates are older than the path `v1`. */
function interfacePath(given: string, apiVersion: string | undefined): string {
  if (/\/openai\/v\d+$/.test(given)) return given
  const resource = given.endsWith("/openai") ? given : `${given}/openai`
  return /^\d{4}-/.test(apiVersion ?? "") ? resource : `${resource}/v1`
}
