// How the Chromium of a visitor begins, for tests, benchmarks and the demo.

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

export const visitorArguments: readonly string[] = [
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
  `--disable-features=${off.trim().split(/\s+/).join(",")}`,
]
