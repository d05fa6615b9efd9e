/**
 * Shares a look among all who ask for one: one is under way at a time, and those who come meanwhile share the next, since what that finds
 * is at least as new as their call. Who shares one that rejects is told so.
 */
export function sharedLook(look: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined
  const begin = (): Promise<void> => {
    const begun = look().finally(() => {
      if (current === begun) current = undefined
    })
    return (current = begun)
  }
  return () => {
    if (!current) return begin()
    return (next ??= current
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return begin()
      }))
  }
}
