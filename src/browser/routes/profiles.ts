// The profiles themselves: listed, made, removed, and their data moved away.
import * as requests from "../requests/index.ts"
import { route, type Route } from "./route.ts"

const written = ["config-invalid", "config-write-refused", "conflict"] as const

export const profileRoutes: Route[] = [
  route("GET", "/profiles", {
    summary: "Lists the profiles, and looks which of their browsers can be used",
    reply: "ProfileList",
    run: (caller, _request, core) => core.profiles(caller),
  }),
  route("POST", "/profiles/create", {
    summary: "Makes a profile and writes it into the configuration file",
    request: requests.createProfileRequest,
    reply: "CreatedProfile",
    errors: [...written, "port-range-full", "profile-unsupported"],
    example: { name: "work", color: "#0066CC" },
    run: (_caller, request, core) => core.createProfile(request),
  }),
  route("DELETE", "/profiles/:name", {
    summary:
      "Stops a profile's browser, removes the profile from the configuration file and moves its data to the trash",
    request: requests.deleteProfileRequest,
    reply: "DeletedProfile",
    errors: written,
    run: (_caller, { name }, core) => core.deleteProfile(name),
  }),
  route("POST", "/reset-profile", {
    summary: "Stops a managed profile's browser and moves its data to the trash: the next start is as the first",
    reply: "ResetReply",
    errors: ["profile-unsupported", "conflict"],
    run: (caller, _request, core) => core.resetProfile(caller),
  }),
]
