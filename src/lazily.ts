/**
 * What is loaded when it is first asked for; a promise of it until it is there, so that whoever comes later waits for nothing. What cannot
 * be loaded once is not tried again: neither does node with a module.
 */
export function lazily<T>(load: () => Promise<T>): () => T | Promise<T> {
  let loaded: T | Promise<T> | undefined
  return () => (loaded ??= load().then((it) => (loaded = it)))
}
