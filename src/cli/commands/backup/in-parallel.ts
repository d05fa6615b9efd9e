/** Does the work for every item, so many at once, beginning them in order; fails as the first that fails, and begins no more then. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  let hasFailed = false
  const worker = async (): Promise<void> => {
    for (const item of rest) {
      if (hasFailed) return
      try {
        await work(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  const failed = ended.find((it) => it.status === 'rejected')
  if (failed) throw failed.reason
}
