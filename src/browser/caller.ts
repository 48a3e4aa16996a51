// Who asks something of the browser.

/** Who asks: the profile that the caller named, and when it gives up. */
export interface Caller {
  profile: string | undefined
  signal?: AbortSignal | undefined
  /** Set for a turn that acts on words of others: the key of its session, which has tabs of its own and sees no others. */
  guest?: string | undefined
  /**
   * Set for an address that words of others may have made: the sites that it may lead to. Documents of others are not asked
   * for, however the page sends itself on, until something else is done in the tab or half a minute is over. For files and
   * answers that wait for a page to ask: the sites that may have them.
   */
  staysOn?: StaysOn | undefined
  /** Set for a turn that acts for others, unless an owner has allowed exactly this call. */
  withoutSecrets?: boolean | undefined
}

export interface StaysOn {
  may(url: string): boolean
  /** The same as data, for a browser of another machine. `orNone`: addresses that belong to no site may be too. */
  list(): { sites: readonly string[]; orNone: boolean }
}
