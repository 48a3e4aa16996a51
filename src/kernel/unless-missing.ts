// What looks at files that others may take away at any moment.

/** Undefined where there is nothing under the path; any other failure is thrown. */
export async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined
    throw error
  }
}
