// What `npm test` leaves to its long form, SVC_LONG_TESTS=1: the kind of thing is held there by a cheaper test beside it.
export const isLong = process.env["SVC_LONG_TESTS"] === "1"

/** Options of such a test. */
export const inLongForm = { skip: isLong ? false : "part of the long form (SVC_LONG_TESTS=1)" }
