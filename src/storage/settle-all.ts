/** Waits for every promise, also after one has failed; then fails as the first that did. */
export async function settleAll(promises: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(promises)
  await Promise.all(promises)
}
