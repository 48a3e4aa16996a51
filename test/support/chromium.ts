// How the Chromium of a visitor, or of somebody else, begins, for tests, benchmarks and the demo.

/**
 * Of what playwright-core itself switches off (a later word of the same flag replaces its own), that which matters here;
 * and the address bar's list of proposals, a page of 160 files that Chromium loads anew for every window, seen or not.
 */
const off = `
  HttpsUpgrades HttpsFirstBalancedModeAutoEnable LensOverlay MediaRouter PaintHolding
  AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose ThirdPartyStoragePartitioning
  AvoidCorsURLLoaderRestartOnRedirect OptimizationHints NetworkTimeServiceQuerying AimEnabled
  PreconnectToSearch WebUIOmniboxPopup WebUIOmniboxAimPopup
`

/**
 * For a browser that is nobody's everyday one: what Chromium asks its maker at every start, and the list of proposals as
 * above.
 */
export const quietArguments: readonly string[] = [
  "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

export const visitorArguments: readonly string[] = [
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
  `--disable-features=${off.trim().split(/\s+/).join(",")}`,
]
