import type { ChildServer } from '../../test/support/servers/child-server.ts'

/** What a piece of work answered, and the most resident memory, in bytes, that the server had from its start to its end. */
export interface Watched<T> {
  readonly answer: T
  readonly before: number
  readonly peak: number
}

/** Looks at the server's resident memory every 50 ms while `work` is done. */
export async function watchResident<T>(server: ChildServer, work: () => Promise<T>): Promise<Watched<T>> {
  const before = server.resident()
  let peak = before
  const look = (): void => {
    peak = Math.max(peak, server.resident())
  }
  const timer = setInterval(look, 50)
  try {
    const answer = await work()
    look()
    return { answer, before, peak }
  } finally {
    clearInterval(timer)
  }
}
